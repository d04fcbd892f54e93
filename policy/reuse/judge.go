package reuse

import (
	"reprise/policy/reuse/edits"
	"reprise/policy/reuse/evidence"
	"reprise/policy/reuse/normal"
)

// Version is that of everything that a verdict depends on beside the evidence: normal form, list of edits, vetoes. A verdict of another
// version is not used again.
const Version = normal.Version<<8 | edits.Version

// Decision is what to do with an answer that was found.
type Decision uint8

const (
	Miss    Decision = iota // another question, for all that is known
	Explore                 // ask the upstream, and compare its answer with the stored one
	Serve                   // it answers the prompt
)

// Verdict is the decision on one stored answer, and why.
type Verdict struct {
	Decision Decision
	P        float64      // the estimated probability that the answer is right; 0 with a Veto
	Edits    []edits.Edit // by which the prompts differ; the last one has class 0 where it is not listed
	Veto     Veto         // Pass where there is none
	Case     evidence.Case
}

// Judge decides whether what was answered to one prompt answers another.
type Judge struct {
	// Words says that the similarities are of words, not of meaning: then every difference must be a listed edit.
	Words bool
	// MaxError is δ, the largest expected share of wrong answers among those served by meaning.
	MaxError float64
	Rates    *evidence.Rates
}

// Context is what a decision depends on beside the two prompts.
type Context struct {
	Scope, Topic uint64
	Similarity   float64 // cosine of the prompts; 0 where it was not computed
	Data         bool    // what stands before the prompts treats them as data: see normal.TreatsAsData
	Draw         float64 // a uniform random number in [0, 1) that decides whether to explore
}

// Judge decides whether the answer of stored may serve asked.
func (j *Judge) Judge(stored, asked string, c Context) Verdict {
	if stored == asked {
		return Verdict{Decision: Serve, P: 1}
	}
	check := Check
	if j.Words {
		check = Strict
	}
	if v := check(stored, asked); v != Pass {
		return Verdict{Veto: v}
	}
	return Verdict{Decision: Serve, P: 1 - j.MaxError}
}
