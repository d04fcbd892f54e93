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
const checkVersion = 2

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
	P        float64      // the estimated probability that the answer is right; 0 where it cannot be served at all
	Edits    []edits.Edit // by which the prompts differ; the last one has class 0 where it is not listed
	Veto     Veto         // Pass where there is none
	Case     evidence.Case

	bar bar
	max float64 // the error rate that P was compared with
}

// bar is what stands against serving.
type bar uint8

const (
	none      bar = iota
	vetoed        // Verdict.Veto
	data          // the text is data for an earlier turn or the system prompt
	fixed         // one of the prompts has no normal form
	task          // the prompt treats a text as data
	notListed     // a difference is not a listed edit
	unsure        // P is too low
	drawn         // chosen to be compared
)

// Judge decides whether what was answered to one prompt answers another.
type Judge struct {
	// Words says that the similarities are of words, not of meaning: then every difference must be a listed edit.
	Words bool
	// MaxError is δ, the largest expected share of wrong answers among those served by meaning. With 0, only equal normal forms are served,
	// and nothing is explored. A request may have its own.
	MaxError float64
	// Rates are the estimates; nil has the priors alone.
	Rates *evidence.Rates
}

// Context is what a decision depends on beside the two prompts.
type Context struct {
	Tenant, Scope, Topic uint64
	Similarity           float64 // cosine of the prompts, above the hit gate in force; 0 where it was not computed
	Data                 bool    // what stands before the prompts treats them as data: see normal.TreatsAsData
	Draw                 float64 // a uniform random number in [0, 1) that decides whether to explore
	MaxError             float64 // of this request, in place of the judge's; negative: none; 0: the judge's
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
	switch {
	case stored.Prompt == asked.Prompt:
		v.Decision, v.P = Serve, 1
		return v
	case c.Data:
		v.bar = data
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
		j.of(c.MaxError).decide(&v, c.Draw)
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
	return evidence.Case{Tenant: c.Tenant, Scope: c.Scope, Topic: c.Topic, Space: j.Rates.Space(), Similarity: c.Similarity}
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

// decide compares the estimate with what is allowed.
func (j *Judge) decide(v *Verdict, draw float64) {
	p, n := j.Rates.P(&v.Case)
	v.P, v.max = p, allowed(j.MaxError, isForm(&v.Case))
	switch v.Case.Hit = v.P > 0 && 1-v.P <= v.max; {
	case !v.Case.Hit && j.MaxError > 0:
		v.Decision, v.bar = Explore, unsure
	case !v.Case.Hit:
		v.Decision, v.bar = Miss, unsure
	case j.MaxError > 0 && draw < explore(&v.Case, n):
		v.Decision, v.bar = Explore, drawn
	default:
		v.Decision = Serve
	}
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

// Serves reports whether an answer that was found in a case would be served by the estimates of now, to a request with this maxError, as in
// Context. It needs no prompts, for answers that were judged before.
func (j *Judge) Serves(c *evidence.Case, maxError float64) bool {
	if j.Words && !c.Explained {
		return false
	}
	p, _ := j.Rates.P(c)
	return Allows(p, j.of(maxError).MaxError, isForm(c))
}

// Allows reports whether an answer that is right with probability p is served where the error rate is maxError; form says that the normal
// forms of the prompts are equal.
func Allows(p, maxError float64, form bool) bool {
	most := allowed(maxError, form)
	return most > 0 && p > 0 && 1-p <= most
}

// explore is the share of hits whose answer is compared with the upstream's. One in 50 keeps the estimates current. More are compared while
// little was seen, so that what is wrong here is found early: of similarities, which have no table behind them, every other one at first, and
// two in n after n comparisons; of a class of edits one in eight for its first 16 comparisons. Whatever the share of wrong answers, as many of
// them are served before the first one is found as there are hits for each comparison, less one.
func explore(c *evidence.Case, n int) float64 {
	const floor = 1.0 / 50
	switch {
	case !c.Explained:
		return max(floor, min(1.0/2, 2/float64(max(n, 1))))
	case len(c.Edits) > 0 && n < 16:
		return 1.0 / 8
	}
	return floor
}

// Bar names what prevents serving in one or two words, "" where nothing does: for tables and metrics. Veto says which veto it is.
func (v *Verdict) Bar() string { return barNames[v.bar] }

var barNames = [...]string{none: "", vetoed: "veto", data: "data before it", fixed: "fixed", task: "task on text", notListed: "not listed", unsure: "unsure", drawn: "drawn"}

// Refusals that are not made by comparing words.
const (
	Unlisted Veto = "unlisted" // a difference is not a listed edit
	Data     Veto = "data"     // a prompt, or what is before it, treats a text as data
	Fixed    Veto = "fixed"    // a prompt has no normal form
	Unsure   Veto = "unsure"   // the estimated probability is too low
)

// Refusal is why an answer must not be served, in one word: its veto, or another reason. Pass: it may.
func (v *Verdict) Refusal() Veto {
	switch v.bar {
	case data, task:
		return Data
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
	case data:
		return "what is before the prompt treats it as data: only the very same prompt shares its answer"
	case fixed:
		return "a prompt has parts that cannot be normalised: only the very same prompt shares its answer"
	case task:
		return "a prompt treats a text as data: beside courtesy, every difference counts"
	case notListed:
		return "a difference is not a listed edit: an embedder that compares meaning, or an edit that is listed, would be needed"
	case unsure:
		return fmt.Sprintf("right with an estimated probability of %.4f, and %.4f is needed: comparisons that come out the same raise it", v.P, 1-v.max)
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
