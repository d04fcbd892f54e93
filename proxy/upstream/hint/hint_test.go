package hint

import (
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"reprise/proxy/upstream/dialect"
	"reprise/proxy/upstream/prefix"
)

var start = time.Unix(1_800_000_000, 0)

func testKeys(o Options) *Keys {
	if o.Secret == nil {
		o.Secret = []byte("secret")
	}
	o.Affinity, o.Salt = true, true
	return New(o)
}

// chainOf is the chain of a system prompt and messages.
func chainOf(system string, messages ...string) *prefix.Chain {
	c := &prefix.Chain{}
	c.Begin(1)
	c.Add(prefix.System, []byte(system))
	for _, m := range messages {
		c.Add(prefix.Message, []byte(m))
	}
	return c
}

var form = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// TestIntent: what makes two requests share a name, and what makes them differ.
func TestIntent(t *testing.T) {
	turns := chainOf("s", "a", "b")
	base := Request{Tenant: "t", Model: "m", Chain: chainOf("s", "a")}
	with := func(change func(*Request)) Request {
		r := base
		change(&r)
		return r
	}
	header := func(name, value string) func(*Request) {
		return func(r *Request) { r.Header = http.Header{name: {value}} }
	}
	for _, tc := range []struct {
		name   string
		other  Request
		o      Options
		shares string // the members that are equal: a of Affinity, c of Conversation, s of Salt
	}{
		{"the same", base, Options{}, "acs"},
		{"a further turn", with(func(r *Request) { r.Chain = turns }), Options{}, "acs"},
		{"another conversation", with(func(r *Request) { r.Chain = chainOf("s", "b") }), Options{}, "as"},
		{"another application", with(func(r *Request) { r.Chain = chainOf("t", "a") }), Options{}, "s"},
		{"another tenant", with(func(r *Request) { r.Tenant = "u" }), Options{}, ""},
		{"another model", with(func(r *Request) { r.Model = "n" }), Options{}, "s"},
		{"letters moved from the tenant to the model", with(func(r *Request) { r.Tenant, r.Model = "", "tm" }), Options{}, ""},
		{"a session", with(header("X-Session-Id", "1")), Options{}, "as"},
		{"an empty session", with(header("X-Session-Id", "")), Options{}, "acs"},
		{"a cache key", with(func(r *Request) { r.Body = []byte(`{"prompt_cache_key":"1"}`) }), Options{}, "as"},
		{"no chain", with(func(r *Request) { r.Chain = nil }), Options{}, "s"},
		{"another secret", base, Options{Secret: []byte("other")}, ""},
	} {
		a, b := testKeys(Options{}).Intent(base, start), testKeys(tc.o).Intent(tc.other, start)
		got := ""
		for i, pair := range [][2]string{{a.Affinity, b.Affinity}, {a.Conversation, b.Conversation}, {a.Salt, b.Salt}} {
			if pair[0] == pair[1] {
				got += "acs"[i : i+1]
			}
			if pair[1] != "" && !form.MatchString(pair[1]) {
				t.Errorf("%s: %q has the wrong form", tc.name, pair[1])
			}
		}
		if got != tc.shares {
			t.Errorf("%s shares %q, want %q: %+v, %+v", tc.name, got, tc.shares, a, b)
		}
	}
	if got := New(Options{Secret: []byte("s")}).Intent(base, start); got != (dialect.Intent{}) {
		t.Errorf("without a wish: %+v", got)
	}
}

// TestSessionsAgree: a conversation has one name whichever turn it is at, and sessions of two tenants with one id differ.
func TestSessionsAgree(t *testing.T) {
	k := testKeys(Options{})
	for _, name := range sessionHeaders {
		r := Request{Tenant: "t", Model: "m", Header: http.Header{name: {"id"}}, Chain: chainOf("s", "a")}
		one := k.Intent(r, start)
		r.Chain = chainOf("s", "shortened")
		two := k.Intent(r, start)
		r.Tenant = "u"
		if three := k.Intent(r, start); one != two || three.Conversation == one.Conversation || strings.Contains(one.Conversation, "id") && one.Conversation == "id" {
			t.Errorf("%s: %+v, %+v, %+v", name, one, two, three)
		}
		if http.CanonicalHeaderKey(name) != name {
			t.Errorf("%s is not in the form of net/http", name)
		}
	}
}

// TestSetGeneration: a purge changes every name, and a second proxy that has the same generation computes the same ones.
func TestSetGeneration(t *testing.T) {
	k, other := testKeys(Options{}), testKeys(Options{})
	other.SetGeneration(7)
	r := Request{Tenant: "t", Model: "m", Chain: chainOf("s", "a")}
	before := k.Intent(r, start)
	k.SetGeneration(7)
	after := k.Intent(r, start)
	if before.Affinity == after.Affinity || before.Conversation == after.Conversation || before.Salt == after.Salt {
		t.Errorf("%+v stayed in part: %+v", before, after)
	}
	if got := other.Intent(r, start); got != after || k.Generation() != 7 {
		t.Errorf("generation %d: %+v, want %+v", k.Generation(), got, after)
	}
}

// TestShardsStayUnderTheLimit sends a Poisson stream of single questions at several rates: no key gets more than the 15 requests a minute
// that one machine serves, in the mean over ten minutes, and there are not many more keys than needed.
func TestShardsStayUnderTheLimit(t *testing.T) {
	for _, rpm := range []float64{1, 10, 40, 200, 1000} {
		rng := rand.New(rand.NewPCG(1, uint64(rpm)))
		k, now, end := testKeys(Options{}), start, start.Add(20*time.Minute)
		warm := start.Add(10 * time.Minute)
		count := map[string]int{}
		for i := 0; now.Before(end); i++ {
			got := k.Intent(Request{Tenant: "t", Model: "m", Chain: chainOf("s", fmt.Sprint(i))}, now)
			if now.After(warm) {
				count[got.Affinity]++
			}
			now = now.Add(time.Duration(rng.ExpFloat64() / rpm * float64(time.Minute)))
		}
		for key, n := range count {
			if perMinute := float64(n) / 10; perMinute > 15 {
				t.Errorf("at %g requests a minute the key %s gets %g", rpm, key, perMinute)
			}
		}
		if most := 2*int(math.Ceil(rpm/perShard)) + 1; len(count) > most {
			t.Errorf("%d keys at %g requests a minute, want at most %d", len(count), rpm, most)
		}
	}
}

// TestConversationsStay: at a steady rate at which the number of shards could change with every request, nearly every turn of a
// conversation has the key of the turn before.
func TestConversationsStay(t *testing.T) {
	const conversations, rpm = 100, 60.0
	rng := rand.New(rand.NewPCG(3, 4))
	k, now := testKeys(Options{}), start
	last, moved, turns := map[int]string{}, 0, 0
	for now.Before(start.Add(2 * time.Hour)) {
		c := rng.IntN(conversations)
		got := k.Intent(Request{Tenant: "t", Model: "m", Chain: chainOf("s", fmt.Sprint(c))}, now).Affinity
		if now.After(start.Add(10 * time.Minute)) {
			turns++
			if last[c] != got && last[c] != "" {
				moved++
			}
		}
		last[c] = got
		now = now.Add(time.Duration(rng.ExpFloat64() / rpm * float64(time.Minute)))
	}
	if share := float64(moved) / float64(turns); share > 0.01 {
		t.Errorf("%d of %d turns changed their key", moved, turns)
	}
}

// TestManyScaffolds: the memory is bounded, and a flood of scaffolds that come once takes no shard from one that is frequent.
func TestManyScaffolds(t *testing.T) {
	var r rates
	now := start
	for i := range 20 * rateSets * rateWays {
		now = now.Add(10 * time.Millisecond)
		r.shards(rand.New(rand.NewPCG(uint64(i), 1)).Uint64(), now)
		if i%100 == 0 {
			r.shards(5, now) // 60 a minute
		}
	}
	if got := r.shards(5, now); got < 5 || got > 9 {
		t.Errorf("%d shards at 60 requests a minute", got)
	}
}

// TestRateEnds: shards are given back when the requests stop, and a clock that runs backwards changes nothing.
func TestRateEnds(t *testing.T) {
	var r rates
	for i := range 600 {
		r.shards(1, start.Add(time.Duration(i)*time.Second/5))
	}
	many := r.shards(1, start)
	if few := r.shards(1, start.Add(time.Hour)); many < 10 || few != 1 {
		t.Errorf("%d shards, and %d an hour later", many, few)
	}
}

// TestJump: keys are spread evenly, and a further bucket takes its share only.
func TestJump(t *testing.T) {
	const keys, buckets = 20_000, 10
	rng := rand.New(rand.NewPCG(1, 2))
	var in [buckets]int
	moved := 0
	for range keys {
		key := rng.Uint64()
		at := jump(key, buckets)
		in[at]++
		if further := jump(key, buckets+1); further != at {
			moved++
			if further != buckets {
				t.Fatalf("a key went from %d to %d", at, further)
			}
		}
	}
	for i, n := range in {
		if math.Abs(float64(n)-keys/buckets) > keys/buckets/5 {
			t.Errorf("bucket %d has %d keys", i, n)
		}
	}
	if math.Abs(float64(moved)-keys/(buckets+1)) > keys/buckets/5 {
		t.Errorf("%d of %d keys moved", moved, keys)
	}
}

func BenchmarkIntent(b *testing.B) {
	k := testKeys(Options{})
	r := Request{Tenant: "t", Model: "m", Header: http.Header{"User-Agent": {"x"}}, Body: []byte(strings.Repeat("x", 32<<10)), Chain: chainOf("s", "a")}
	b.ReportAllocs()
	for b.Loop() {
		k.Intent(r, start)
	}
}
