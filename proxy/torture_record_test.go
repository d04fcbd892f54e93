package proxy

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/tidwall/gjson"

	"reprise/policy"
	"reprise/proxy/answer"
	"reprise/proxy/api/registry"
)

var (
	tenants    = []string{"Bearer sk-canary-a", "Bearer sk-canary-b", "Bearer sk-canary-c"}
	models     = []string{"gpt-4o", "gpt-4o-mini"}
	namespaces = []string{"", "", "", "red", "blue"}
	systems    = []string{"", "", "Be brief.", "Be rude."}
)

// groups are prompts that may share an answer; prompts of two groups must not, however similar they are.
var groups = [][]string{
	{"What is the capital of canaryland?", "what is the capital of canaryland", "What is the capital of canaryland"},
	{"What is the capital of canarystan?", "what is the capital of canarystan"},
	{"How do I add 2 canaries to 3 canaries?", "how do i add 2 canaries to 3 canaries"},
	{"How do I add 3 canaries to 2 canaries?"},
	{"How do I add 2 canaries to 4 canaries?"},
	{"Is it safe to feed a canary bread?", "is it safe to feed a canary bread"},
	{"Is it not safe to feed a canary bread?"},
	{"Who sold the canary, Anna or Bert?", "who sold the canary, anna or bert"},
	{"Explain canary.Open to me", "explain canary.Open to me"},
	{"Explain canary.Close to me"},
	{"Turn the canary light on", "turn the canary light on"},
	{"Turn the canary light off"},
	{boilerplate + "Is canary 1 yellow?", boilerplate + "is canary 1 yellow"},
	{boilerplate + "Is canary 2 yellow?"},
	{boilerplate + "Does Anna like Bert's canary?"},
	{boilerplate + "Does Bert like Anna's canary?"},
}

var prompts, groupOf = func() (all []string, of map[string]int) {
	of = map[string]int{}
	for i, g := range groups {
		for _, p := range g {
			all, of[p] = append(all, p), i
		}
	}
	for i := range 60 { // each a group of its own: they fill the capacity
		p := fmt.Sprintf("Tell me tale number %d of the canary", i)
		all, of[p] = append(all, p), len(groups)+i
	}
	return all, of
}()

// question is what a client asks; past and reply are the turn before, if any.
type question struct {
	tenant, model, namespace, system string
	past, reply, prompt              string
	stream                           bool
	directive                        string // a header line
}

// wishes are directives; most are empty.
var wishes = []string{"", "", "", "", "", "", "", "", "Cache-Control: no-cache", "Cache-Control: no-store", "Cache-Control: max-age=20",
	"Cache-Control: only-if-cached", "X-Reprise-Threshold: 0.99", "X-Reprise-Mode: exact", "X-Reprise-Mode: off", "X-Reprise-TTL: 5"}

func (x *torture) newQuestion(rng *rand.Rand) *question {
	pick := func(from []string) string { return from[rng.IntN(len(from))] }
	q := &question{tenant: pick(tenants), model: pick(models), namespace: pick(namespaces), system: pick(systems), prompt: pick(prompts),
		stream: rng.IntN(2) == 0, directive: pick(wishes)}
	if rng.IntN(4) > 0 { // most requests are about a few questions
		q.tenant, q.model, q.namespace, q.system, q.prompt = tenants[rng.IntN(2)], models[0], "", "", pick(prompts[:28])
	}
	return q
}

func (q *question) body() string {
	type message struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	}
	var m []message
	if q.system != "" {
		m = append(m, message{"system", q.system})
	}
	if q.past != "" {
		m = append(m, message{"user", q.past}, message{"assistant", q.reply})
	}
	m = append(m, message{"user", q.prompt})
	b, err := json.Marshal(map[string]any{"model": q.model, "messages": m, "stream": q.stream})
	if err != nil {
		panic(err) // a mistake in this test
	}
	return string(b)
}

func (q *question) header() http.Header {
	h := http.Header{"Content-Type": {"application/json"}, "Authorization": {q.tenant}}
	if q.namespace != "" {
		h.Set("X-Reprise-Namespace", q.namespace)
	}
	if name, value, ok := strings.Cut(q.directive, ": "); ok {
		h.Set(name, value)
	}
	return h
}

// same is the key of a question: equal for equal requests.
func (q *question) same() string {
	return strings.Join([]string{q.tenant, q.model, q.namespace, q.system, q.past, q.reply, q.prompt}, "|")
}

// mayShare returns why an answer to other must not be served to q, "" if it may.
func (q *question) mayShare(other *question) string {
	switch {
	case q.tenant != other.tenant:
		return "tenant"
	case q.model != other.model || q.system != other.system:
		return "scope"
	case q.namespace != other.namespace:
		return "namespace"
	case q.reply != other.reply || q.reply != "" && groupOf[q.past] != groupOf[other.past]:
		return "history"
	case groupOf[q.prompt] != groupOf[other.prompt]:
		return "prompt"
	case q.prompt != other.prompt && strings.Contains(q.directive, "exact"):
		return "exactness"
	}
	return ""
}

// requestRecord is one request as its client saw it. start and end are ticks of the history's clock.
type requestRecord struct {
	question
	n          int64
	start, end int64
	aborted    bool
	failed     error
	status     int
	cache, age string
	body, text string
}

// callRecord is one call as the upstream saw it.
type callRecord struct {
	n          int64 // its answer's own number
	of         int64 // the request that it was made for
	start, end int64
	begun      int64 // when its answer began
	fault      string
	credential string
	cancelled  bool
}

// text is the answer: it begins with its number and ends in a full stop.
func (c *callRecord) text() string {
	return fmt.Sprintf("answer %d for you, word for word and up to its very end.", c.n)
}

// mustNotKeep reports whether the answer must not be kept, although all its words may have arrived.
func (c *callRecord) mustNotKeep(streamed bool) bool {
	for _, bad := range []string{"status", "malformed", "finish", "body", "wrong-length"} {
		if strings.HasPrefix(c.fault, bad) {
			return bad != "wrong-length" || !streamed // a stream has no length
		}
	}
	return streamed && (c.fault == "error-event" || c.fault == "no-done")
}

// spoiled reports whether the call may have made a client fail.
func (c *callRecord) spoiled() bool {
	for _, odd := range []string{"split", "crlf", "comments", "two-finish", "no-usage", "delay", "first-byte", "between"} {
		if strings.HasPrefix(c.fault, odd) {
			return false
		}
	}
	return c.fault != ""
}

type purgeRecord struct {
	start, end    int64
	tenant, model string // both empty: all
	status        int
}

// history is all that happened in a run.
type history struct {
	mu       sync.Mutex // guards what follows
	clock    int64      // orders events
	requests []*requestRecord
	calls    []*callRecord
	purges   []purgeRecord

	byKey map[string][]*callRecord // the calls, once all is over
}

func (h *history) tick() int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.clock++
	return h.clock
}

func (h *history) asked(q question) *requestRecord {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.clock++
	r := &requestRecord{question: q, n: int64(len(h.requests)), start: h.clock}
	h.requests = append(h.requests, r)
	return r
}

func (h *history) answered(r *requestRecord, err error) {
	r.end, r.failed = h.tick(), err
	if err != nil || r.status != http.StatusOK {
		return
	}
	if r.stream {
		r.text = streamedText(r.body)
	} else {
		r.text = gjson.Get(r.body, "choices.0.message.content").String()
	}
}

// called adds a call: calls are in the order of their starts.
func (h *history) called(of, fault string) *callRecord {
	n, _ := strconv.ParseInt(of, 10, 64)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.clock++
	c := &callRecord{n: int64(len(h.calls)), of: n, start: h.clock, fault: fault}
	h.calls = append(h.calls, c)
	return c
}

func (h *history) begins(c *callRecord) {
	if c.begun == 0 {
		c.begun = h.tick()
	}
}

func (h *history) returned(c *callRecord, cancelled bool) { c.end, c.cancelled = h.tick(), cancelled }

func (h *history) purged(p purgeRecord) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.purges = append(h.purges, p)
}

// origin is the call that a text came from; nil for a text that no call gave in full.
func (h *history) origin(text string) *callRecord {
	var n int
	if _, err := fmt.Sscanf(text, "answer %d for you", &n); err != nil || n >= len(h.calls) || h.calls[n].text() != text {
		return nil
	}
	return h.calls[n]
}

// checkAnswers: every answer is one that the upstream gave in full for a question that may share it (I1, I2, I9), none is
// older than a purge that matches it (I4), and requests fail only by a fault of the upstream (I6).
func (x *torture) checkAnswers(t *testing.T) {
	for _, r := range x.requests {
		switch {
		case r.aborted && r.failed != nil:
		case r.failed != nil || r.status != http.StatusOK || r.text == "":
			x.checkFailure(t, r)
		default:
			x.checkAnswer(t, r)
		}
	}
}

func (x *torture) checkAnswer(t *testing.T, r *requestRecord) {
	c := x.origin(r.text)
	if c == nil {
		if !x.faultMeanwhile(r) {
			t.Errorf("request %d (%s): an answer that the upstream never gave: %q", r.n, r.cache, r.body)
		}
		return
	}
	other := x.requests[c.of]
	if why := r.mayShare(&other.question); why != "" || c.credential != r.tenant {
		t.Errorf("request %d (%s) was answered across a %s:\n%s\n%s", r.n, r.cache, why, r.same(), other.same())
	}
	switch own := c.of == r.n; {
	case c.start > r.end:
		t.Errorf("request %d: an answer from the future", r.n)
	case (r.cache == "miss" || r.cache == "bypass") != own:
		t.Errorf("request %d: %s, but made for request %d", r.n, r.cache, c.of)
	case !own && (strings.Contains(r.directive, "no-cache") || strings.Contains(r.directive, "off")):
		t.Errorf("request %d: %s and yet the answer of another", r.n, r.directive)
	case !own && other.directive != "" && (strings.Contains(other.directive, "no-store") || strings.Contains(other.directive, "off")):
		t.Errorf("request %d got an answer whose owner said %s", r.n, other.directive)
	}
	if age, err := strconv.Atoi(r.age); err == nil {
		if age > 120 || age > 60 && r.cache != "stale" || age > 20 && strings.Contains(r.directive, "max-age") {
			t.Errorf("request %d (%s, %s): an answer of %d seconds", r.n, r.cache, r.directive, age)
		}
	}
	for _, p := range x.purges {
		if p.status == http.StatusOK && c.start < p.start && p.end < r.start && (p.tenant == "" || p.tenant == r.tenant) && (p.model == "" || p.model == r.model) {
			t.Errorf("request %d (%s) got an answer that a purge should have taken: call %d from %d, purge %d to %d, request from %d", r.n, r.cache, c.n, c.start, p.start, p.end, r.start)
		}
	}
}

func (x *torture) checkFailure(t *testing.T, r *requestRecord) {
	only := r.status == http.StatusGatewayTimeout && strings.Contains(r.directive, "only-if-cached")
	if !only && !x.faultMeanwhile(r) {
		t.Errorf("request %d (%s, %d, %v) failed without a reason: %q", r.n, r.cache, r.status, r.failed, r.body)
	}
}

// faultMeanwhile reports whether the upstream spoiled a call of the same key during r or a moment before: a flight can be
// joined for that much longer than its call lasts, or until the request that began it has its answer: a busy machine can stretch the moment.
func (x *torture) faultMeanwhile(r *requestRecord) bool {
	const moment = 300 // ticks, which all clients together make
	return slices.ContainsFunc(x.byKey[r.same()], func(c *callRecord) bool {
		return c.spoiled() && c.start < r.end && (c.end > r.start-moment || x.requests[c.of].end > r.start)
	})
}

// checkCalls: two calls of one key at a time are of private requests, of a flight that all have left, or of one that a purge
// has detached (I5); no request that the cache answered is sent upstream.
func (x *torture) checkCalls(t *testing.T) {
	public := map[string][]*callRecord{}
	for _, c := range x.calls {
		r := x.requests[c.of]
		if r.directive == "" && !c.cancelled && !x.faultMeanwhile(r) { // else it may be a second try, which is private
			public[r.same()] = append(public[r.same()], c)
		}
		if c.credential != r.tenant {
			t.Errorf("call %d was made with another's credential", c.n)
		}
		if slices.Contains([]string{"exact", "semantic", "shared"}, r.cache) && c.start < r.end {
			t.Errorf("request %d was %s, and yet the upstream was asked", r.n, r.cache)
		}
	}
	for key, calls := range public {
		for i, c := range calls[1:] {
			before := calls[i]
			asked := min(x.requests[before.of].start, x.requests[c.of].start) // the flight that began first may have called last
			if c.start < before.begun && !x.between(asked, c.start, key) {
				t.Errorf("two calls at once for %s: %+v and %+v", key, before, c)
			}
		}
	}
}

// between reports whether a purge, or an abort of key, lies between two ticks.
func (x *torture) between(from, to int64, key string) bool {
	return slices.ContainsFunc(x.purges, func(p purgeRecord) bool { return p.end > from && p.start < to }) ||
		slices.ContainsFunc(x.requests, func(r *requestRecord) bool {
			return r.aborted && r.same() == key && r.end > from && r.start < to
		})
}

// checkStore: entries are whole answers (I3), no more than the capacity (I7), and exactly those that the topics hold; the
// counters add up (I10).
func (x *torture) checkStore(t *testing.T) {
	known := map[policy.ID]bool{}
	for _, info := range x.topics.List(0, 1<<20) {
		_, members, _ := x.topics.Topic(info.ID)
		for _, m := range members {
			known[policy.ID(m)] = true
		}
	}
	for e := range x.store.All() {
		raw, err := e.Recording()
		if err != nil {
			t.Fatal(err)
		}
		z, err := registry.APIs.Decode(raw)
		if err != nil {
			t.Fatalf("entry %d: %v", e.ID, err)
		}
		body, _, err := z.Replay(nil, answer.ReplayOptions{ID: "chatcmpl-x", Created: 1})
		if c := x.origin(gjson.GetBytes(body, "choices.0.message.content").String()); err != nil || c == nil || c.mustNotKeep(x.requests[c.of].stream) {
			t.Errorf("entry %d is not a whole answer: %v, %+v, %s", e.ID, err, c, body)
		}
		// A prompt that could not be embedded is compared by its form alone.
		if vector := e.Size != e.Footprint(0); vector != known[e.ID] || vector && e.Prompt == "" {
			t.Errorf("entry %d with a prompt of %d bytes: has a vector %v, is in the topics %v", e.ID, len(e.Prompt), vector, known[e.ID])
		}
		delete(known, e.ID)
	}
	if len(known) > 0 {
		t.Errorf("the topics hold %d entries that the store has dropped: %v", len(known), known)
	}
	if n := x.peak.Load(); n > tortureCapacity+1 {
		t.Errorf("%d entries at one time, room for %d", n, tortureCapacity)
	}
	st, seen := x.Stats(), x.results()
	for name, n := range map[string]int64{"exact": st.Exact, "semantic": st.Semantic, "shared": st.Shared, "stale": st.Stale, "miss": st.Misses, "bypass": st.Bypass, "error": st.Errors} {
		if n < int64(seen[name]) {
			t.Errorf("%s: counted %d, seen %d", name, n, seen[name])
		}
	}
	if st.Requests > int64(len(x.requests)) || st.Exact+st.Semantic+st.Shared+st.Stale+st.Misses+st.Bypass+st.Errors != st.Requests {
		t.Errorf("the counters do not add up: %d requests, %+v", len(x.requests), st)
	}
}

func (x *torture) checkLog(t *testing.T) {
	for _, secret := range []string{"canary", "canari"} {
		if at := strings.Index(x.logs.String(), secret); at >= 0 {
			t.Errorf("the log contains %q: %.200s", secret, x.logs.String()[max(0, at-100):])
		}
	}
}

// results counts X-Cache of the requests whose clients read to the end.
func (x *torture) results() map[string]int {
	n := map[string]int{}
	for _, r := range x.requests {
		if r.failed == nil {
			n[r.cache]++
		}
	}
	return n
}

func (x *torture) faulty() (n int) {
	for _, c := range x.calls {
		if c.spoiled() {
			n++
		}
	}
	return n
}

// checkReach: a long run must have met every result. A short one, or one on a busy machine, need not.
func (x *torture) checkReach(t *testing.T) {
	seen := x.results()
	if len(x.requests) < 5000 {
		return
	}
	for _, name := range []string{"exact", "semantic", "shared", "stale", "miss", "bypass", "error"} {
		if seen[name] == 0 {
			t.Errorf("no request was answered as %s", name)
		}
	}
	if x.faulty() == 0 || len(x.purges) == 0 || x.Stats().Evictions == 0 || x.Stats().Vetoes == 0 {
		t.Errorf("too quiet: %d faults, %d purges, %+v", x.faulty(), len(x.purges), x.Stats())
	}
}
