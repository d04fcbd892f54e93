package proxy

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"reprise/store"
)

// embedder is an upstream whose vectors follow from each input alone, and whose tokens are its bytes, or the tokens that were sent.
type embedder struct {
	mu     sync.Mutex    // protects bodies
	bodies []string      // of the calls
	model  string        // in answers; "": that of the request
	status int           // of answers that are errors; 0: none is
	hold   chan struct{} // nil: answers come at once
	change func(*string) // the answer before it is sent
}

func (u *embedder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	u.mu.Lock()
	u.bodies = append(u.bodies, string(body))
	u.mu.Unlock()
	if u.hold != nil {
		<-u.hold
	}
	w.Header().Set("Content-Type", "application/json")
	if u.status != 0 {
		w.WriteHeader(u.status)
		fmt.Fprintf(w, `{"error":{"message":"about %d inputs","type":"x"}}`, len(inputsOf(string(body))))
		return
	}
	answer := u.answer(string(body), u.model)
	if u.change != nil {
		u.change(&answer)
	}
	io.WriteString(w, answer)
}

// inputsOf are the inputs of a request as they were sent.
func inputsOf(body string) (all []string) {
	input := gjson.Get(body, "input")
	if !input.IsArray() || input.Get("0").Type == gjson.Number {
		return []string{input.Raw}
	}
	for _, e := range input.Array() {
		all = append(all, e.Raw)
	}
	return all
}

// answer is the answer to a body.
func (u *embedder) answer(body, model string) string {
	if model == "" {
		model = gjson.Get(body, "model").Str
	}
	data, tokens := []string{}, 0
	for i, in := range inputsOf(body) {
		if in[0] == '"' {
			in = strconv.Quote(gjson.Parse(in).Str)
		}
		h := fnv.New64a()
		h.Write([]byte(in + gjson.Get(body, "dimensions").Raw))
		x := h.Sum64()
		raw := binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(x%1000)+1))
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(float32(x>>20%1000)/8))
		vector := fmt.Sprintf("[%v, %v]", math.Float32frombits(binary.LittleEndian.Uint32(raw)), math.Float32frombits(binary.LittleEndian.Uint32(raw[4:])))
		if gjson.Get(body, "encoding_format").Str == "base64" {
			vector = `"` + base64.StdEncoding.EncodeToString(raw) + `"`
		}
		data = append(data, fmt.Sprintf("{\n \"object\": \"embedding\",\"index\": %d,\"embedding\": %s}", i, vector))
		if tokens += len(in); in[0] == '[' {
			tokens += strings.Count(in, ",") + 1 - len(in)
		}
	}
	return fmt.Sprintf("{\"object\": \"list\",\n\"data\": [%s],\"model\": %q, \"usage\": {\"prompt_tokens\": %d, \"total_tokens\": %d}}\n", strings.Join(data, ", "), model, tokens, tokens)
}

// asked returns the inputs of the calls since the last time, each call between bars.
func (u *embedder) asked() string {
	u.mu.Lock()
	defer u.mu.Unlock()
	var all []string
	for _, body := range u.bodies {
		all = append(all, strings.Join(inputsOf(body), ","))
	}
	u.bodies = nil
	return strings.Join(all, "|")
}

const embedPath = "/v1/embeddings"

// equalJSON reports whether two documents have the same members and values.
func equalJSON(a, b string) bool {
	var x, y any
	return json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && reflect.DeepEqual(x, y)
}

// TestItems: of a list, what is known comes from the cache and the rest from the upstream, whichever lists it was in before.
func TestItems(t *testing.T) {
	file := filepath.Join(t.TempDir(), "reprise.db")
	u := &embedder{}
	begin := func() *rig { return newRigAt(t, nil, u, func(o *Options) { o.Store = fileStore(t, file, 100) }) }
	r := begin()
	list := func(in string) string { return `{"model":"m","input":` + in + `}` }
	for i, step := range []struct {
		body, header string
		asked, cache string
		detail       string // of Cache-Status
	}{
		{list(`["a","b","c"]`), "", `"a","b","c"`, "miss", "fwd=uri-miss; stored"},
		{list(`["a","b","c"]`), "", ``, "exact", "hit"},
		{list(`["c"]`), "", ``, "exact", "hit"},
		{list(`"b"`), "", ``, "exact", "hit"},
		{list(`["c","a","c"]`), "", ``, "exact", "hit"},
		{list(`["d","a","e","b"]`), "", `"d","e"`, "miss", "fwd=partial; stored;,partial=2/4"},
		{list(`["e","d"]`), "", ``, "exact", "hit"},
		{list(`"f"`), "", `"f"`, "miss", ""},
		{list(`["f","\u0061"]`), "", ``, "exact", ""},
		{list(`["f","g","g"]`), "", `"g","g"`, "miss", "partial=1/3"},
		{list(`[[1,2],[3]]`), "", `[1,2],[3]`, "miss", ""},
		{list(`[3]`), "", ``, "exact", ""},
		{list(`[[3]]`), "", ``, "exact", ""},
		{list(`[[3],[4,5]]`), "", `[4,5]`, "miss", "partial=1/2"},
		{list(`[1,2]`), "", ``, "exact", ""},
		{list(`["x","y"]`), "Cache-Control: no-store", `"x","y"`, "miss", ""},
		{list(`["x","a"]`), "Cache-Control: no-store", `"x"`, "miss", "partial=1/2"},
		{list(`["x","a"]`), "Cache-Control: no-cache", `"x","a"`, "miss", "fwd=request"},
		{list(`["x","a"]`), "Cache-Control: only-if-cached", ``, "exact", ""},
		{list(`["x","z"]`), "Cache-Control: only-if-cached", ``, "", "504"},
		{list(`["a","b"]`), "X-Reprise-Mode: off", `"a","b"`, "bypass", ""},
		{list(`["a","b"]`), "Authorization: Bearer sk-other", `"a","b"`, "miss", "uri-miss"},
		{list(`["a","b"]`), "X-Reprise-Namespace: n", `"a","b"`, "miss", "uri-miss"},
		{`{"model":"m","input":["a","b"],"encoding_format":"float"}`, "", ``, "exact", ""},
		{`{"model":"m","input":["a","b"],"encoding_format":"base64"}`, "", `"a","b"`, "miss", "uri-miss"},
		{`{"model":"m","input":["b"],"encoding_format":"base64"}`, "", ``, "exact", ""},
		{`{"model":"m","input":["a","b"],"dimensions":2}`, "", `"a","b"`, "miss", "uri-miss"},
		{`{"model":"n","input":["a","b"]}`, "", `"a","b"`, "miss", "uri-miss"},
		{`{"model":"m","input":["a","b"],"late_chunking":true}`, "", `"a","b"`, "miss", "uri-miss"},
		{`{"model":"m","input":["a"],"late_chunking":true}`, "", `"a"`, "miss", "uri-miss"}, // it depends on the others
		{`{"model":"m","input":["a","b"],"late_chunking":true}`, "", ``, "exact", ""},
		{`{"input":["a", "q" ,"b"],"cache":{"ttl":60},"model":"m"}`, "", `"q"`, "miss", "partial=2/3"},
		{list(`["a","q"]`), "", ``, "exact", ""},
	} {
		if i%4 == 3 { // nothing depends on the process
			if err := r.store.Close(); err != nil {
				t.Fatal(err)
			}
			r = begin()
		}
		header := []string{}
		if step.header != "" {
			header = append(header, step.header)
		}
		got := r.ask(t, embedPath, step.body, header...)
		asked := u.asked()
		if want := u.answer(step.body, ""); step.detail != "504" && !equalJSON(got.body, want) {
			t.Errorf("%s: %s, want %s", step.body, got.body, want)
		}
		if asked != step.asked || step.cache != "" && got.cache() != step.cache {
			t.Errorf("%s %s: asked for %s, want %s; %s", step.body, step.header, asked, step.asked, status(got))
		}
		for part := range strings.SplitSeq(step.detail, ",") {
			if !strings.Contains(fmt.Sprint(got.status, " ", status(got)), part) {
				t.Errorf("%s: %d %s, want %s", step.body, got.status, status(got), part)
			}
		}
	}
	r.store.Close()
}

// TestItemsAsTheUpstream: whatever lists were asked before, every answer equals the one that the upstream gives to the whole list, member by
// member with its usage, and no input is asked for twice.
func TestItemsAsTheUpstream(t *testing.T) {
	u, rng := &embedder{}, rand.New(rand.NewPCG(7, 7))
	r := newRigAt(t, nil, u, func(o *Options) { o.Store = newStore(t, 10000, o.Now) })
	seen := map[string]bool{}
	for range 400 {
		tokens, format := rng.IntN(2) == 0, []string{"", `,"encoding_format":"base64"`}[rng.IntN(2)]
		var in []string
		for range 1 + rng.IntN(6) {
			if tokens {
				in = append(in, []string{"[1]", "[2,3]", "[4,5,6]", "[7, 8]", "[9,9,9,9,9]"}[rng.IntN(5)])
			} else {
				in = append(in, []string{`"a"`, `"some words"`, `"é"`, `"a \"quote\""`, `"[1]"`, `" "`}[rng.IntN(6)])
			}
		}
		body := fmt.Sprintf(`{"model":"m","input":[%s]%s}`, strings.Join(in, ", "), format)
		got := r.ask(t, embedPath, body)
		if want := u.answer(body, ""); !equalJSON(got.body, want) {
			t.Fatalf("%s: %s, want %s", body, got.body, want)
		}
		for _, call := range u.bodies {
			for _, one := range inputsOf(call) {
				if seen[one+format] {
					t.Errorf("%s: asked for %s again", body, one)
				}
			}
		}
		u.bodies = nil
		for _, one := range in {
			seen[one+format] = true
		}
	}
	if len(seen) != 22 {
		t.Errorf("%d inputs were asked for", len(seen))
	}
}

// TestItemsThatDoNotFit: an answer to some items that cannot be joined with what is stored is not served: the upstream is asked for all of them, by
// the client's own bytes, and what it says then is the answer. For some time it is then asked for all at once: for this list where it refused a part,
// and for all of the kind where its answers are other ones than before.
func TestItemsThatDoNotFit(t *testing.T) {
	const body = `{ "model":"m", "input":["a","new"] }`
	for _, c := range []struct {
		name   string
		broken func(u *embedder)
		asked  string
		status int
	}{
		{"another model behind the name", func(u *embedder) { u.model = "m-2" }, `"new"|"a","new"`, 200},
		{"vectors of another length", func(u *embedder) { u.change = replace(`, `, `, 1, `) }, `"new"|"a","new"`, 200},
		{"a vector of zeros", func(u *embedder) {
			u.change = func(s *string) {
				*s = strings.NewReplacer("1", "0", "2", "0", "3", "0", "4", "0", "5", "0", "6", "0", "7", "0", "8", "0", "9", "0").Replace(*s)
			}
		}, `"new"|"a","new"`, 200},
		{"a member that is not known", func(u *embedder) { u.change = replace(`{"object": "list"`, `{"warnings":["cut"],"object": "list"`) }, `"new"|"a","new"`, 200},
		{"usage that is not known", func(u *embedder) { u.change = replace(`"usage": {`, `"usage": {"images":1,`) }, `"new"|"a","new"`, 200},
		{"no usage", func(u *embedder) { u.change = func(s *string) { *s = (*s)[:strings.Index(*s, `, "usage"`)] + "}" } }, `"new"|"a","new"`, 200},
		{"no JSON", func(u *embedder) { u.change = func(s *string) { *s = "<html>" } }, `"new"|"a","new"`, 200},
		{"an error about the request", func(u *embedder) { u.status = 400 }, `"new"|"a","new"`, 400},
		{"a request that cannot be processed", func(u *embedder) { u.status = 422 }, `"new"|"a","new"`, 422},
		{"a limit", func(u *embedder) { u.status = 429 }, `"new"`, 429},
		{"a fault", func(u *embedder) { u.status = 500 }, `"new"`, 500},
	} {
		u := &embedder{}
		now := newClock()
		r := newRigAt(t, nil, u, now.use)
		r.ask(t, embedPath, `{"model":"m","input":["a","b"]}`)
		u.asked()
		c.broken(u)
		got := r.ask(t, embedPath, body)
		last := u.bodies[len(u.bodies)-1]
		if asked := u.asked(); asked != c.asked || got.status != c.status || strings.Contains(asked, "|") && last != body {
			t.Errorf("%s: %d, asked for %s, last %s", c.name, got.status, asked, last)
		}
		want := u.answer(last, u.model)
		if u.change != nil {
			u.change(&want)
		}
		if c.status == 200 && got.body != want {
			t.Errorf("%s: %s, want %s", c.name, got.body, want)
		}
		for _, next := range []struct {
			after time.Duration
			body  string
			alike bool // with the list before, for the one of the two reasons
		}{{0, body, true}, {0, `{ "model":"m", "input":["b","newer"] }`, c.status == 200}, {restRefused + time.Second, `{ "model":"m", "input":["b","newest"] }`, false}} {
			now.add(next.after)
			r.ask(t, embedPath, next.body)
			whole := strings.Join(inputsOf(next.body), ",")
			if asked := u.asked(); strings.Contains(c.asked, "|") && asked != "" && (asked == whole) != next.alike {
				t.Errorf("%s, then %s: asked for %s", c.name, next.body, asked)
			}
		}
		*u = embedder{} // well again
		if got, want := r.ask(t, embedPath, `{"model":"m","input":["b","new"]}`), u.answer(`{"model":"m","input":["b","new"]}`, ""); c.status != 200 && !equalJSON(got.body, want) {
			t.Errorf("%s, afterwards: %s, want %s", c.name, got.body, want)
		}
	}
}

func replace(old, with string) func(*string) {
	return func(s *string) { *s = strings.ReplaceAll(*s, old, with) }
}

// TestItemsLive: each item lives as long as its own request said, and a list as long as the first of its items.
func TestItemsLive(t *testing.T) {
	u, now := &embedder{}, newClock()
	r := newRigAt(t, nil, u, now.use, func(o *Options) { o.TTL = time.Hour })
	r.ask(t, embedPath, `{"model":"m","input":["a","b"]}`)
	now.add(time.Minute)
	r.ask(t, embedPath, `{"model":"m","input":["a","q"],"cache":{"ttl":60}}`)
	for _, step := range []struct {
		after              time.Duration
		input, asked, says string
	}{
		{0, `["q","a"]`, "", "hit; ttl=60"},
		{0, `["b","a"]`, "", "hit; ttl=3540"},
		{61 * time.Second, `["q","b"]`, `"q"`, "partial=1/2"},
		{time.Hour - 2*time.Minute, `["b","q","a"]`, `"b","a"`, "partial=1/3"},
	} {
		now.add(step.after)
		u.asked()
		got := r.ask(t, embedPath, `{"model":"m","input":`+step.input+`}`)
		if asked := u.asked(); asked != step.asked || !strings.Contains(status(got), step.says) || got.header.Get("Content-Length") != fmt.Sprint(len(got.body)) {
			t.Errorf("%s: asked for %s, %s", step.input, asked, status(got))
		}
	}
}

// TestStaleItems: where the upstream fails, expired answers stand in for it if there is one for each item.
func TestStaleItems(t *testing.T) {
	u, now := &embedder{}, newClock()
	r := newRigAt(t, nil, u, now.use, func(o *Options) { o.TTL, o.StaleIfError = time.Hour, time.Hour })
	r.ask(t, embedPath, `{"model":"m","input":["a","b"]}`)
	now.add(time.Hour + time.Minute)
	r.ask(t, embedPath, `{"model":"m","input":"b"}`)
	u.status = 503
	for body, want := range map[string]string{`{"model":"m","input":["a","b"]}`: "200 stale", `{"model":"m","input":["b"]}`: "200 exact", `{"model":"m","input":["a","c"]}`: "503 miss"} {
		got := r.ask(t, embedPath, body)
		if fmt.Sprint(got.status, " ", got.cache()) != want || got.status == 200 && !equalJSON(got.body, u.answer(body, "")) {
			t.Errorf("%s: %d %s %s", body, got.status, status(got), got.body)
		}
	}
}

// TestItemsAreShared: equal requests at the same time make one call, also where a part is known, and each client gets all items; what a purge
// removes while the upstream works is in no answer.
func TestItemsAreShared(t *testing.T) {
	for _, purge := range []bool{false, true} {
		u := &embedder{}
		r := newRigAt(t, nil, u)
		r.ask(t, embedPath, `{"model":"m","input":["a"]}`)
		u.asked()
		u.hold = make(chan struct{})
		const body = `{"model":"m","input":["new","a"]}`
		replies := make(chan reply, 4)
		for range cap(replies) {
			go func() {
				got, _ := r.try(embedPath, body)
				replies <- got
			}()
		}
		r.waiters(t, cap(replies))
		eventually(t, "a call", func() bool { u.mu.Lock(); defer u.mu.Unlock(); return len(u.bodies) > 0 })
		want := u.answer(body, "")
		if purge {
			r.Purge(t.Context(), store.Filter{})
		}
		close(u.hold)
		for range cap(replies) {
			if got := <-replies; got.status != 200 || !equalJSON(got.body, want) {
				t.Errorf("purged: %v: %d %s", purge, got.status, got.body)
			}
		}
		if asked := u.asked(); !purge && asked != `"new"` || purge && !strings.Contains(asked, `"new","a"`) {
			t.Errorf("purged: %v: asked for %s", purge, asked)
		}
	}
}

// TestRefusedItemsAreShared: equal requests at the same time, of which the upstream refuses a part of the items, ask for all of them once.
func TestRefusedItemsAreShared(t *testing.T) {
	u := &embedder{}
	r := newRigAt(t, nil, u)
	r.ask(t, embedPath, `{"model":"m","input":["a"]}`)
	u.asked()
	u.status, u.hold = 400, make(chan struct{})
	replies := make(chan reply, 4)
	for range cap(replies) {
		go func() {
			got, _ := r.try(embedPath, `{"model":"m","input":["new","a"]}`)
			replies <- got
		}()
	}
	for call := range 2 {
		r.waiters(t, cap(replies))
		eventually(t, "a call", func() bool { u.mu.Lock(); defer u.mu.Unlock(); return len(u.bodies) > call })
		u.hold <- struct{}{}
	}
	close(u.hold)
	for range cap(replies) {
		if got := <-replies; got.status != 400 || !strings.Contains(got.body, "about 2 inputs") {
			t.Errorf("%d %s", got.status, got.body)
		}
	}
	if asked := u.asked(); asked != `"new"|"new","a"` {
		t.Errorf("asked for %s", asked)
	}
}

// TestItemsKeptWhole: an answer that is not understood is kept under the key of its list, as it came, and serves that list alone. So is one to a
// list of more inputs than a request to the API may have.
func TestItemsKeptWhole(t *testing.T) {
	u := &embedder{change: replace(`{"object": "list"`, `{"warnings":["cut"],"object": "list"`)}
	r := newRigAt(t, nil, u, func(o *Options) { o.Store = newStore(t, 10000, o.Now) })
	for i, step := range []struct{ input, cache string }{{`["a","b"]`, "miss"}, {`["a","b"]`, "exact"}, {`["b","a"]`, "miss"}, {`["a"]`, "miss"}, {`["a","c"]`, "miss"}, {`["a","c"]`, "exact"}} {
		body := `{"model":"m","input":` + step.input + `}`
		got, want := r.ask(t, embedPath, body), u.answer(body, "")
		if u.change(&want); got.cache() != step.cache || got.body != want {
			t.Errorf("%d: %s, %s, want %s", i, status(got), got.body, want)
		}
	}
	u.change = nil
	for n, split := range map[int]bool{2048: true, 2049: false} {
		in := make([]string, n)
		for i := range in {
			in[i] = fmt.Sprintf(`"%d of %d"`, i, n)
		}
		body := `{"model":"m","input":[` + strings.Join(in, ",") + `]}`
		for _, want := range []string{"miss", "exact"} {
			if got := r.ask(t, embedPath, body); got.cache() != want && (split || want == "miss") || !equalJSON(got.body, u.answer(body, "")) {
				t.Errorf("%d inputs: %s", n, status(got))
			}
		}
		slices.Reverse(in)
		u.asked()
		r.ask(t, embedPath, `{"model":"m","input":[`+strings.Join(in[:2], ",")+`]}`)
		if asked := u.asked(); split && len(asked) > 20*1050 || !split && asked != strings.Join(in[:2], ",") {
			t.Errorf("%d inputs: asked for %.100s", n, asked)
		}
	}
}

// TestExplainItems: explain says how many items are stored.
func TestExplainItems(t *testing.T) {
	u := &embedder{}
	r := newRigAt(t, nil, u, func(o *Options) { o.Explain = true })
	r.ask(t, embedPath, `{"model":"m","input":["a","b"]}`)
	for input, want := range map[string]string{`["a","c"]`: `miss {"known": 1,"of": 2}`, `["b","a","a"]`: `exact {"known": 3,"of": 3}`, `["a"]`: "exact ", `["c"]`: "miss "} {
		x := r.ask(t, explainPath+"?endpoint="+embedPath, `{"model":"m","input":`+input+`}`).body
		if got := gjson.Get(x, "result").Str + " " + strings.Join(strings.Fields(gjson.Get(x, "items").Raw), ""); strings.ReplaceAll(got, " ", "") != strings.ReplaceAll(want, " ", "") {
			t.Errorf("%s: %s, want %s", input, got, want)
		}
	}
	if len(u.bodies) != 1 {
		t.Errorf("explain has asked the upstream: %q", u.bodies)
	}
}
