package whatif

import (
	"math"
	"strings"
	"testing"

	"reprise/proxy/cache"
	"reprise/topics/reuse/evidence"
)

const space = "test"

// judging is by meaning, with a gate of 0.9, before anything was seen but the pairs.
func judging(book *evidence.Book) *Judging {
	return &Judging{MaxError: 0.01, Threshold: 0.9, Lowest: 0.8, Rates: book.Rates}
}

// trusting is a book of a scope that has earned trust in equal forms, and has just begun to trust vectors.
func trusting() *evidence.Book {
	b := evidence.NewBook(evidence.Embedder{Space: space, Gate: 0.9})
	for i := range 250 {
		form, near := evidence.Case{Tenant: 1, Scope: 1, Explained: true}, evidence.Case{Tenant: 1, Scope: 1, Space: evidence.ID(space), Similarity: 0.1}
		b.Add(evidence.Sample{Case: form, Outcome: evidence.Same, Source: evidence.Operator})
		if i < evidence.First {
			b.Add(evidence.Sample{Case: near, Outcome: evidence.Same, Source: evidence.Operator})
		}
	}
	return b
}

// near is a pair of prompts of that similarity.
func near(seq int64, similarity float64) *cache.Judged {
	return &cache.Judged{Seq: seq, Weight: 1, Case: evidence.Case{Tenant: 1, Scope: 1, Space: evidence.ID(space), Similarity: similarity}}
}

func rowOf(t *testing.T, all []option, value float64) option {
	t.Helper()
	for _, o := range all {
		if math.Abs(o.Value-value) < 1e-9 {
			return o
		}
	}
	t.Fatalf("no row for %v in %+v", value, all)
	return option{}
}

func TestOtherThresholds(t *testing.T) {
	p := NewPairs()
	for i := range int64(100) { // 0.90 to 0.99, ten of each
		p.Judge(near(10*i+1, 0.90+float64(i%10)/100))
	}
	p.Judge(near(1000, 0.95))
	p.Judge(&cache.Judged{Seq: 981, Outcome: evidence.Different}) // of 0.98
	p.Judge(&cache.Judged{Seq: 991, Outcome: evidence.Same})      // of 0.99
	p.Judge(&cache.Judged{Seq: 7, Outcome: evidence.Different})   // which is not among them
	below := near(990, 0.85)
	below.Weight = 16
	p.Judge(below)
	all, requests := p.copies()
	r := judging(trusting()).reuseOf(all, requests)
	if r.Requests != 1000 || r.Pairs != 102 || r.Compared != 2 {
		t.Fatalf("%+v", r)
	}
	now := rowOf(t, r.Rows, 0.9)
	if !now.Now || now.Served != 101 || now.Change != 0 || now.Pairs != 101 || now.Compared != 2 || now.Different != 1 || math.Abs(now.Expected-0.5/55) > 1e-9 || now.Set != "REPRISE_HIT_THRESHOLD=0.9" {
		t.Errorf("now: %+v", now)
	}
	if _, high := evidence.Wilson(1, 2); now.Bound != high {
		t.Errorf("bound %v, want %v", now.Bound, high)
	}
	if o := rowOf(t, r.Rows, 0.95); o.Served != 51 || o.Change != -50 {
		t.Errorf("0.95: %+v", o)
	}
	// Below the gate the prior expects 3.6 % of wrong answers, which the error rate refuses.
	if o := rowOf(t, r.Rows, 0.85); o.Change != 0 {
		t.Errorf("0.85: %+v", o)
	}
	if o := rowOf(t, r.Rates, 0.005); o.Served != 0 || o.Change != -101 || o.Expected != 0 {
		t.Errorf("error rate 0.005: %+v", o)
	}
	if o := rowOf(t, r.Rates, 0.01); !o.Now || o.Set != "REPRISE_MAX_ERROR_RATE=0.01" {
		t.Errorf("error rate 0.01: %+v", o)
	}
	lax := judging(trusting())
	lax.MaxError = 0.05
	if o := rowOf(t, lax.reuseOf(all, requests).Rows, 0.85); o.Change != 16 || o.Pairs != 102 || o.Expected < 0.5/55 || o.Expected > 0.036 || o.Bound <= now.Bound {
		t.Errorf("0.85 with an error rate of 0.05: %+v", o)
	}
	for _, o := range r.Rows {
		if o.Value <= 0.8 || o.Value > 1 {
			t.Errorf("threshold %v is not allowed", o.Value)
		}
	}
}

// TestWhatNoGateChanges: equal forms are served at every threshold and error rate, and only listed edits behind an embedder of words.
func TestWhatNoGateChanges(t *testing.T) {
	p := NewPairs()
	for i := range int64(40) {
		form := near(3*i+1, 0)
		form.Form, form.Case.Explained = true, true
		p.Judge(form)
		same := near(3*i+2, 0)
		same.Same, same.Form = true, true
		p.Judge(same)
		p.Judge(near(3*i+3, 0.99))
	}
	all, requests := p.copies()
	j := judging(trusting())
	j.Words = true
	r := j.reuseOf(all, requests)
	for _, o := range append(r.Rows, r.Rates...) {
		if o.Pairs != 80 || o.Change != 0 {
			t.Errorf("%s: %+v", o.Set, o)
		}
	}
	if !strings.Contains(strings.Join(r.Notes, " "), "only listed edits") {
		t.Errorf("notes %q", r.Notes)
	}
}

func TestFewPairs(t *testing.T) {
	p := NewPairs()
	p.Judge(near(1, 0.95))
	all, requests := p.copies()
	r := judging(evidence.NewBook(evidence.Embedder{Space: space})).reuseOf(all, requests)
	if len(r.Rows) != 0 || len(r.Rates) != 0 || len(r.Notes) != 1 || !strings.HasPrefix(r.Notes[0], "1 answers were judged") {
		t.Errorf("%+v", r)
	}
}

// TestPairsAreTheLast: old ones leave, and their outcomes with them.
func TestPairsAreTheLast(t *testing.T) {
	p := NewPairs()
	for i := range int64(mostPairs + 10) {
		p.Judge(near(i+1, 0.95))
	}
	p.Judge(&cache.Judged{Seq: 5, Outcome: evidence.Same})
	p.Judge(&cache.Judged{Seq: 11, Outcome: evidence.Same})
	all, requests := p.copies()
	compared := 0
	for i := range all {
		if all[i].Outcome != evidence.Unknown {
			compared++
		}
	}
	if len(all) != mostPairs || requests != mostPairs || compared != 1 || len(p.place) != mostPairs {
		t.Errorf("%d pairs of %d requests, %d compared, %d places", len(all), requests, compared, len(p.place))
	}
}
