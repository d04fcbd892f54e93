package review

import (
	"fmt"
	"strings"

	"reprise/proxy/learn"
)

// words say what became of a pair.
func words(r *learn.Reviewed) string {
	switch r.Kind {
	case learn.Served:
		return fmt.Sprintf("Served: %s.", found(r))
	case learn.Compared, learn.Shadow:
		text := "Found: " + found(r) + ". "
		if r.Kind == learn.Shadow {
			text = "Found in the shadow mode, and not served: " + found(r) + ". "
		}
		return text + compared(r)
	case learn.Below:
		return fmt.Sprintf("Not served: the similarity %.4f is below the hit threshold.", r.Similarity)
	}
	return "Kept back: " + r.Decision.Why() + "."
}

// found is why the answer was found.
func found(r *learn.Reviewed) string {
	switch {
	case r.Basis == "form":
		return "both prompts have one normal form"
	case len(r.Edits) > 0:
		return "every difference is a listed edit (" + strings.Join(r.Edits, ", ") + ")"
	}
	return fmt.Sprintf("the similarity is %.4f, and no veto speaks against it", r.Similarity)
}

func compared(r *learn.Reviewed) string {
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
func effect(r *learn.Reviewed, right bool) string {
	const undo = " It counts in 10 seconds, unless it is taken back."
	switch {
	case r.Decision.P == 0 && right:
		return "This refusal was needless. It is counted, and changes no rule: what is not known to be safe is not served." + undo
	case r.Decision.P == 0:
		return "This refusal was needed." + undo
	case right:
		return "The answer is right for this request, and the estimate of its class goes up." + undo
	}
	return fmt.Sprintf("Entry %d does not answer this request any more, and the estimate of its class goes down.", r.Entry) + undo
}
