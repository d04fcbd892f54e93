package reuse

import (
	"fmt"
	"unicode"
	"unicode/utf8"

	"reprise/topics/reuse/edits"
	"reprise/topics/reuse/evidence"
	"reprise/topics/reuse/normal"
)

// Version is that of everything that a verdict depends on beside the evidence: normal form, list of edits, vetoes. A verdict of another
// version is not used again.
const Version = checkVersion<<16 | normal.Version<<8 | edits.Version

// checkVersion is that of Check and of the order in which Judge asks.
const checkVersion = 3

// Decision is what to do with an answer that was found.
type Decision uint8

const (
	Miss    Decision = iota // another question, for all that can be said
	Explore                 // ask the upstream, and compare its answer with the stored one
	Serve                   // it answers the prompt
)

// Verdict is the decision on one stored answer, and why.
type Verdict struct {
	Decision Decision
	P        float64        // the estimated probability that the answer is right; 0 where it cannot be served at all
	Trust    evidence.Trust // of the scope in what found the answer; zero where that was not asked for
	Edits    []edits.Edit   // by which the prompts differ; the last one has class 0 where it is not listed
	Veto     Veto           // Pass where there is none
	Case     evidence.Case

	bar bar
	max float64 // the error rate that P was compared with
}

// bar is what stands against serving.
type bar uint8

const (
	none      bar = iota
	vetoed        // Verdict.Veto
	fixed         // one of the prompts has no normal form
	task          // the prompt treats a text as data
	notListed     // a difference is not a listed edit
	unsure        // P is too low
	unproven      // the scope has not shown yet that such answers are right
	withdrawn     // an operator has withdrawn the scope's trust
	drawn         // chosen to be compared
)

// Judge decides whether what was answered to one prompt answers another.
type Judge struct {
	// Words says that the similarities are of words, not of meaning: then every difference must be a listed edit.
	Words bool
	// MaxError is δ, the largest expected share of wrong answers among those served by meaning. With 0, only equal normal forms are served. A
	// request may have its own.
	MaxError float64
	// Rates are the estimates; nil has the priors alone, and no scope has earned trust.
	Rates *evidence.Rates
}

// Trust is who says that answers to other prompts are right in a scope.
type Trust uint8

const (
	Earned    Trust = iota // the scope itself, by comparisons
	Granted                // an operator
	Withdrawn              // nobody: an operator has said that they are not
)

// Context is what a decision depends on beside the two prompts.
type Context struct {
	Tenant, Scope, Family, Question uint64  // as in evidence.Case
	Similarity                      float64 // cosine of the prompts, above the hit gate in force; 0 where it was not computed
	Draw                            float64 // a uniform random number in [0, 1) that decides whether to explore
	MaxError                        float64 // of this request, in place of the judge's; negative: none; 0: the judge's
	Trust                           Trust
	Differ                          bool // the prompts are not equal, though what they ask may be: white space around it differs
}

// of is the judge of a request with a MaxError of its own, as in Context.
func (j *Judge) of(maxError float64) *Judge {
	if maxError == 0 {
		return j
	}
	own := *j
	own.MaxError = max(maxError, 0)
	return &own
}

// formError is the largest error of equal forms where MaxError is 0.
const formError = 0.01

// Judge decides whether the answer of stored may serve asked. It is linear in the prompts.
func (j *Judge) Judge(stored, asked string, c Context) Verdict {
	if stored == asked {
		return Verdict{Decision: Serve, P: 1, Case: j.newCase(c)}
	}
	return j.Forms(normal.Of(stored), normal.Of(asked), c)
}

// Forms is Judge for callers that have the normal forms already.
func (j *Judge) Forms(stored, asked *normal.Form, c Context) Verdict {
	v := Verdict{Case: j.newCase(c)}
	if stored.Prompt == asked.Prompt && !c.Differ {
		v.Decision, v.P = Serve, 1
		return v
	}
	v.explain(stored, asked)
	if !j.Words && c.Similarity > 0 && (v.bar == notListed || v.bar == fixed && meaningful(stored) && meaningful(asked)) {
		v.bar = none // vetoes and meaning decide what the list leaves open
	}
	if v.bar == none && !v.Case.Explained {
		// What the list explains needs no veto: no such pair had one for a number, a negation or code, and Check refuses most other differences
		// that are listed.
		if v.Veto = Check(stored.Prompt, asked.Prompt); v.Veto != Pass {
			v.bar = vetoed
		}
	}
	if v.bar == none {
		j.of(c.MaxError).decide(&v, c)
	}
	return v
}

// meaningful reports whether a prompt that may have no normal form can be compared by meaning: it has characters of another script, but no hidden
// ones, and no table, columns or unbalanced quotes.
func meaningful(f *normal.Form) bool {
	return f.Fixed == "" || f.Fixed == normal.Characters && visible(f.Prompt)
}

func visible(prompt string) bool {
	if !utf8.ValidString(prompt) {
		return false
	}
	for _, r := range prompt {
		if unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Co, r) || unicode.IsControl(r) && r != '\n' && r != '\t' && r != '\r' {
			return false
		}
	}
	return true
}

func (j *Judge) newCase(c Context) evidence.Case {
	return evidence.Case{Tenant: c.Tenant, Scope: c.Scope, Family: c.Family, Question: c.Question, Space: j.Rates.Space(), Similarity: c.Similarity}
}

// explain sets the edits, or the bar.
func (v *Verdict) explain(stored, asked *normal.Form) {
	switch {
	case stored.Equal(asked):
		v.Case.Explained = true
		return
	case stored.Fixed != "" || asked.Fixed != "":
		v.bar = fixed
		return
	case stored.Data || asked.Data:
		v.bar = task
		return
	}
	v.Edits, v.Case.Explained = edits.Explain(stored, asked)
	if !v.Case.Explained {
		v.bar = notListed
		return
	}
	for _, e := range v.Edits {
		v.Case.Edits = append(v.Case.Edits, e.Class)
	}
}

// decide compares the estimate with what is allowed, and the trust of the scope with what is needed.
func (j *Judge) decide(v *Verdict, c Context) {
	v.max = allowed(j.MaxError, isForm(&v.Case))
	v.Trust = j.Rates.Trust(&v.Case, v.max)
	v.P = j.p(&v.Case, c.Trust)
	likely, trusted := v.P > 0 && 1-v.P <= v.max+tiny, c.Trust == Granted || v.Trust.Holds()
	v.Case.Hit = likely && trusted && c.Trust != Withdrawn
	switch {
	case c.Trust == Withdrawn:
		v.Decision, v.bar = Miss, withdrawn
	case !likely && j.MaxError == 0:
		v.Decision, v.bar = Miss, unsure
	case !trusted:
		v.Decision, v.bar = Explore, unproven
	case !likely:
		v.Decision, v.bar = Explore, unsure
	case c.Draw < j.explore(&v.Trust, c.Trust):
		v.Decision, v.bar = Explore, drawn
	default:
		v.Decision = Serve
	}
}

// p is the estimate for a case. Where an operator grants trust, what the scope has shown of the kind does not count.
func (j *Judge) p(c *evidence.Case, trust Trust) float64 {
	if trust == Granted {
		return j.Rates.Class(c)
	}
	return j.Rates.P(c)
}

// allowed is the largest error that a case may have. form says that the normal forms of the prompts are equal.
func allowed(maxError float64, form bool) float64 {
	if form && maxError == 0 {
		return formError
	}
	return maxError
}

// isForm reports whether the normal forms of the prompts are equal.
func isForm(c *evidence.Case) bool { return c.Explained && len(c.Edits) == 0 }

// Serves reports whether an answer that was found in a case would be served by the estimates of now, to a request with this maxError and trust,
// as in Context, and the share of such answers that is compared. It needs no prompts, for answers that were judged before.
func (j *Judge) Serves(c *evidence.Case, maxError float64, trust Trust) (serves bool, share float64) {
	if j.Words && !c.Explained || trust == Withdrawn {
		return false, 0
	}
	most := allowed(j.of(maxError).MaxError, isForm(c))
	t, p := j.Rates.Trust(c, most), j.p(c, trust)
	return most > 0 && p > 0 && 1-p <= most+tiny && (trust == Granted || t.Holds()), j.of(maxError).explore(&t, trust)
}

// tiny is for the rounding of estimates.
const tiny = 1e-9

// explore is the share of hits whose answer is compared. Where an operator grants trust, it is what others have in the end, and none where nothing but
// equal forms is served.
func (j *Judge) explore(t *evidence.Trust, by Trust) float64 {
	switch {
	case by != Granted:
		return t.Explore()
	case j.MaxError > 0:
		return evidence.LeastExplored
	}
	return 0
}

// Bar names what prevents serving in one or two words, "" where nothing does: for tables and metrics. Veto says which veto it is.
func (v *Verdict) Bar() string { return barNames[v.bar] }

var barNames = [...]string{none: "", vetoed: "veto", fixed: "fixed", task: "task on text", notListed: "not listed", unsure: "unsure", unproven: "unproven", withdrawn: "withdrawn", drawn: "drawn"}

// Refusals that are not made by comparing words.
const (
	Unlisted Veto = "unlisted" // a difference is not a listed edit
	Data     Veto = "data"     // a prompt treats a text as data
	Fixed    Veto = "fixed"    // a prompt has no normal form
	Unsure   Veto = "unsure"   // the estimated probability is too low
	Unproven Veto = "unproven" // the scope has not shown yet that such answers are right, or has shown that they are not
	Untrust  Veto = "trust"    // an operator has withdrawn the scope's trust
	Quoting  Veto = "quotes"   // the stored answer quotes words in which the prompts differ
)

// Refusal is why an answer must not be served, in one word: its veto, or another reason. Pass: it may.
func (v *Verdict) Refusal() Veto {
	switch v.bar {
	case task:
		return Data
	case unproven:
		return Unproven
	case withdrawn:
		return Untrust
	case fixed:
		return Fixed
	case notListed:
		return Unlisted
	case unsure:
		return Unsure
	}
	return v.Veto
}

// Why is a sentence with the reason of the decision, and for an answer that is not served, what would have to change.
func (v *Verdict) Why() string {
	switch v.bar {
	case vetoed:
		return fmt.Sprintf("veto %q: the prompts differ in what changes an answer", v.Veto)
	case fixed:
		return "a prompt has parts that cannot be normalised: only the very same prompt shares its answer"
	case task:
		return "a prompt treats a text as data: beside courtesy, every difference counts"
	case notListed:
		return "a difference is not a listed edit: an embedder that compares meaning, or an edit that is listed, would be needed"
	case unsure:
		return fmt.Sprintf("right with an estimated probability of %.4f, and %.4f is needed: comparisons that come out the same raise it", v.P, 1-v.max)
	case unproven:
		t := &v.Trust
		if t.Undecided {
			return fmt.Sprintf("of %d comparisons in this scope %d could not be decided: by %s no answer is served here until others come out the same", t.Same+t.Wrong+t.Unknown, t.Unknown, t.Kind)
		}
		return fmt.Sprintf("this scope has to show that answers found by %s are right: %d of %d comparisons came out the same, %d different", t.Kind, t.Same, t.Needed, t.Wrong)
	case withdrawn:
		return "an operator's rule says that only the very same prompt shares its answer here"
	case drawn:
		return "it would be served, and was chosen for comparing it with a new answer"
	}
	switch {
	case v.Decision != Serve:
		return "not judged"
	case v.P == 1 && !v.Case.Explained:
		return "the prompts are the same"
	case !v.Case.Explained:
		return fmt.Sprintf("a similarity of %.3f is right with an estimated probability of %.4f", v.Case.Similarity, v.P)
	case len(v.Edits) == 0:
		return "the normal forms are equal"
	}
	return fmt.Sprintf("every difference is a listed edit; right with an estimated probability of %.4f", v.P)
}
