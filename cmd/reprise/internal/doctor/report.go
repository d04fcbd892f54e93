package doctor

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"reprise/cmd/internal/cli"
)

// report is the outcome of a run.
type report struct {
	State    State    `json:"state"` // the worst of the checks; skipped ones do not count
	Passed   int      `json:"passed"`
	Warnings int      `json:"warnings"`
	Errors   int      `json:"errors"`
	Skipped  int      `json:"skipped"`
	Seconds  float64  `json:"seconds"`
	Checks   []Result `json:"checks"`
}

func newReport(results []Result, took time.Duration) *report {
	r := &report{State: OK, Checks: results, Seconds: took.Round(10 * time.Millisecond).Seconds()}
	for _, c := range results {
		switch c.State {
		case OK:
			r.Passed++
		case Skipped:
			r.Skipped++
		case Warning:
			r.Warnings++
		case Error:
			r.Errors++
		}
	}
	switch {
	case r.Errors > 0:
		r.State = Error
	case r.Warnings > 0:
		r.State = Warning
	}
	return r
}

// titles are the headings, by what an id begins with.
var titles = map[string]string{
	"settings": "Settings", "listener": "Listeners", "certificate": "Certificates", "upstream": "Upstreams", "embedder": "Embedder", "store": "Store",
	"redis": "Redis", "limits": "Limits", "instance": "Running instance",
}

// marks are the states as they are shown, all of one width.
var marks = map[State]string{OK: "ok   ", Skipped: "-    ", Warning: "WARN ", Error: "ERROR"}

// The columns of the text: a mark, an id, what was found.
const (
	width   = 80
	idsAt   = 8
	foundAt = idsAt + 24
)

// group is what an id begins with.
func (r *Result) group() string {
	group, _, _ := strings.Cut(r.ID, ".")
	return group
}

// text writes the report in lines of 80 characters.
func (r *report) text(w io.Writer) error {
	b := bufio.NewWriter(w)
	for part := range parts(r.Checks) {
		title := titles[part[0].group()]
		if part[0].Subject != "" && part[0].group() == "upstream" {
			title = "Upstream " + part[0].Subject
		}
		fmt.Fprintf(b, "%s\n", title)
		for i := 0; i < len(part); {
			n := alike(part[i:])
			part[i].text(b, n)
			i += n
		}
		b.WriteByte('\n')
	}
	fmt.Fprintf(b, "%s in %.1f s: %d ok, %s, %s, %d skipped\n", plural(len(r.Checks), "check"), r.Seconds, r.Passed, plural(r.Warnings, "warning"), plural(r.Errors, "error"), r.Skipped)
	return b.Flush()
}

// parts yields the checks of each heading.
func parts(all []Result) func(yield func([]Result) bool) {
	return func(yield func([]Result) bool) {
		for len(all) > 0 {
			first := &all[0]
			n := slices.IndexFunc(all, func(r Result) bool {
				return r.group() != first.group() || r.Subject != first.Subject && first.group() == "upstream"
			})
			if n < 0 {
				n = len(all)
			}
			if !yield(all[:n]) {
				return
			}
			all = all[n:]
		}
	}
}

// alike is how many of the first checks were skipped for one reason; at least 1.
func alike(part []Result) int {
	n := slices.IndexFunc(part, func(r Result) bool { return r.State != Skipped || r.Found != part[0].Found })
	if n < 0 {
		n = len(part)
	}
	return max(n, 1)
}

// text writes what was found, by n checks alike.
func (r *Result) text(b *bufio.Writer, n int) {
	found := r.Found
	if r.Subject != "" && r.group() != "upstream" {
		found = r.Subject + ": " + found
	}
	line := func(text string) {
		fmt.Fprintf(b, "%*s%s\n", idsAt, "", cli.Fold(text, idsAt, width))
	}
	if r.State == OK || r.State == Skipped {
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
