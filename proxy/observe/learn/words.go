package learn

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// words say what became of a pair, beside its kind.
func words(r *Reviewed) string {
	switch r.Kind {
	case kindCompared, kindShadow:
		return sentence(found(r)) + " " + compared(r)
	case kindBelow:
		return fmt.Sprintf("The similarity %.4f is below the hit threshold.", r.Similarity)
	case kindRefused:
		return sentence(r.Decision.Why())
	}
	return sentence(found(r))
}

// found is why the answer was found.
func found(r *Reviewed) string {
	switch {
	case len(r.Edits) > 0:
		return "every difference is a listed edit (" + strings.Join(r.Edits, ", ") + ")"
	case r.Kind != kindServed && r.Basis == "form":
		return "the normal forms are equal"
	case r.Decision.P == 1 && !r.Decision.Case.Explained: // else the key would be the same, too
		return "the prompts are the same, and earlier turns differ only in their words"
	}
	return r.Decision.Why()
}

func sentence(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[size:] + "."
}

func compared(r *Reviewed) string {
	switch {
	case r.Why != "":
		return "There was nothing to compare: " + r.Why + "."
	case r.Outcome == "same":
		return "The upstream's answer says the same."
	case r.Outcome == "different":
		return "The upstream's answer says something else: the stored one does not serve this request."
	}
	return "Whether the upstream's answer says the same could not be decided."
}

// effect says what a verdict does.
func effect(r *Reviewed, right bool) string {
	const undo = " It counts in 10 seconds, unless it is taken back."
	switch {
	case r.Decision.P == 0 && right:
		return "This refusal was needless. It is counted, and changes no rule: what is not known to be safe is not served." + undo
	case r.Decision.P == 0:
		return "This refusal was needed." + undo
	case right:
		return "The answer is right for this request, and the estimate of its class goes up." + undo
	}
	return fmt.Sprintf("At this proxy entry %d does not answer this request any more, and the estimate of its class goes down.", r.Entry) + undo +
		" From then on it holds for the other proxies of a shared store, and after a crash."
}
