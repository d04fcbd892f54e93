package replicas_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// check compares what the clients have received with what the upstream has sent. It is called when no client asks any more.
//
//   - no request failed, whatever happened to Redis;
//   - each answer is a whole one that the upstream gave to the same tenant, namespace and prompt, before its client had it;
//   - a request that began after a purge has returned gets nothing that the upstream had sent before the purge began.
func (f *fleet) check() {
	f.t.Helper()
	breaches := 0
	for _, a := range f.asks {
		why := f.breach(a)
		if why == "" {
			continue
		}
		if breaches++; breaches < 10 {
			f.t.Errorf("request at %s from %s: %s: %+v, status %d, X-Cache %q, %v: %.200s", a.process, a.start.Format("05.000"), why, a.question, a.Status, a.result(), a.err, a.Body)
		}
	}
	if breaches > 0 {
		f.t.Errorf("%d of %d requests were answered wrongly", breaches, len(f.asks))
	}
}

func (f *fleet) breach(a *ask) string {
	broken := strings.Contains(a.prompt, cutShort)
	switch _, whole := textOf(a.Body); {
	case a.Status == http.StatusGatewayTimeout && a.err == nil && a.text == "":
		return "" // only-if-cached, without a hit
	case broken && (a.err != nil || a.Status != http.StatusOK || !whole) && a.result() != "exact" && a.result() != "semantic":
		return "" // the upstream's own fault
	case broken:
		return "an answer that was cut short was kept"
	case a.err != nil || a.Status != http.StatusOK:
		return "it failed"
	case !whole:
		return "a part of an answer"
	}
	c := f.up.origin(a.text)
	switch {
	case c == nil:
		return "an answer that the upstream never gave"
	case c.tenant != a.tenant:
		return "the answer of another tenant"
	case group(c.prompt) != group(a.prompt):
		return "the answer to another prompt: " + c.prompt
	case c.start.After(a.end):
		return "an answer from the future"
	}
	if slices.ContainsFunc(f.purges, func(u *purge) bool { return f.undone(u, a, c) }) {
		return "a purged answer"
	}
	return ""
}

// undone reports whether a has an answer that u had removed. A replica without Redis may serve what it has stored since it was cut
// off, until it is back: a purge elsewhere does not reach it.
func (f *fleet) undone(u *purge, a *ask, c *call) bool {
	from := u.end
	switch {
	case u.namespace != "" && u.namespace != a.namespace || !c.start.Before(u.start):
		return false
	case u.status == 0: // its process was killed
		return false
	case u.status != http.StatusOK && a.replica != u.replica:
		if from = u.everywhere; from.IsZero() {
			return false
		}
	}
	return a.start.After(from) && !f.ownSinceCut(a, c)
}

func (f *fleet) ownSinceCut(a *ask, c *call) bool {
	return c.process == a.process && slices.ContainsFunc(f.cuts, func(k cut) bool {
		return k.replica == a.replica && !c.start.Before(k.from) && (k.to.IsZero() || a.start.Before(k.to))
	})
}

// acknowledged are the questions whose answers came after a moment and were in Redis before another: a replica was served what another had
// stored.
func (f *fleet) acknowledged(from, to time.Time) (all []question) {
	seen := map[question]bool{}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, a := range f.asks {
		q := a.question
		q.stream = false
		if a.end.After(to) || seen[q] || !a.hit() || a.result() == "shared" {
			continue
		}
		if c := f.up.origin(a.text); c != nil && c.process != a.process && c.start.After(from) && !slices.ContainsFunc(f.purges, func(u *purge) bool {
			// One that could not be sent at once takes what is stored until all replicas have it.
			return (u.namespace == "" || u.namespace == q.namespace) && (u.end.After(c.start) || u.everywhere.After(c.start))
		}) {
			seen[q] = true
			all = append(all, q)
		}
	}
	return all
}

// checkKept waits until all replicas have the answers to these questions.
func (f *fleet) checkKept(all []question) {
	f.t.Helper()
	lost := 0
	for _, q := range all {
		if lost >= 2 || !eventually(f.t, fmt.Sprintf("%+v is a hit everywhere", q), func() bool { return f.everywhere(q) }) {
			lost++
		}
	}
	f.t.Logf("measured: %d answers were acknowledged by Redis", len(all))
	if lost > 0 {
		f.t.Errorf("of %d answers that Redis had acknowledged, %d or more are lost", len(all), lost)
	}
}
