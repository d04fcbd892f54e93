package cache

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"reprise/embed"
	"reprise/store"
	"reprise/topics/reuse"
	"reprise/topics/reuse/evidence"
	"reprise/topics/reuse/normal"
)

// Judge decides on the answers that were found. *reuse.Judge is one. It must be safe for concurrent use.
type Judge interface {
	// Forms decides whether the answer of stored may serve asked.
	Forms(stored, asked *normal.Form, c reuse.Context) reuse.Verdict
	// Serves reports whether answers are served in a case like c, to a request with this error rate and trust, as in reuse.Context, and the share
	// of them that is compared.
	Serves(c *evidence.Case, maxError float64, trust reuse.Trust) (serves bool, explore float64)
}

var _ Judge = (*reuse.Judge)(nil)

// Vetoes makes judges for Options.Judge that serve what check does not veto, whatever was counted.
func Vetoes(check func(stored, asked string) reuse.Veto) func(*evidence.Rates) Judge {
	return func(*evidence.Rates) Judge { return vetoes(check) }
}

type vetoes func(stored, asked string) reuse.Veto

func (v vetoes) Forms(stored, asked *normal.Form, _ reuse.Context) reuse.Verdict {
	if veto := v(stored.Prompt, asked.Prompt); veto != reuse.Pass {
		return reuse.Verdict{Veto: veto}
	}
	return reuse.Verdict{Decision: reuse.Serve, P: 1}
}

func (v vetoes) Serves(*evidence.Case, float64, reuse.Trust) (bool, float64) { return true, 0 }

// learner is the part of a Cache that decides on what was found, by what was counted of earlier decisions.
type learner struct {
	judgeBy func(*evidence.Rates) Judge // nil: no answer that was found is refused
	forms   *forms                      // nil: no forms are kept
	// templates are the frames, which are kept beside what was counted.
	templates *templates
	draw      func() float64
	drawn     bool // at random: it is not that of a test
	log       Log  // gets each sample; nil: none
	meaning   atomic.Pointer[meaning]

	learning sync.Mutex // held while a sample is counted; protects book
	book     *evidence.Book

	current atomic.Pointer[judging]
}

// judging is a judge with its rates.
type judging struct {
	Judge // nil: none is refused
	rates *evidence.Rates
}

// meaning is what similarities are of.
type meaning struct {
	of      evidence.Embedder
	space   uint64 // the id of its space
	version uint16 // of the bases of aliases
}

func newMeaning(e embed.Embedder) *meaning {
	var of evidence.Embedder
	if e != nil {
		of = evidence.Embedder{Space: e.Space(), Gate: e.Thresholds().Hit}
	}
	return &meaning{of, evidence.ID(of.Space), versionOf(of.Space)}
}

func newLearner(o *Options, kept *forms, t *templates) *learner {
	l := &learner{judgeBy: o.Judge, forms: kept, templates: t, draw: o.Draw, book: o.Evidence}
	now := newMeaning(o.Embedder)
	l.meaning.Store(now)
	if l.draw == nil {
		l.draw, l.drawn = rand.Float64, true
	}
	if l.book == nil {
		l.book = evidence.NewBook(now.of)
	}
	l.renewLocked() // no other goroutine has it yet
	l.keepEvidence(o)
	return l
}

func (l *learner) renewLocked() {
	now := &judging{rates: l.book.Rates()}
	if l.judgeBy != nil {
		now.Judge = l.judgeBy(now.rates)
	}
	l.current.Store(now)
}

// Learn counts an observation. Decisions go by it from then on.
func (l *learner) Learn(s evidence.Sample) {
	l.learning.Lock()
	defer l.learning.Unlock()
	l.book.Add(s)
	l.renewLocked()
	if l.log != nil {
		l.log.Read(&Event{Kind: store.EventSample, Sample: s.Append(nil)}, nil)
	}
}

// Rates returns the estimates in force.
func (l *learner) Rates() *evidence.Rates { return l.current.Load().rates }

// neverExplore is a draw with which nothing is explored that would be served.
const neverExplore = 1 - 1.0/(1<<53)

// goesOn reports whether a verdict would explore, in the middle of a conversation that was led with stored answers, what the list explains. The new
// answer would be in other words, and no later turn of that conversation would find the stored one; the first turns are compared for all. Turns that
// nobody has asked, as examples in front of each request, are compared like first ones.
func goesOn(r *Request, f *Finding, v *reuse.Verdict) bool {
	return len(r.Turns) > 0 && f.Parent != 0 && v.Decision == reuse.Explore && v.Case.Hit && v.Case.Explained
}

// drawFor returns the draw of a request. Where an operator grants trust, every hundredth request is compared, if it is a hit: that says as much as one
// that is drawn, and a few requests after a start are answered as the operator expects.
func (l *learner) drawFor(r *Request) float64 {
	switch {
	case r.NoExplore || r.Shadow:
		return neverExplore
	case r.Trust == reuse.Granted && l.drawn:
		return 1 - float64(1+r.At.Seq%100)/100
	}
	return l.draw()
}

// judge decides whether e, found at a similarity, may serve r. Where there is nothing to compare, what was found is right. stored is the form
// of e's prompt, nil where it has not been made.
func (l *learner) judge(r *Request, f *Finding, e *store.Entry, stored *normal.Form, similarity, draw float64) reuse.Verdict {
	by := l.current.Load()
	if by.Judge == nil || e.Prompt == "" || r.Prompt == "" {
		return reuse.Verdict{Decision: reuse.Serve, P: 1}
	}
	if stored == nil {
		stored = l.forms.of(e)
	}
	c := reuse.Context{Tenant: evidence.ID(e.Tenant), Similarity: similarity, Draw: draw, MaxError: r.MaxError, Trust: r.Trust}
	if c.Differ = e.Prompt != r.Prompt; c.Differ {
		if c.Scope, c.Family = placeOf(r, e); f.place(r).free && c.Trust == reuse.Granted {
			c.Trust = reuse.Earned // which part of a prompt asks is for the operator to say, not for a guess
		}
		c.Question = questionOf(stored)
	}
	return by.Judge.Forms(stored, f.formOf(r), c)
}

// formOf is the form of what r's prompt asks, which is made once.
func (f *Finding) formOf(r *Request) *normal.Form {
	if f.form == nil {
		f.form = normal.Of(f.place(r).text)
	}
	return f.form
}

// basisOf is that of a verdict on an answer to stored for asked.
func basisOf(v *reuse.Verdict, stored, asked string) Basis {
	switch {
	case stored == asked && asked != "" || v.Case.Explained && len(v.Case.Edits) == 0:
		return ByForm
	case v.Case.Explained:
		return ByEdits
	}
	return ByMeaning
}
