package cache

import (
	"testing"
	"time"

	"reprise/store"
	"reprise/topics/reuse"
	"reprise/topics/reuse/evidence"
	"reprise/topics/reuse/normal"
)

// bounded is a judge that serves where a request allows at least one wrong answer in a hundred.
type bounded struct{}

func (bounded) Forms(stored, asked *normal.Form, c reuse.Context) reuse.Verdict {
	v := reuse.Verdict{P: 0.99, Case: evidence.Case{Tenant: c.Tenant, Scope: c.Scope, Similarity: c.Similarity, Explained: true, Hit: true}}
	if stored.Prompt == asked.Prompt || c.MaxError >= 0.01 {
		v.Decision = reuse.Serve
	}
	return v
}

func (bounded) Serves(_ *evidence.Case, maxError float64, _ reuse.Trust) (bool, float64) {
	return maxError >= 0.01, 0
}

// TestErrorRateOfRequest: each request is judged by its own error rate, also where it comes to an alias, or the turn before it does.
func TestErrorRateOfRequest(t *testing.T) {
	r := newRig(t, func(_ *store.Options, o *Options) { o.Judge = func(*evidence.Rates) Judge { return bounded{} } })
	strict, loose := func(q *Request) { q.MaxError = -1 }, func(q *Request) { q.MaxError = 0.01 }
	const asked, again = "How do I reset the router?", "hello, how do I reset the router"
	r.wants(r.request(asked, loose), "miss", 1)
	r.wants(r.request(again, loose), "semantic", 1)
	r.wants(r.request(again, loose), "alias", 1)
	if hit, _, _ := r.Lookup(t.Context(), r.request(again, strict)); hit != nil {
		t.Error("an alias leads a strict request to an answer of another prompt")
	}
	turn := Turn{Key: keyOf(again), Answer: [32]byte{1}, AnswerText: keyOf("answer to " + asked)}
	in := func(change func(*Request)) *Request {
		return r.request("And then?", change, func(q *Request) { q.Turns = []Turn{turn} })
	}
	if loose, strict := r.state.turns.chain(in(loose)), r.state.turns.chain(in(strict)); loose == strict {
		t.Error("the turn of a strict request is that of another prompt")
	}
	r.wants(r.request(again, strict), "miss", 2)
	r.wants(r.request(again, strict), "exact", 2)
}

// TestGateOfRequest: the gate of a rule counts as that of the index does, and that of a client keeps forms from being looked up.
func TestGateOfRequest(t *testing.T) {
	at := func(gate float64) func(*Request) { return func(q *Request) { q.Gate = gate } }
	r, _ := newJudged(t)
	r.wants(r.request(long("k", 40)), "miss", 1)
	if f := r.find(t.Context(), r.request(long("a", 42), at(1))); f.Hit != nil || f.Basis == ByEdits {
		t.Errorf("under the gate of its rule: %+v", f)
	}
	if f := r.find(t.Context(), r.request(long("k", 40)+".", at(1))); f.Hit == nil || f.Basis != ByForm {
		t.Errorf("by form: %+v", f)
	}
	if x, err := r.Explain(t.Context(), r.request(long("a", 42), at(0.9999))); err != nil || x.Hit != nil || x.Thresholds.Hit != 0.9999 {
		t.Errorf("%+v, %v", x, err)
	}
	if f := r.find(t.Context(), r.request(long("a", 42), at(0.001))); f.Hit == nil {
		t.Error("a gate below that of the index has an effect")
	}
}

// TestLifeOfRequest: an answer is as old as the request allows at most, and may replace an error for as long after that as after its own life.
func TestLifeOfRequest(t *testing.T) {
	r := newRig(t)
	short := func(q *Request) { q.TTL = time.Minute }
	r.wants(r.request(letters(40)), "miss", 1)
	r.wants(r.request(letters(40), short), "exact", 1)
	r.wants(r.request(letters(41), short), "semantic", 1)
	r.pass(time.Minute)
	for _, n := range []int{40, 41, 42} {
		if hit, stale, _ := r.Lookup(t.Context(), r.request(letters(n), short)); hit != nil || stale != nil {
			t.Errorf("%d letters: %v, %v", n, hit, stale)
		}
		if f := r.find(t.Context(), r.request(letters(n), short)); f.Hit != nil {
			t.Errorf("%d letters: %+v", n, f)
		}
	}
	r.wants(r.request(letters(40)), "exact", 1)
	lasting := r.request(letters(90))
	f := r.find(t.Context(), lasting)
	e := r.entry(lasting, f)
	e.StaleUntil = e.Expires.Add(time.Minute)
	if _, _, err := r.Keep(t.Context(), lasting, f, e); err != nil {
		t.Fatal(err)
	}
	for after, want := range map[time.Duration]bool{90 * time.Second: true, 2 * time.Minute: false} {
		q := r.request(letters(90), short)
		r.set(e.Created.Add(after))
		hit, stale, _ := r.Lookup(t.Context(), q)
		if hit != nil || (stale != nil) != want || (r.Stale(t.Context(), q, stale) != nil) != want {
			t.Errorf("after %v: %v, %v", after, hit, stale)
		}
	}
}
