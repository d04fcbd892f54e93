package study

import (
	"fmt"
	"io"
	"math"
	"strings"

	"reprise/policy"
)

// Baselines are the policies that the relational ones are measured by: all of the registry, and W-TinyLFU as the published
// study has it, with exact counts and a window of 1 and of 20 %.
func Baselines() (names []string) {
	for _, name := range policy.Names() {
		if !Relational(name) {
			names = append(names, name)
		}
	}
	return append(names, "w-tinylfu:form=exact,climb=off", "w-tinylfu:form=exact,climb=off,window=0.2C")
}

// Relational tells the policies that this project is about from the baselines.
func Relational(name string) bool {
	name, _, _ = strings.Cut(name, ":")
	return name == "haz" || name == "rac" || strings.HasPrefix(name, "rac-") || name == "rac+"
}

// Table writes a line for each case: the best of the baselines by its mean over the seeds, which is a choice with
// hindsight; what each of the other policies has more, in points; and how much of the way to Belady that is.
func Table(w io.Writer, rows []Row, baselines, policies []string) {
	fmt.Fprintf(w, "%-14s %-9s %-22s %7s", "case", "capacity", "best baseline", "%")
	for _, p := range policies {
		fmt.Fprintf(w, "  %18s %6s", p, "gap")
	}
	fmt.Fprintf(w, "  %7s\n", "belady")
	worst, sum := make([]float64, len(policies)), make([]float64, len(policies))
	for _, r := range rows {
		best, base := r.Best(baselines)
		belady, _ := Mean(r.Values["belady"])
		fmt.Fprintf(w, "%-14s %-9s %-22s %7.2f", r.Case, r.Capacity, best, 100*base)
		for i, p := range policies {
			more, half := Mean(difference(r.Values[p], r.Values[best]))
			fmt.Fprintf(w, "  %+10.2f ± %5.2f %5.0f%%", 100*more, 100*half, 100*more/(belady-base))
			worst[i], sum[i] = math.Min(worst[i], more), sum[i]+more
		}
		fmt.Fprintf(w, "  %7.2f\n", 100*belady)
	}
	for i, p := range policies {
		fmt.Fprintf(w, "%s minus the best baseline, in points: worst %+.2f, mean %+.2f\n", p, 100*worst[i], 100*sum[i]/float64(len(rows)))
	}
}

// difference is a - b, seed by seed.
func difference(a, b []float64) []float64 {
	d := make([]float64, min(len(a), len(b)))
	for i := range d {
		d[i] = a[i] - b[i]
	}
	return d
}
