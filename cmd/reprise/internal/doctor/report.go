package doctor

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
	"time"

	"reprise/cmd/internal/cli"
)

// report is the outcome of a run.
type report struct {
	State    state    `json:"state"` // the worst of the checks; skipped ones do not count
	Passed   int      `json:"passed"`
	Warnings int      `json:"warnings"`
	Errors   int      `json:"errors"`
	Skipped  int      `json:"skipped"`
	Seconds  float64  `json:"seconds"`
	Checks   []Result `json:"checks"`
}

func newReport(results []Result, took time.Duration) *report {
	r := &report{State: stateOK, Checks: results, Seconds: took.Round(10 * time.Millisecond).Seconds()}
	for state, n := range map[state]*int{stateOK: &r.Passed, stateSkipped: &r.Skipped, stateWarning: &r.Warnings, stateError: &r.Errors} {
		for _, c := range results {
			if c.State == state {
				*n++
			}
		}
	}
	switch {
	case r.Errors > 0:
		r.State = stateError
	case r.Warnings > 0:
		r.State = stateWarning
	}
	return r
}

// titles are the headings, by what an id begins with.
var titles = map[string]string{
	"settings": "Settings", "listener": "Listeners", "certificate": "Certificates", "embedder": "Embedder", "store": "Store",
	"redis": "Redis", "limits": "Limits", "instance": "Running instance",
}

// marks are the states as they are shown, all of one width.
var marks = map[state]string{stateOK: "ok   ", stateSkipped: "-    ", stateWarning: "WARN ", stateError: "ERROR"}

// The columns of the text: a mark, an id, what was found.
const (
	width   = 80
	idsAt   = 8
	foundAt = idsAt + 24
)

// heading is the title under which a result is shown.
func (r *Result) heading() string {
	group, _, _ := strings.Cut(r.ID, ".")
	if group == "upstream" {
		return "Upstream " + r.Subject
	}
	return titles[group]
}

// text writes the report in lines of 80 characters.
func (r *report) text(w io.Writer) error {
	b := bufio.NewWriter(w)
	heading := ""
	for i := 0; i < len(r.Checks); {
		first := &r.Checks[i]
		if next := first.heading(); next != heading {
			if heading != "" {
				b.WriteByte('\n')
			}
			heading = next
			fmt.Fprintln(b, heading)
		}
		n := 1 // that were skipped for one reason
		for i+n < len(r.Checks) && first.State == stateSkipped && r.Checks[i+n].State == stateSkipped && r.Checks[i+n].Found == first.Found && r.Checks[i+n].heading() == heading {
			n++
		}
		first.text(b, n)
		i += n
	}
	fmt.Fprintf(b, "\n%s in %.1f s: %d ok, %s, %s, %d skipped\n", plural(len(r.Checks), "check"), r.Seconds, r.Passed, plural(r.Warnings, "warning"), plural(r.Errors, "error"), r.Skipped)
	return b.Flush()
}

// text writes what was found, by n checks alike.
func (r *Result) text(b *bufio.Writer, n int) {
	found := r.Found
	if r.Subject != "" && !strings.HasPrefix(r.ID, "upstream.") {
		found = r.Subject + ": " + found
	}
	line := func(text string) {
		fmt.Fprintf(b, "%*s%s\n", idsAt, "", cli.Fold(text, idsAt, width))
	}
	if r.State == stateOK || r.State == stateSkipped {
		name := r.ID
		if n > 1 {
			name = fmt.Sprintf("%d checks", n)
		}
		fmt.Fprintf(b, "  %s %-23s %s\n", marks[r.State], name, cli.Fold(found, foundAt, width))
	} else {
		fmt.Fprintf(b, "  %s %s\n", marks[r.State], r.ID)
		line(sentence(found))
		line("Why: " + r.Why)
		line("Repair: " + sentence(r.Repair))
	}
	if r.Fixed != "" {
		line("Fixed: " + sentence(r.Fixed))
	}
}

// sentence ends a text with a full stop.
func sentence(text string) string {
	if strings.HasSuffix(text, ".") || strings.HasSuffix(text, "?") {
		return text
	}
	return text + "."
}

// plural is a number with its noun.
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func isRefused(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }
