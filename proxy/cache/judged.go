package cache

import (
	"reprise/policy"
	"reprise/store"
	"reprise/topics/reuse"
	"reprise/topics/reuse/evidence"
)

// Judged is a stored answer on which other settings could decide otherwise than those in force: no veto and no difference that is not listed
// keeps it from another prompt, but a gate or an error rate may.
type Judged struct {
	Seq  int64 // number of the request
	Case evidence.Case
	Same bool // the prompts are the same
	Form bool // the prompts have equal forms: no gate counts
	// Trust is that of the request.
	Trust reuse.Trust
	// Weight is how many requests it represents: only some look below the gate.
	Weight  int
	Outcome evidence.Outcome // of the comparison with the upstream's answer, which whoever keeps it adds
}

const (
	// belowShare is of how many requests one looks below the gate.
	belowShare = 16
	// BelowGate is how far below the gate it looks.
	BelowGate = 0.1
)

// looksBelow is the least similarity of what is noted of the request, 0 where that is the gate.
func (s *search) looksBelow() float64 {
	if !s.c.opt.Studied || s.r.At.Seq%belowShare != 0 {
		return 0
	}
	return s.c.opt.gate(s.r) - BelowGate
}

// below notes the nearest answer below the gate where nothing above it may serve.
func (s *search) below() {
	near := s.f.Route.Nearest
	if s.looksBelow() == 0 || s.f.Judged != nil || s.f.Hit != nil || near.ID == 0 || near.Score >= s.c.opt.gate(s.r) {
		return
	}
	e, ok := s.c.state.store.Get(policy.ID(near.ID))
	if !ok || !s.r.comparableTo(e) || s.r.bar(e, s.c.opt.Now()) != "" || s.c.verdicts.refuses(s.r.Key, e) {
		return
	}
	v := s.c.learner.judge(s.r, s.f, e, nil, near.Score, neverExplore)
	s.f.almost(s.r, e, &v, near.Score, true)
	s.note(e, &v, near.Score, belowShare)
}

// note keeps a verdict on an answer, unless it cannot be served whatever the settings. One that decides replaces those before.
func (s *search) note(e *store.Entry, v *reuse.Verdict, similarity float64, weight int) {
	if !s.c.opt.Studied || v.P == 0 || s.f.Judged != nil && v.Decision == reuse.Miss {
		return
	}
	s.f.Judged = &Judged{Seq: s.r.At.Seq, Case: v.Case, Same: e.Prompt == s.r.Prompt, Form: basisOf(v, e.Prompt, s.r.Prompt) == ByForm, Trust: s.r.Trust, Weight: weight}
	s.f.Judged.Case.Similarity = similarity
}
