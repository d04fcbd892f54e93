package torture

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// report is the result of the checks of one run: how often each invariant was checked, and each breach.
type report struct {
	checked map[string]int
	found   []string
}

func newReport() *report { return &report{checked: map[string]int{}} }

// check counts one check of an invariant and reports a breach unless ok.
func (r *report) check(invariant string, ok bool, format string, args ...any) {
	r.checked[invariant]++
	if !ok {
		r.found = append(r.found, invariant+": "+fmt.Sprintf(format, args...))
	}
}

// add adds what another report has.
func (r *report) add(other *report) {
	for name, n := range other.checked {
		r.checked[name] += n
	}
	r.found = append(r.found, other.found...)
}

// rules is what the fault of a run allows.
type rules struct {
	blind    bool          // requests fail while the fault is in force, without a call that shows why
	own      []int         // statuses of the proxy's own errors, besides 502 and 504
	limit    time.Duration // an upstream call may end in a timeout after that; 0: none may
	ttl      time.Duration // the operator's life of an entry
	stale    time.Duration // how long an expired one may answer
	recounts bool          // the counters of the proxy began again within the run
}

// checkHistory checks everything that the record of a run shows.
func checkHistory(h *history, u rules) *report {
	h.index()
	r := newReport()
	for _, a := range h.asks {
		switch {
		case a.err == nil && a.status == 200:
			h.checkAnswer(r, u, a)
		default:
			h.checkPart(r, a)
			if !a.aborted || a.err == nil {
				h.checkFailure(r, u, a)
			}
		}
	}
	h.checkCalls(r, u)
	h.checkEntries(r, u)
	h.checkCounters(r, u)
	h.checkTexts(r)
	return r
}

// checkAnswer checks an answer that its client read to a regular end.
func (h *history) checkAnswer(r *report, u rules, a *ask) {
	c := h.sourceOf(a)
	if c == nil {
		// A stream that the upstream ended regularly without its end is relayed as it is, except for the usage that the proxy asked for.
		part := h.origin(a.form.text)
		ok := !a.form.whole && h.spoiledMeanwhile(a) && (a.form.text == "" || part != nil && h.sameKey(part, a))
		r.check("I1", ok, "request %d (%s) has an answer that the upstream never gave: %q", a.n, a.cache, a.head)
		return
	}
	r.check("I1", c.start <= a.end, "request %d has the answer of call %d, which began later", a.n, c.n)
	if c.of < 0 || c.of >= int64(len(h.asks)) {
		r.check("I2", false, "call %d names no request", c.n)
		return
	}
	other := h.asks[c.of]
	why := a.mayShare(&other.question)
	if c.tenant != a.tenant || c.tenant != other.tenant {
		why = "tenant"
	}
	r.check("I2", why == "", "request %d (%s) was answered across a %s: %s got the answer to %s", a.n, a.cache, why, a.same(), other.same())
	own := c.of == a.n
	r.check("I1", (a.cache == "miss" || a.cache == "bypass") == own, "request %d: X-Cache is %q, and the answer was made for request %d", a.n, a.cache, c.of)
	h.checkDirectives(r, u, a, other, own)
	for _, p := range h.purges {
		if p.status == 200 && c.start < p.start && p.end < a.start && p.matches(&a.question) {
			r.check("I4", false, "request %d (%s) from %d has an answer of call %d from %d, which the purge from %d to %d removed", a.n, a.cache, a.start, c.n, c.start, p.start, p.end)
		} else if p.status == 200 && p.end < a.start && !own {
			r.check("I4", true, "")
		}
	}
}

// sourceOf is the call whose whole answer a is, in either form, or whose very bytes it is.
func (h *history) sourceOf(a *ask) *call {
	c := h.origin(a.form.text)
	if c != nil && a.form.whole && a.form.text == c.text() && a.form.finish == c.sent.finish &&
		(a.form.usage == "" || c.sent.usage == "" || a.form.usage == c.sent.usage) {
		return c
	}
	var first *call
	for _, c := range h.byKey[a.same()] {
		switch {
		case c.raw != a.bytes || c.begun == 0:
		case c.of == a.n: // answers that were cut short can be equal
			return c
		case first == nil:
			first = c
		}
	}
	return first
}

func (h *history) sameKey(c *call, a *ask) bool { return slices.Contains(h.byKey[a.same()], c) }

// checkDirectives: what the client of a asked of the cache was respected, and so was what the client of other asked.
func (h *history) checkDirectives(r *report, u rules, a, other *ask, own bool) {
	if a.directive != "" || other.directive != "" {
		r.check("I9", own || !a.says("no-cache", "Mode: off"), "request %d said %s and got the answer of another", a.n, a.directive)
		r.check("I9", own || !other.says("no-store", "Mode: off"), "request %d got an answer whose owner said %s", a.n, other.directive)
		r.check("I9", a.prompt == other.prompt || !a.says("Mode: exact"), "request %d said %s and got an answer to %q", a.n, a.directive, other.prompt)
	}
	age, err := strconv.Atoi(a.age)
	if err != nil {
		return
	}
	lived := time.Duration(age) * time.Second
	most := u.ttl
	if a.cache == "stale" {
		most += u.stale
	}
	if !own && other.says("X-Reprise-TTL: 5") && a.cache != "stale" {
		most = min(most, 5*time.Second)
	}
	if a.says("max-age=20") {
		most = min(most, 20*time.Second)
	}
	r.check("I9", lived <= most, "request %d (%s, %s) has an answer of %v, allowed are %v", a.n, a.cache, a.directive, lived, most)
}

// checkPart: what came of an answer before it was cut belongs to an answer of the same scope. That the client read a regular end
// although it lacks a part is checked in checkAnswer.
func (h *history) checkPart(r *report, a *ask) {
	if c := h.origin(a.form.text); c != nil && c.of >= 0 && c.of < int64(len(h.asks)) {
		why := a.mayShare(&h.asks[c.of].question)
		r.check("I2", why == "" && c.tenant == a.tenant, "request %d has a part of an answer from another %s: %s got that to %s", a.n, why, a.same(), h.asks[c.of].same())
	} else if a.form.text != "" {
		r.check("I1", strings.HasPrefix("Answer ", a.form.text[:min(7, len(a.form.text))]) && (len(a.form.text) < 12 || h.origin(a.form.text) != nil),
			"request %d has a part of an answer that the upstream never gave: %q", a.n, a.head)
	}
}

// checkFailure: a request fails for a reason, and its error is the upstream's own or one that the proxy documents.
func (h *history) checkFailure(r *report, u rules, a *ask) {
	down := slices.ContainsFunc(h.down, func(s span) bool { return s.meets(a.start, a.end) })
	slow := u.limit > 0 && (a.took >= u.limit || h.sharedSlowCall(u, a))
	cause := down || slow || u.blind && h.fault.meets(a.start, a.end) || a.status == 504 && a.says("only-if-cached") || h.spoiledMeanwhile(a)
	r.check("I1", cause, "request %d (%s, status %d, %v) failed without a cause: %q", a.n, a.cache, a.status, a.err, a.head)
	if a.status == 0 || a.status == 200 {
		return // it was cut, which is all that its client can see
	}
	own := a.cache == "error" && strings.Contains(a.head, `"error"`) && slices.Contains(append([]int{502, 504}, u.own...), a.status)
	r.check("I1", own || h.errors[a.bytes], "request %d has an error that is neither the upstream's nor one of the proxy for this fault: %d %q", a.n, a.status, a.head)
}

// spoiledMeanwhile reports whether a fault spoiled a call of the same key during a or a moment before.
func (h *history) spoiledMeanwhile(a *ask) bool {
	return slices.ContainsFunc(h.byKey[a.same()], func(c *call) bool { return c.spoils && h.mayHaveJoined(a, c) })
}

// mayHaveJoined reports whether a may have waited for the answer of c, a call of the same key. A flight can be joined for a moment longer
// than its call lasts, or until the request that began it has its answer: a busy machine can stretch the moment.
func (h *history) mayHaveJoined(a *ask, c *call) bool {
	const moment = 300 // ticks, which all clients together make
	return c.start < a.end && (c.end == 0 || c.end > a.start-moment || 0 <= c.of && c.of < int64(len(h.asks)) && h.asks[c.of].end > a.start)
}

// sharedSlowCall reports whether a may have waited for a call that was made for another request, and that had lasted for the limit when
// a ended.
func (h *history) sharedSlowCall(u rules, a *ask) bool {
	return slices.ContainsFunc(h.byKey[a.same()], func(c *call) bool { return h.mayHaveJoined(a, c) && h.overdue(u, c, a) })
}

// overdue reports whether the limit for c had passed when a ended. The time of c begins after that of the request for which it was made.
func (h *history) overdue(u rules, c *call, a *ask) bool {
	return u.limit > 0 && 0 <= c.of && c.of < int64(len(h.asks)) && !a.began.Add(a.took).Before(h.asks[c.of].began.Add(u.limit))
}

// checkCalls: a request makes one call at most, under its own credential; two calls of one key at one time are of private requests,
// of a flight that all have left, or of one that a purge has detached, or the first one was given up by a limit.
func (h *history) checkCalls(r *report, u rules) {
	made := map[int64]int{}
	public := map[string][]*call{}
	for _, c := range h.calls {
		made[c.of]++
		r.check("I5", c.of < 0 || made[c.of] == 1, "request %d was sent upstream %d times", c.of, made[c.of])
		if c.of < 0 || c.of >= int64(len(h.asks)) {
			continue
		}
		a := h.asks[c.of]
		r.check("I2", c.tenant == a.tenant && c.prompt == a.prompt, "call %d for %s was made as %s for %q", c.n, a.same(), c.tenant, c.prompt)
		if slices.Contains([]string{"exact", "semantic", "shared"}, a.cache) {
			r.check("I5", false, "request %d was answered as %s, and yet the upstream was asked", a.n, a.cache)
		}
		if a.directive == "" && !c.gone && !c.spoils && !h.spoiledMeanwhile(a) {
			public[a.same()] = append(public[a.same()], c)
		}
	}
	for key, calls := range public {
		for i, c := range calls[1:] {
			before := calls[i]
			overlap := before.begun == 0 || c.start < before.begun
			asked := min(h.asks[before.of].start, h.asks[c.of].start) // the flight that began first may have called last
			r.check("I5", !overlap || h.separated(asked, c.start, key) || h.overdue(u, before, h.asks[c.of]), "two calls at one time for %s: %d from %d and %d from %d, whose answer began at %d",
				key, c.n, c.start, before.n, before.start, before.begun)
		}
	}
}

// separated reports whether a purge, an abort of key or the end of the process lies between two ticks.
func (h *history) separated(from, to int64, key string) bool {
	return slices.ContainsFunc(h.purges, func(p purge) bool { return p.end > from && p.start < to }) ||
		slices.ContainsFunc(h.down, func(s span) bool { return s.meets(from, to) }) ||
		slices.ContainsFunc(h.asks, func(a *ask) bool { return a.aborted && a.end > from && a.start < to && a.same() == key })
}

// checkEntries: what is stored are whole answers, and no more than the capacity.
func (h *history) checkEntries(r *report, u rules) {
	for _, e := range h.entries {
		c := h.origin(e.form.text)
		r.check("I3", e.err == "" && c != nil && c.keep && e.form.text == c.text() && e.form.finish == c.sent.finish, "entry %d is no whole answer: %s, %+v, %+v", e.id, e.err, e.form, c)
		r.check("I9", e.life <= u.ttl, "entry %d lives for %v, the operator allows %v", e.id, e.life, u.ttl)
	}
	if h.capacity > 0 {
		r.check("I7", h.peak <= h.capacity+h.largest, "%d bytes at one time, the capacity is %d and an entry has %d at most", h.peak, h.capacity, h.largest)
	}
}

// checkCounters: the counters have every request once, under the result that its client saw.
func (h *history) checkCounters(r *report, u rules) {
	if h.metrics == nil || u.recounts {
		return
	}
	sum, timed := h.sum("reprise_requests_total{"), h.sum("reprise_request_duration_seconds_count{")
	by := map[string]float64{}
	for name, v := range h.metrics {
		if rest, ok := strings.CutPrefix(name, "reprise_requests_total{"); ok {
			_, result, _ := strings.Cut(rest, `result="`)
			result, _, _ = strings.Cut(result, `"`)
			by[result] += v
		}
	}
	seen := map[string]float64{}
	answered := 0.0
	for _, a := range h.asks {
		if a.status != 0 {
			answered++
		}
		if a.err == nil {
			seen[a.cache]++
		}
	}
	r.check("I10", sum == timed, "%v requests were counted and %v timed", sum, timed)
	r.check("I10", answered <= sum && sum <= float64(len(h.asks)), "%v requests were counted, %v were answered and %d sent", sum, answered, len(h.asks))
	for result, n := range seen {
		r.check("I10", n <= by[result], "%s: %v counted, %v seen", result, by[result], n)
	}
	for name, v := range h.metrics {
		if strings.HasSuffix(name, "_total") {
			r.check("I10", v >= 0 && !math.IsNaN(v), "%s is %v", name, v)
		}
	}
}

// checkTexts: no key, no prompt and no answer is in the log or the metrics. Each contains one of these words.
func (h *history) checkTexts(r *report) {
	for name, text := range h.texts {
		for _, secret := range []string{"canary", "canari", "word for word"} {
			at := strings.Index(text, secret)
			r.check("I14", at < 0, "%s contains %q: %.200s", name, secret, text[max(0, min(at, len(text))-100):])
		}
	}
}
