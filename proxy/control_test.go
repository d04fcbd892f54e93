package proxy

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"reprise/proxy/upstream"
	"reprise/store"
)

// clock is a time that a test sets.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func (c *clock) use(o *Options) { o.Now = c.Now }

const similar = "what is the capital of france"

// TestDirectives: what each header does to a request, after the answer to capital was stored 10 seconds ago.
func TestDirectives(t *testing.T) {
	for _, tc := range []struct {
		header string // lines, separated by |
		prompt string
		want   string // X-Cache of this request
		after  string // X-Cache of capital asked plainly afterwards
		entry  string // "new" if the plain request afterwards is answered by another entry than the first
	}{
		{"", capital, "exact", "exact", ""},
		{"Cache-Control: no-cache", capital, "miss", "exact", "new"},
		{"Cache-Control: no-cache|Accept: text/event-stream", capital, "exact", "exact", ""}, // sent by go-openai with every stream
		{"Cache-Control: no-cache, no-store|Accept: text/event-stream", capital, "bypass", "exact", ""},
		{"Cache-Control: max-age=0|Accept: text/event-stream", capital, "miss", "exact", "new"},
		{"X-Cache-Control: no-cache|Accept: text/event-stream", capital, "miss", "exact", "new"},
		{"Cache-Control: no-store", capital, "exact", "exact", ""},
		{"Cache-Control: no-store", "Something else entirely", "miss", "exact", ""},
		{"Cache-Control: no-cache, no-store", capital, "bypass", "exact", ""},
		{"Cache-Control: max-age=5", capital, "miss", "exact", "new"},
		{"Cache-Control: max-age=15", capital, "exact", "exact", ""},
		{"Cache-Control: max-age=5", similar, "miss", "exact", ""},
		{"Cache-Control: max-age=nonsense", capital, "exact", "exact", ""},
		{"Cache-Control: only-if-cached", capital, "exact", "exact", ""},
		{"Cache-Control: only-if-cached", similar, "semantic", "exact", ""},
		{"Cache-Control: only-if-cached", "Something else entirely", "error", "exact", ""},
		{"X-Reprise-Mode: exact", similar, "miss", "exact", ""},
		{"X-Reprise-Mode: semantic", similar, "semantic", "exact", ""},
		{"X-Reprise-Mode: off", capital, "bypass", "exact", ""},
		{"X-Reprise-Threshold: 0.01", "Something else entirely", "miss", "exact", ""},
		{"X-Reprise-Namespace: mine", capital, "miss", "exact", ""},
		{"x-bf-cache-key: mine", capital, "miss", "exact", ""},
		{"Helicone-Cache-Seed: 1|cf-aig-cache-key: 2", capital, "miss", "exact", ""},
		{"x-bf-cache-type: direct", similar, "miss", "exact", ""},
		{"x-bf-cache-no-store: true", "Something else entirely", "miss", "exact", ""},
		{"cf-aig-skip-cache: true", capital, "miss", "exact", "new"},
		{"x-portkey-cache-force-refresh: true", capital, "miss", "exact", "new"},
		{"Helicone-Cache-Enabled: false", capital, "bypass", "exact", ""},
		{"Helicone-Cache-Enabled: true", capital, "exact", "exact", ""},
		{"X-OpenRouter-Cache: false", capital, "bypass", "exact", ""},
		{"X-Cache-Control: no-store", capital, "exact", "exact", ""},
		{"x-vsr-cache-control: bypass", capital, "miss", "exact", "new"},
		{"x-bf-cache-ttl: nonsense|x-bf-cache-threshold: 7", capital, "exact", "exact", ""},
	} {
		t.Run(tc.header+"/"+tc.prompt, func(t *testing.T) {
			c := newClock()
			r := newRig(t, c.use)
			first := entryOf(t, r.ask(t, "/v1/chat/completions", chat(capital)))
			c.add(10 * time.Second)
			got := r.ask(t, "/v1/chat/completions", chat(tc.prompt), nonEmpty(strings.Split(tc.header, "|"))...)
			if got.cache() != tc.want {
				t.Errorf("X-Cache %q, want %q (%s)", got.cache(), tc.want, got.header.Get("Cache-Status"))
			}
			after := r.ask(t, "/v1/chat/completions", chat(capital))
			if after.cache() != tc.after {
				t.Errorf("afterwards X-Cache %q, want %q", after.cache(), tc.after)
			}
			if entryOf(t, after) != first { // a new answer takes the place of the old one
				t.Errorf("afterwards entry %d, want %d", entryOf(t, after), first)
			}
			if renewed := after.header.Get("Age") == "0"; renewed != (tc.entry == "new") {
				t.Errorf("afterwards a new answer: %v", renewed)
			}
		})
	}
}

func nonEmpty(lines []string) (out []string) {
	for _, l := range lines {
		if l != "" {
			out = append(out, l)
		}
	}
	return out
}

// TestThresholdIsOnlyRaised: below the operator's it has no effect, above it a hit becomes a miss, an alias included.
func TestThresholdIsOnlyRaised(t *testing.T) {
	r := newRig(t, func(o *Options) { o.Thresholds.Hit, o.Thresholds.Route = 0.6, 0.4 })
	stored, near := "What are some benefits of a garden?", "What are some of the benefits of a garden?"
	r.ask(t, "/v1/chat/completions", chat(stored))
	if got := r.ask(t, "/v1/chat/completions", chat(near), "X-Reprise-Threshold: 0.9999"); got.cache() != "miss" {
		t.Fatalf("raised: %s", got.cache())
	}
	r = newRig(t, func(o *Options) { o.Thresholds.Hit, o.Thresholds.Route = 0.6, 0.4 })
	r.ask(t, "/v1/chat/completions", chat(stored))
	for _, tc := range []struct{ header, want string }{
		{"X-Reprise-Threshold: 0.1", "semantic"}, {"User-Agent: none", "semantic"}, // the second time makes the alias
		{"User-Agent: none", "exact"}, {"X-Reprise-Threshold: 0.9999", "miss"},
	} {
		if got := r.ask(t, "/v1/chat/completions", chat(near), tc.header); got.cache() != tc.want {
			t.Errorf("%s: %s, want %s (%s)", tc.header, got.cache(), tc.want, got.header.Get("Cache-Status"))
		}
	}
}

// TestAskOnlyNarrows: what a client names is all that may differ from what its own requests find, whatever others have found, and theirs do not depend
// on it.
func TestAskOnlyNarrows(t *testing.T) {
	r := newRig(t)
	for _, tc := range []struct{ prompt, header, want, detail string }{
		{edited, "", "miss", ""},
		{edited, "X-Reprise-Ask: garden(?P<ask>.*)", "exact", ""},
		{editedToo, "", "semantic", ""}, {editedToo, "", "semantic", ""}, // the second time makes the alias
		{editedToo, "", "exact", "alias"},
		{editedToo, "X-Reprise-Ask: (?P<ask>.*)garden", "exact", "alias"},
		{editedToo, "X-Reprise-Ask: garden(?P<ask>.*)", "miss", ""},
		{"what are some of the benefits of a garden?", "X-Reprise-Ask: (?P<ask>park)", "miss", "ask=none"},
	} {
		got := r.ask(t, "/v1/chat/completions", chat(tc.prompt), nonEmpty([]string{tc.header})...)
		if got.cache() != tc.want || !strings.Contains(status(got), tc.detail) {
			t.Errorf("%q, %s: %s, %s; want %s", tc.prompt, tc.header, got.cache(), status(got), tc.want)
		}
	}
}

// TestTTL: the TTL counts from the write; a client can shorten it and not extend it, and a use does not renew it.
func TestTTL(t *testing.T) {
	for _, tc := range []struct {
		header string
		life   time.Duration
	}{
		{"User-Agent: none", time.Hour}, {"X-Reprise-TTL: 60", time.Minute}, {"X-Reprise-TTL: 90s", 90 * time.Second}, {"X-Reprise-TTL: 48h", time.Hour},
		{"x-bf-cache-ttl: 60s", time.Minute}, {"cf-aig-cache-ttl: 60", time.Minute}, {"X-Cache-TTL: 999999999999", time.Hour},
	} {
		c := newClock()
		r := newRig(t, c.use, func(o *Options) { o.TTL = time.Hour })
		r.ask(t, "/v1/chat/completions", chat(capital), tc.header)
		c.add(tc.life - time.Second)
		if got := r.ask(t, "/v1/chat/completions", chat(capital)); got.cache() != "exact" || !strings.Contains(got.header.Get("Cache-Status"), "ttl=1") {
			t.Errorf("%s: a second before its end: %s", tc.header, got.header.Get("Cache-Status"))
		}
		c.add(time.Second)
		if got := r.ask(t, "/v1/chat/completions", chat(similar)); got.cache() != "miss" {
			t.Errorf("%s: at its end, in other words: %s", tc.header, got.header.Get("Cache-Status"))
		}
		if got := r.ask(t, "/v1/chat/completions", chat(capital), "X-Reprise-Mode: exact"); got.cache() != "miss" {
			t.Errorf("%s: at its end: %s", tc.header, got.header.Get("Cache-Status"))
		}
	}
}

// TestStaleIfError: an expired answer replaces that of an upstream that fails, is marked as stale, and is served no longer
// than its grace lasts.
func TestStaleIfError(t *testing.T) {
	for _, fault := range []string{"status=503", "status=500", "cut"} {
		var broken atomic.Bool
		c := newClock()
		r := newRigAt(t, nil, http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
			switch {
			case !broken.Load():
				instantUpstream(w, q)
			case fault == "cut":
				panic(http.ErrAbortHandler)
			default:
				w.WriteHeader(map[string]int{"status=503": 503, "status=500": 500}[fault])
			}
		}), c.use, func(o *Options) { o.TTL, o.StaleIfError = time.Hour, time.Hour })
		r.ask(t, "/v1/chat/completions", chat(capital))
		c.add(90 * time.Minute)
		broken.Store(true)
		got := r.ask(t, "/v1/chat/completions", chat(capital))
		if got.status != 200 || got.cache() != "stale" || !strings.Contains(got.header.Get("Cache-Status"), `ttl=-1800; detail="stale-if-error"`) {
			t.Errorf("%s: %d %s", fault, got.status, got.header.Get("Cache-Status"))
		}
		if got := r.ask(t, "/v1/chat/completions", chat(capital), "Cache-Control: no-cache"); got.status < 500 {
			t.Errorf("%s with no-cache: %d %s", fault, got.status, got.cache())
		}
		c.add(time.Hour)
		if got := r.ask(t, "/v1/chat/completions", chat(capital)); got.status < 500 || got.cache() == "stale" {
			t.Errorf("%s after its grace: %d %s", fault, got.status, got.cache())
		}
		broken.Store(false)
		if got := r.ask(t, "/v1/chat/completions", chat(capital)); got.cache() != "miss" {
			t.Errorf("%s, upstream back: %s", fault, got.cache())
		}
	}
}

// TestStaleIsMarkedForFollowers: an expired answer is marked as stale for all waiters of its flight.
func TestStaleIsMarkedForFollowers(t *testing.T) {
	c, up := newClock(), newStage()
	r := newRigAt(t, nil, up, c.use, func(o *Options) { o.TTL, o.StaleIfError = time.Hour, time.Hour })
	up.script <- answers
	r.ask(t, "/v1/chat/completions", chat(capital))
	c.add(90 * time.Minute)
	replies := make(chan reply, 2)
	for range 2 {
		go func() { got, _ := r.try("/v1/chat/completions", chat(capital)); replies <- got }()
	}
	r.waiters(t, 2)
	up.script <- func(w http.ResponseWriter) { w.WriteHeader(http.StatusServiceUnavailable) }
	for range 2 {
		if got := within(t, replies, "an answer"); got.status != 200 || got.cache() != "stale" || got.header.Get("Age") != "5400" {
			t.Errorf("%d %s", got.status, got.header)
		}
	}
}

// TestTooManyRequestsIsPassedOn: a 429 reaches the client, with its Retry-After; no stale answer replaces it.
func TestTooManyRequestsIsPassedOn(t *testing.T) {
	r := newRig(t)
	got := r.ask(t, "/v1/chat/completions", chat(capital), "X-Sim-Fault: status=429, retry-after=7")
	if got.status != 429 || got.header.Get("Retry-After") != "7" || !strings.Contains(got.header.Get("Cache-Status"), "not-stored=status") {
		t.Errorf("%d %v", got.status, got.header)
	}
	if got := r.ask(t, "/v1/chat/completions", chat(capital)); got.cache() != "miss" {
		t.Errorf("afterwards: %s", got.cache())
	}
}

// TestTenantsNeverMeet: exact answers, paraphrases, topics and flights are never shared between tenants.
func TestTenantsNeverMeet(t *testing.T) {
	mine, other := "Authorization: Bearer sk-mine", "Authorization: Bearer sk-other"
	t.Run("entries and topics", func(t *testing.T) {
		r := newRig(t)
		r.ask(t, "/v1/chat/completions", chat(capital), mine)
		for _, prompt := range []string{capital, similar} {
			for _, who := range []string{other, "Authorization: bearer sk-mine", "Authorization: Bearer sk-mine2", "Api-Key: x", "X-Api-Key: Bearer sk-mine"} {
				if got := r.ask(t, "/v1/chat/completions", chat(prompt), who); got.cache() != "miss" {
					t.Errorf("%q as %q: %s", prompt, who, got.cache())
				}
				tenant := r.ids.tenant(headerOf(who))
				r.Purge(t.Context(), store.Filter{Tenant: tenant})
			}
		}
		for _, topic := range r.topics.List(0, 100) {
			if topic.Size != 1 {
				t.Errorf("topic %d holds %d entries of one tenant each", topic.ID, topic.Size)
			}
		}
	})
	t.Run("flights", func(t *testing.T) {
		up := newStage()
		r := newRigAt(t, nil, up)
		done := make(chan reply, 2)
		for i, who := range []string{mine, other} {
			go func() { got, _ := r.try("/v1/chat/completions", chat(capital), who); done <- got }()
			within(t, up.arrived, fmt.Sprint("upstream call ", i))
		}
		for range 2 {
			up.script <- answers
		}
		for range 2 {
			if got := within(t, done, "an answer"); got.cache() != "miss" {
				t.Errorf("X-Cache %s", got.cache())
			}
		}
	})
	t.Run("from a header", func(t *testing.T) {
		r := newRig(t, func(o *Options) { o.TenantFrom = "header:X-Team" })
		r.ask(t, "/v1/chat/completions", chat(capital), "X-Team: red", mine)
		if got := r.ask(t, "/v1/chat/completions", chat(capital), "X-Team: red", other); got.cache() != "exact" {
			t.Errorf("same team: %s", got.cache())
		}
		if got := r.ask(t, "/v1/chat/completions", chat(capital), "X-Team: blue", mine); got.cache() != "miss" {
			t.Errorf("another team: %s", got.cache())
		}
	})
	t.Run("one team, two keys", func(t *testing.T) {
		up := newStage()
		r := newRigAt(t, nil, up, func(o *Options) { o.TenantFrom = "header:X-Team" })
		bad, good := make(chan reply, 1), make(chan reply, 1)
		go func() { got, _ := r.try("/v1/chat/completions", chat(capital), "X-Team: red", other); bad <- got }()
		within(t, up.arrived, "the leader's call")
		go func() { got, _ := r.try("/v1/chat/completions", chat(capital), "X-Team: red", mine); good <- got }()
		r.waiters(t, 2)
		up.script <- func(w http.ResponseWriter) { w.WriteHeader(http.StatusUnauthorized) }
		if got := within(t, bad, "the leader's answer"); got.status != http.StatusUnauthorized {
			t.Errorf("leader: %d", got.status)
		}
		if q := within(t, up.arrived, "the follower's own call"); q.Header.Get("Authorization") != "Bearer sk-mine" {
			t.Errorf("asked as %s", q.Header.Get("Authorization"))
		}
		up.script <- answers
		if got := within(t, good, "the follower's answer"); got.status != 200 || got.cache() != "miss" {
			t.Errorf("follower: %d %s", got.status, got.cache())
		}
	})
	for name, bad := range map[string]struct{ contentType, body string }{
		"object": {"application/json", `{"error":{"message":"quota","type":"insufficient_quota"}}`},
		"stream": {"text/event-stream", "data: {\"error\":{\"message\":\"quota\",\"type\":\"insufficient_quota\"}}\n\n"},
	} {
		t.Run("one team, an error under 200, "+name, func(t *testing.T) {
			up := newStage()
			r := newRigAt(t, nil, up, func(o *Options) { o.TenantFrom = "header:X-Team" })
			body := chat(capital, `"stream":`+strconv.FormatBool(name == "stream"))
			first, second := make(chan reply, 1), make(chan reply, 1)
			go func() { got, _ := r.try("/v1/chat/completions", body, "X-Team: red", other); first <- got }()
			within(t, up.arrived, "the leader's call")
			go func() { got, _ := r.try("/v1/chat/completions", body, "X-Team: red", mine); second <- got }()
			r.waiters(t, 2)
			up.script <- func(w http.ResponseWriter) {
				w.Header().Set("Content-Type", bad.contentType)
				w.Write([]byte(bad.body))
			}
			if q := within(t, up.arrived, "the follower's own call"); q.Header.Get("Authorization") != "Bearer sk-mine" {
				t.Errorf("asked as %s", q.Header.Get("Authorization"))
			}
			up.script <- answers
			if got := within(t, first, "the leader's answer"); !strings.Contains(got.body, "quota") {
				t.Errorf("leader: %s", got.body)
			}
			if got := within(t, second, "the follower's answer"); strings.Contains(got.body, "quota") {
				t.Errorf("follower: %s", got.body)
			}
		})
	}
	t.Run("none", func(t *testing.T) {
		r := newRig(t, func(o *Options) { o.TenantFrom = "none" })
		r.ask(t, "/v1/chat/completions", chat(capital), mine)
		if got := r.ask(t, "/v1/chat/completions", chat(capital), other); got.cache() != "exact" {
			t.Errorf("one cache for all: %s", got.cache())
		}
	})
}

func headerOf(line string) http.Header {
	h := http.Header{"Authorization": {"Bearer sk-test"}}
	name, value, _ := strings.Cut(line, ": ")
	h.Set(name, value)
	return h
}

// TestOptionsValidate: errors name what is wrong and what is allowed.
func TestOptionsValidate(t *testing.T) {
	r := newRig(t)
	for want, spoil := range map[string]func(*Options){
		`mode "loud" is not one of semantic, exact, shadow, off`:                                         func(o *Options) { o.Mode = "loud" },
		`mode "semantic" needs an embedder`:                                                              func(o *Options) { o.Embedder = nil },
		`an upstream URL is required`:                                                                    func(o *Options) { o.Upstreams = nil },
		`upstream "ftp://x" is not a base URL such as https://api.openai.com/v1`:                         func(o *Options) { o.Upstreams = []upstream.Target{{Base: &url.URL{Scheme: "ftp", Host: "x"}}} },
		`tenant source "header:" is not one of authorization, header:NAME, none`:                         func(o *Options) { o.TenantFrom = "header:" },
		`TTL -1s and stale-if-error 0s must not be negative`:                                             func(o *Options) { o.TTL = -time.Second },
		`client keys need an upstream key: without one, the credential of a client goes to the upstream`: func(o *Options) { o.Access.ClientKeys = []string{"client-key-1"} },
		`a store and topics are required`:                                                                func(o *Options) { o.Store = nil },
	} {
		o := r.opts
		spoil(&o)
		if err := o.Validate(); err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	if err := r.opts.Validate(); err != nil {
		t.Error(err)
	}
}

// TestStaleStaysWithinBounds: an expired answer is served no longer than its grace lasts and no older than the client allows,
// even if the upstream takes long to fail.
func TestStaleStaysWithinBounds(t *testing.T) {
	for _, tc := range []struct {
		name, header  string
		before, while time.Duration
		want          string
	}{
		{"in its grace", "User-Agent: none", 90 * time.Minute, 0, "stale"},
		{"older than max-age", "Cache-Control: max-age=60", 90 * time.Minute, 0, "miss"},
		{"just young enough", "Cache-Control: max-age=7200", 90 * time.Minute, 0, "stale"},
		{"too old by the end", "User-Agent: none", 90 * time.Minute, time.Hour, "miss"},
		{"too old for the client by the end", "Cache-Control: max-age=6000", 90 * time.Minute, 20 * time.Minute, "miss"},
	} {
		c, up := newClock(), newStage()
		r := newRigAt(t, nil, up, c.use, func(o *Options) { o.TTL, o.StaleIfError = time.Hour, time.Hour })
		up.script <- answers
		r.ask(t, "/v1/chat/completions", chat(capital))
		c.add(tc.before)
		up.script <- func(w http.ResponseWriter) { c.add(tc.while); w.WriteHeader(http.StatusServiceUnavailable) }
		if got := r.ask(t, "/v1/chat/completions", chat(capital), tc.header); got.cache() != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, got.cache(), tc.want)
		}
	}
}
