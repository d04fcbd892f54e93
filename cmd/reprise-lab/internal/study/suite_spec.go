package study

import (
	"fmt"
	"slices"
	"strings"

	"reprise/cmd/reprise-lab/sim"
)

// experts are the policies on the panel of rac+, with their parameters.
var experts = []string{"haz:ghosts=4C", "lirs"}

// classics are the baselines of paper 002 §4.2, in its order.
var classics = []string{"fifo", "lru", "clock", "ttl", "w-tinylfu", "arc", "s3fifo", "sieve", "2q", "lhd", "lecar"}

const (
	// literal is the policy of paper 002. The paper gives no alpha; 1/C is the best on its kind of workload.
	literal = "rac-paper:alpha=1/C"
	tuned   = "rac"
	panelOf = "rac+"
)

// ours are the policies that a study compares with the baselines.
var ours = []string{literal, tuned, "haz", panelOf}

// compared are the policies that are compared with each other: of the registry, those on the panel of the default, and those given.
func (l *lab) compared() (names []string) {
	for _, p := range slices.Concat(Baselines(), ours, experts, l.Designs) {
		if !slices.Contains(names, p) {
			names = append(names, p)
		}
	}
	return names
}

// contenders are the policies of most settings: with them come bounds, which cannot be run.
func (l *lab) contenders() []string {
	return append(l.compared(), bounds...)
}

// bounds are the policies of contenders that cannot be run.
var bounds = []string{"belady-bypass", "belady", "count-oracle", "infinite"}

// syn returns the spec of generator G in a reading of repeats. It is written as in the study of regimes, so that equal settings
// are played once.
func syn(long, gamma float64, weight string) string {
	var params []string
	if long != 0.5 {
		params = append(params, fmt.Sprintf("long=%g", long))
	}
	if gamma != 0.7 {
		params = append(params, fmt.Sprintf("gamma=%g", gamma))
	}
	return "syn:" + strings.Join(append(params, "weight="+weight), ",")
}

// shrunk returns a spec with fewer requests.
func (l *lab) shrunk(spec string) string {
	name, _, parameters := strings.Cut(spec, ":")
	sep := ":"
	if parameters {
		sep = ","
	}
	spec += fmt.Sprintf("%sn=%d", sep, 10_000/l.Shrink)
	if name == "syn" || name == "drift" {
		spec += fmt.Sprintf(",capacity=%d", 1000/l.Shrink)
	}
	return spec
}

// few keeps only the first and the last of a list in a small study.
func few[T any](l *lab, all []T) []T {
	if l.Shrink > 1 && len(all) > 2 {
		return []T{all[0], all[len(all)-1]}
	}
	return all
}

func shares(percents ...float64) (all []sim.Capacity) {
	for _, p := range percents {
		all = append(all, sim.Capacity{Share: p / 100})
	}
	return all
}
