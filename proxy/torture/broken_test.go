package torture

import (
	"crypto/sha256"
	"io"
	"slices"
	"strings"
	"testing"
	"time"
)

// sound is a small history without a breach: request 0 is a miss, 1 repeats it, 2 is of another tenant, 3 is a paraphrase of 0,
// 4 fails by a fault of the upstream; then all is purged, and request 5 asks again.
func sound() *history {
	h := newHistory()
	base := question{tenant: tenants[0], model: models[0], prompt: groups[0][0]}
	other, paraphrase, failed := base, base, base
	other.tenant, paraphrase.prompt, failed.prompt = tenants[1], groups[0][1], groups[3][0]
	answer := func(a *ask, c *call, cache string) {
		a.status, a.cache, a.end = 200, cache, h.tick()
		a.form, a.bytes = c.sent, sha256.Sum256([]byte(a.same()+cache))
	}
	make := func(a *ask) *call {
		c := h.called(a.n)
		c.question, c.keep, c.begun = a.question, true, h.tick()
		c.sent = form{text: c.text(), finish: "stop", usage: "5+7", whole: true}
		c.end = h.tick()
		return c
	}
	a := h.asked(base)
	first := make(a)
	answer(a, first, "miss")
	answer(h.asked(base), first, "exact")
	a = h.asked(other)
	answer(a, make(a), "miss")
	answer(h.asked(paraphrase), first, "semantic")
	a = h.asked(failed)
	c := make(a)
	c.spoils, c.keep = true, false
	a.status, a.cache, a.head, a.end = 502, "error", `{"error":{}}`, h.tick()
	h.purged(purge{start: h.tick(), end: h.tick(), status: 200})
	a = h.asked(base)
	last := make(a)
	answer(a, last, "miss")
	h.entries = []stored{{id: 3, form: last.sent, life: time.Minute}}
	h.capacity, h.peak, h.largest = 100, 90, 20
	h.metrics = map[string]float64{`reprise_requests_total{endpoint="chat",result="miss"}`: 3, `reprise_requests_total{endpoint="chat",result="exact"}`: 1,
		`reprise_requests_total{endpoint="chat",result="semantic"}`: 1, `reprise_requests_total{endpoint="chat",result="error"}`: 1,
		`reprise_request_duration_seconds_count{result="miss"}`: 6}
	h.texts["the log"] = "nothing"
	return h
}

// TestCheckerCanFail: a sound history passes, and each breach of an invariant is found under its name.
func TestCheckerCanFail(t *testing.T) {
	u := rules{ttl: time.Minute}
	if r := checkHistory(sound(), u); len(r.found) > 0 {
		t.Fatalf("a sound history is reported: %q", r.found)
	}
	for _, b := range []struct {
		invariant, title string
		damage           func(h *history)
	}{
		{"I1", "one word differs", func(h *history) { h.asks[1].form.text += "!" }},
		{"I1", "the finish reason differs", func(h *history) { h.asks[1].form.finish = "length" }},
		{"I1", "the usage differs", func(h *history) { h.asks[1].form.usage = "5+8" }},
		{"I1", "an answer without its end looks complete", func(h *history) {
			h.asks[1].form.whole, h.asks[1].form.text = false, h.asks[1].form.text[:20]
		}},
		{"I1", "an answer from the future", func(h *history) { h.asks[1].form = h.calls[3].sent }},
		{"I1", "a miss with the answer of another", func(h *history) { h.asks[1].cache = "miss" }},
		{"I1", "a hit with its own answer", func(h *history) { h.asks[0].cache = "exact" }},
		{"I1", "a failure without a cause", func(h *history) { h.calls[2].spoils = false }},
		{"I1", "an error of unknown origin", func(h *history) { h.asks[4].cache = "" }},
		{"I1", "an error of the proxy that no fault explains", func(h *history) { h.asks[4].status = 500 }},
		{"I1", "a request that hangs until its client's limit", func(h *history) {
			h.asks[1].status, h.asks[1].err = 0, io.ErrUnexpectedEOF
		}},
		{"I2", "another tenant's answer", func(h *history) { h.asks[1].tenant = tenants[2] }},
		{"I2", "another model's answer", func(h *history) { h.asks[1].model = models[1] }},
		{"I2", "another system prompt's answer", func(h *history) { h.asks[1].system = systems[2] }},
		{"I2", "another namespace's answer", func(h *history) { h.asks[1].namespace = "red" }},
		{"I2", "the answer to another question", func(h *history) { h.asks[3].prompt = groups[1][0] }},
		{"I2", "a call under another's credential", func(h *history) { h.calls[1].tenant = tenants[0] }},
		{"I2", "a part of another tenant's answer before a cut", func(h *history) {
			a := h.asks[4]
			a.form.text = h.calls[1].text()[:30]
		}},
		{"I3", "half an answer is stored", func(h *history) { h.entries[0].form.text = h.entries[0].form.text[:20] }},
		{"I3", "an answer of a failed call is stored", func(h *history) { h.calls[3].keep = false }},
		{"I3", "an entry that cannot be read", func(h *history) { h.entries[0].err = "damaged" }},
		{"I4", "a purged answer", func(h *history) {
			h.asks[5].form, h.asks[5].cache = h.calls[0].sent, "exact"
			h.calls = h.calls[:3]
			h.entries = nil
		}},
		{"I5", "two calls for one request", func(h *history) { h.calls[3].of = 0 }},
		{"I5", "two calls for one key at one time", func(h *history) {
			h.calls[1].of, h.calls[1].question, h.calls[0].begun = 1, h.calls[0].question, h.calls[1].start+1
			h.asks[1].cache, h.asks[1].form = "miss", h.calls[1].sent
			h.asks[2].form, h.asks[2].err, h.asks[2].aborted, h.asks[2].status = form{}, io.ErrUnexpectedEOF, true, 0
		}},
		{"I5", "a hit that asked the upstream", func(h *history) { h.calls[1].of = 1 }},
		{"I7", "more than the capacity and an entry", func(h *history) { h.peak = 121 }},
		{"I9", "no-cache got a stored answer", func(h *history) { h.asks[1].directive = "Cache-Control: no-cache" }},
		{"I9", "the answer to no-store was stored", func(h *history) { h.asks[0].directive = "Cache-Control: no-store" }},
		{"I9", "exact got a paraphrase", func(h *history) { h.asks[3].directive = "X-Reprise-Mode: exact" }},
		{"I9", "an answer older than max-age", func(h *history) { h.asks[1].directive, h.asks[1].age = "Cache-Control: max-age=20", "21" }},
		{"I9", "an answer older than the operator allows", func(h *history) { h.asks[1].age = "61" }},
		{"I9", "an entry that lives longer than the operator allows", func(h *history) { h.entries[0].life = 24 * time.Hour }},
		{"I10", "a request that was not counted", func(h *history) { h.metrics[`reprise_requests_total{endpoint="chat",result="exact"}`] = 0 }},
		{"I10", "a request counted twice", func(h *history) {
			h.metrics[`reprise_requests_total{endpoint="chat",result="exact"}`] = 2
			h.metrics[`reprise_request_duration_seconds_count{result="miss"}`] = 7
		}},
		{"I10", "a request under another result", func(h *history) {
			h.metrics[`reprise_requests_total{endpoint="chat",result="exact"}`] = 0
			h.metrics[`reprise_requests_total{endpoint="chat",result="miss"}`] = 4
		}},
		{"I10", "a request that was not timed", func(h *history) { h.metrics[`reprise_request_duration_seconds_count{result="miss"}`] = 5 }},
		{"I14", "a credential in the log", func(h *history) { h.texts["the log"] = "level=INFO key=" + tenants[1] }},
		{"I14", "a prompt in the log", func(h *history) { h.texts["the log"] = groups[2][0] }},
		{"I14", "an answer in the log", func(h *history) { h.texts["the log"] = h.calls[0].text() }},
	} {
		h := sound()
		b.damage(h)
		r := checkHistory(h, u)
		if !slices.ContainsFunc(r.found, func(f string) bool { return strings.HasPrefix(f, b.invariant+":") }) {
			t.Errorf("%s (%s) was not found; found: %q", b.title, b.invariant, r.found)
		}
	}
}

// TestEqualRests: answers that were cut to the same bytes are each the client's own.
func TestEqualRests(t *testing.T) {
	h := sound()
	for _, i := range []int{0, 5} {
		a, c := h.asks[i], h.calls[i*3/5]
		a.form, a.bytes = form{}, sha256.Sum256([]byte("{"))
		c.raw, c.keep, c.spoils = a.bytes, false, true
	}
	h.entries, h.asks[1].form.text = nil, ""
	for _, found := range checkHistory(h, rules{ttl: time.Minute}).found {
		if strings.Contains(found, "request 0") || strings.Contains(found, "request 5") {
			t.Error(found)
		}
	}
}

// TestGuardsOfTheRest: the checks that look at a running proxy can fail too.
func TestGuardsOfTheRest(t *testing.T) {
	r := newReport()
	before := held()
	before.goroutines -= 50 // as if 50 had been left behind
	checkHeldFor(r, before, time.Millisecond)
	if len(r.found) != 1 || !strings.HasPrefix(r.found[0], "I11: ") {
		t.Errorf("goroutines left behind: found %q", r.found)
	}
	r = newReport()
	compareDecisions(r, 1, [2][]string{{"miss 200", "exact 200"}, {"miss 200", "miss 200"}})
	if len(r.found) != 1 || !strings.HasPrefix(r.found[0], "I12: request 1 ") {
		t.Errorf("another decision: found %q", r.found)
	}
}
