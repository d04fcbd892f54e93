package cache

import (
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"reprise/policy"
	"reprise/policy/reuse"
	"reprise/policy/reuse/evidence"
	"reprise/store"
)

// Judge decides on the answers that were found. *reuse.Judge is one. It must be safe for concurrent use.
type Judge interface {
	// Judge decides whether the answer of stored may serve asked.
	Judge(stored, asked string, c reuse.Context) reuse.Verdict
	// Serves reports whether answers are served in a case like c.
	Serves(c *evidence.Case) bool
}

var _ Judge = (*reuse.Judge)(nil)

// Vetoes makes judges for Options.Judge that serve what check does not veto, whatever was counted.
func Vetoes(check func(stored, asked string) reuse.Veto) func(*evidence.Rates) Judge {
	return func(*evidence.Rates) Judge { return vetoes(check) }
}

type vetoes func(stored, asked string) reuse.Veto

func (v vetoes) Judge(stored, asked string, _ reuse.Context) reuse.Verdict {
	if veto := v(stored, asked); veto != reuse.Pass {
		return reuse.Verdict{Veto: veto}
	}
	return reuse.Verdict{Decision: reuse.Serve, P: 1}
}

func (v vetoes) Serves(*evidence.Case) bool { return true }

// learner is the part of a Cache that decides by what was counted of earlier decisions.
type learner struct {
	judgeBy func(*evidence.Rates) Judge // nil: no answer that was found is refused
	draw    func() float64
	shadow  bool
	learned func(evidence.Sample)

	learning sync.Mutex // protects book
	book     *evidence.Book

	current atomic.Pointer[judging]
}

// judging is a judge with its rates.
type judging struct {
	Judge // nil: none is refused
	rates *evidence.Rates
}

func newLearner(o *Options) *learner {
	l := &learner{judgeBy: o.Judge, draw: o.Draw, shadow: o.Shadow, learned: o.Learned, book: o.Evidence}
	if l.draw == nil {
		l.draw = rand.Float64
	}
	if l.learned == nil {
		l.learned = func(evidence.Sample) {}
	}
	if l.book == nil {
		l.book = evidence.NewBook(evidence.Embedder{})
	}
	l.renewLocked() // no other goroutine has it yet
	return l
}

func (l *learner) renewLocked() {
	now := &judging{rates: l.book.Rates()}
	if l.judgeBy != nil {
		now.Judge = l.judgeBy(now.rates)
	}
	l.current.Store(now)
}

// neverExplore is a draw with which nothing is explored that would be served.
const neverExplore = 1 - 1.0/(1<<53)

// decision is what follows from a verdict.
type decision uint8

const (
	passOver   decision = iota // the next candidate may serve
	goUpstream                 // none may
	serve
)

// judge decides whether e, found at a similarity, may serve r. Where there is nothing to compare, what was found is right.
func (l *learner) judge(r *Request, f *Finding, e *store.Entry, similarity, draw float64) reuse.Verdict {
	by := l.current.Load()
	if by.Judge == nil || e.Prompt == "" || r.Prompt == "" {
		return reuse.Verdict{Decision: reuse.Serve, P: 1}
	}
	c := reuse.Context{Tenant: evidence.ID(e.Tenant), Scope: store.Key(e.Scope).Short(), Topic: uint64(e.Topic), Similarity: similarity, Draw: draw}
	if e.Prompt != r.Prompt {
		c.Data = f.treatsAsData(r)
	}
	return by.Judge.Judge(e.Prompt, r.Prompt, c)
}

// treatsAsData is Request.Data, which is called once.
func (f *Finding) treatsAsData(r *Request) bool {
	if r.Data != nil && !f.dataKnown {
		f.data, f.dataKnown = r.Data(), true
	}
	return f.data
}

// decide judges a hit, and notes in f what follows.
func (l *learner) decide(r *Request, f *Finding, hit *Hit, similarity float64) decision {
	draw := neverExplore
	if !r.NoExplore && !l.shadow {
		draw = l.draw()
	}
	v := l.judge(r, f, hit.Entry, similarity, draw)
	switch v.Decision {
	case reuse.Miss:
		if v.Veto != reuse.Pass {
			f.Vetoes = append(f.Vetoes, v.Veto)
		}
		return passOver
	case reuse.Serve:
		f.Verdict, f.Basis = v, basisOf(&v)
		if f.Shadow = l.shadow; f.Shadow {
			f.Explore = hit
			return goUpstream
		}
		return serve
	}
	wouldServe := draw < neverExplore && l.judge(r, f, hit.Entry, similarity, neverExplore).Decision == reuse.Serve
	if f.Explore == nil || wouldServe {
		f.Explore, f.Fallback, f.Verdict, f.Basis = hit, wouldServe, v, basisOf(&v)
	}
	if wouldServe {
		return goUpstream
	}
	return passOver
}

// Learn counts an observation. Decisions go by it from then on.
func (l *learner) Learn(s evidence.Sample) {
	l.learning.Lock()
	defer l.learning.Unlock()
	l.book.Add(s)
	l.renewLocked()
	l.learned(s)
}

// Rates returns the estimates in force.
func (l *learner) Rates() *evidence.Rates { return l.current.Load().rates }

// Compared counts the result of comparing the stored answer of f.Explore with the upstream's answer to r.
func (l *learner) Compared(_ *Request, f *Finding, result evidence.Outcome, from evidence.Source) {
	if f.Explore != nil {
		l.Learn(evidence.Sample{Case: f.Verdict.Case, Outcome: result, Source: from})
	}
}

// Errors of Feedback.
var (
	// ErrUnknownHit: no answer of this entry was found by meaning of late, or it is of another tenant.
	ErrUnknownHit = errors.New("no answer by meaning of this entry is known")
	// ErrCounted: there was a verdict on this answer already.
	ErrCounted = errors.New("there is a verdict on this answer already")
)

// Feedback counts a verdict on the last answer of an entry that was found by meaning, among the last few thousand of these. of reports
// whether the caller may judge the answers with these labels. A wrong answer is not served for the same request again.
func (l *learner) Feedback(of func(*store.Labels) bool, id policy.ID, right bool) error {
	return ErrUnknownHit
}
