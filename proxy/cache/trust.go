package cache

import (
	"encoding/binary"
	"strings"

	"reprise/store"
	"reprise/topics/frames"
	"reprise/topics/reuse"
	"reprise/topics/reuse/evidence"
	"reprise/topics/reuse/normal"
)

// placeOf is the scope and the family of the evidence on whether e answers r. All that stands before a prompt may say what is to be done with it:
// the system message and the frame, which are in the scope of the entry, earlier turns, and a document or an order in front. So the evidence belongs to
// all of them together; but what is in the slots of a frame is data. The family has what these have in common beside dates and numbers in the
// system message, that there are earlier turns at all, the frame, and of what is in front without one the first line and the label.
func placeOf(r *Request, e *store.Entry) (scope, family uint64) {
	scope = store.Key(e.Scope).Short()
	if r.Family != nil {
		family = r.Family()
	}
	framed := e.Scope != r.Scope
	if e.Chain != ([32]byte{}) && (!framed || len(r.Turns) > 0) {
		scope = evidence.Mix(scope, binary.LittleEndian.Uint64(e.Chain[:]))
	}
	if len(r.Turns) > 0 {
		family = evidence.Mix(family, 1)
	}
	if framed {
		family = evidence.Mix(family, store.Key(e.Scope).Short())
	} else if front := e.Prompt[:frames.Front(e.Prompt)]; front != "" {
		first, _, _ := strings.Cut(front, "\n")
		family = evidence.Mix(family, evidence.ID(first+front[strings.LastIndexByte(front, '\n'):]))
	}
	return scope, family
}

// trustOf is who says that e answers r, whose key is an alias of it. Which part of a prompt asks is for the operator to say, not for a guess.
func (l *learner) trustOf(r *Request, e *store.Entry) reuse.Trust {
	if r.Trust == reuse.Granted && e.Scope != r.Scope && l.templates.asks(e).free {
		return reuse.Earned
	}
	return r.Trust
}

// questionOf is a digest of what a prompt asks, the same in all processes.
func questionOf(form *normal.Form) uint64 {
	var room [2048]byte
	return evidence.ID(string(form.Append(room[:0])))
}

// probes reports whether an answer to r itself, which was found under its key, is not served but compared with the upstream's: comparisons in its scope
// say too little, and what two answers to an equal prompt differ by there is not known yet.
func (l *learner) probes(r *Request, e *store.Entry) bool {
	return l.Rates().Curious() && !r.NoExplore && l.draw() < l.wantsNoise(r, e)
}

// wantsNoise is the share of the answers to prompts like that of e, which r has, that is compared with new ones.
func (l *learner) wantsNoise(r *Request, e *store.Entry) float64 {
	by := l.current.Load()
	if by.Judge == nil || r.Shadow || r.ExactOnly || r.Private || r.Prompt == "" || e.Prompt != r.Prompt || len(r.Turns) > 0 {
		return 0
	}
	scope, _ := placeOf(r, e)
	return by.rates.WantsNoise(evidence.ID(e.Tenant), scope)
}

// repeated is what comparing an answer of e with another one to the same prompt counts for.
func repeated(r *Request, e *store.Entry) evidence.Case {
	scope, _ := placeOf(r, e)
	return evidence.Case{Tenant: evidence.ID(e.Tenant), Scope: scope}
}
