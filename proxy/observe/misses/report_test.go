package misses

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"reprise/proxy/observe"
	"reprise/store"
)

// TestWindow: the report has the last hour, and its shares are of the requests of that hour.
func TestWindow(t *testing.T) {
	clock, requests := now, int64(500) // of before
	w := NewWatch(Options{Now: func() time.Time { return clock }, Requests: func() int64 { return requests }})
	miss := func(d *Diagnosis) { w.count(d, &observe.Outcome{NoStore: true}); requests++ }
	for minute := range 90 {
		clock = now.Add(time.Duration(minute) * time.Minute)
		requests += 3 // hits
		miss(&Diagnosis{Why: whyExpired, hit: true})
		if minute%2 == 0 {
			miss(&Diagnosis{Why: whyNew})
		}
	}
	r := w.Report(Settings{})
	if r.Misses != 90 || r.Requests != 60*3+90 || len(r.Groups) != 2 {
		t.Fatalf("%+v", r)
	}
	if g := r.Groups[0]; g.Why != "expired" || g.Count != 60 || g.Hits != 60 || g.Share != 60.0/90 || g.Brings != 60.0/270 {
		t.Errorf("%+v", g)
	}
	clock = clock.Add(2 * time.Hour)
	if r := w.Report(Settings{}); r.Misses != 0 || len(r.Groups) != 0 {
		t.Errorf("two hours later: %+v", r)
	}
	miss(&Diagnosis{Why: whyNew})
	if r := w.Report(Settings{}); r.Misses != 1 || r.Requests != 1 {
		t.Errorf("the first one after a pause: %+v", r)
	}
}

// TestGroupsAreBounded: clients that invent names cannot make groups without end.
func TestGroupsAreBounded(t *testing.T) {
	w := watch(0)
	for i := range 5000 {
		w.count(&Diagnosis{Why: whyScope, Differs: []difference{{Part: fmt.Sprint("x", i), Byte: -1}}}, &observe.Outcome{NoStore: true})
	}
	r := w.Report(Settings{})
	if len(r.Groups) != mostGroups+1 || r.Groups[0].Why != "other" || r.Groups[0].Count != 5000-mostGroups {
		t.Errorf("%d groups, the first of which is %+v", len(r.Groups), r.Groups[0])
	}
}

// TestCountedWithoutRequest: what is counted for an hour does not hold the request, which may be large.
func TestCountedWithoutRequest(t *testing.T) {
	for _, life := range []Life{Fresh, Gone} {
		w := watch(0)
		w.keep(ask{tenant: "other", prompt: "p"}, 1)
		d := w.Why(ask{tenant: "t", prompt: "p"}.request(), at(now), func(uint64) Life { return life })
		if d.all == nil {
			t.Fatal("the operator's view is that of the client")
		}
		w.count(d, &observe.Outcome{NoStore: true})
		for _, b := range w.window.buckets {
			for _, g := range b.groups {
				if g.diagnosis.all != nil {
					t.Errorf("%s is counted with its request, life %d", g.diagnosis.Reason(), life)
				}
			}
		}
	}
}

// TestWords: each reason has a sentence, and a status that can be in a header.
func TestWords(t *testing.T) {
	seen := map[string]bool{}
	for _, why := range []Why{whyRequest, whyShadow, whyExplored, whyRefused, whyExpired, whyNotStored, whyEvicted, whyExactOnly, whyScope, whyChain, whyVeto, whyDegraded, whyBelow, whyNew, "other"} {
		d := &Diagnosis{Why: why, What: "x"}
		if words := d.Words(); seen[words] || !strings.HasSuffix(words, ".") {
			t.Errorf("%s: %s", why, words)
		} else {
			seen[words] = true
		}
	}
	d := &Diagnosis{Why: whyScope, Scopes: 3, Alike: true, Differs: []difference{{Part: PartSystem, Index: 1, Byte: 212, Looks: "date"}, {Part: "header:X-Run", Byte: -1}, {Part: "a\"b\\\n\x7fé;", Byte: -1}}}
	if got := d.Status(); got != `why=scope;differs=system-2@212:date+header:X-Run+a?b?????` {
		t.Error(got)
	}
	if got := d.Words(); got != "The same prompt is kept in 3 other scopes; they differ in: system prompt, message 2 (byte 212: looks like a date), header X-Run, field a?b?????." {
		t.Error(got)
	}
	d = &Diagnosis{Why: whyScope, Scopes: 1, Differs: []difference{{Part: "ignored", Byte: -1}}}
	if got := d.Words(); got != "The same prompt is kept in another scope; it differs in: what the settings and rules ignore." {
		t.Error(got)
	}
	d = &Diagnosis{Why: whyScope, Scopes: 1, Differs: []difference{{Part: "header:X-Acme-Frontend-Session-Correlation-Token", Byte: -1}}}
	if got := d.Repair(); !strings.Contains(got, " X-Acme-Frontend-Session-Correlation-Token ") {
		t.Errorf("a repair with another name than that of the header: %s", got)
	}
}

// TestLastOfItsScope: a scope whose only record makes room for a new one of the same scope stays, and is counted once.
func TestLastOfItsScope(t *testing.T) {
	for limit := 2000; limit < 4000; limit += 50 {
		w := watch(limit)
		for i := range 40 {
			w.keep(ask{tenant: "t", prompt: fmt.Sprint("p", i), fields: []string{fmt.Sprint("system=Be brief. Request ", i%4, ".")}}, uint64(i+1))
			w.check(t)
		}
	}
}

// TestConcurrent: all methods at once, for the race detector, and the sums at the end.
func TestConcurrent(t *testing.T) {
	w := watch(100_000)
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(g), 1))
			for i := range 500 {
				a := ask{tenant: "t", prompt: fmt.Sprint("p", rng.IntN(9)), fields: []string{fmt.Sprint("user=", rng.IntN(9)), fmt.Sprint("system=Be brief. Request ", rng.IntN(99), ".")}}
				w.count(w.Why(a.request(), at(now), fresh), &observe.Outcome{NoStore: true})
				w.keep(a, uint64(g*1000+i))
				w.Explain(a.request(), at(now), fresh)
				if i%100 == 99 {
					w.Report(Settings{})
				}
				if g == 0 && i == 250 {
					w.Forget(store.Filter{})
				}
				if g == 0 && i%100 == 0 {
					w.Forget(store.Filter{Entry: 1})
				}
			}
		})
	}
	all.Wait()
	w.check(t)
}

// TestScopeRepairs: each part of a scope that a client can make equal has a repair, and what is asked has none.
func TestScopeRepairs(t *testing.T) {
	for part, want := range map[string]string{"tools": "Send the same tools ", "temperature": "Where no answer depends on it, send the same each time.", PartQuery: "Where no answer ",
		PartRest: "Where no answer ", "user": "Where no answer depends on it, add user ", "model": "", PartEndpoint: "", PartMessage: "", "ignored": ""} {
		d := &Diagnosis{Why: whyScope, Scopes: 1, Differs: []difference{{Part: part, Byte: -1}}}
		if got := d.Repair(); !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%s: %q", part, got)
		}
	}
}
