package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"reprise/cmd/internal/cli"
	"reprise/policy/registry"
	"reprise/policy/sim/workload"
)

// param is a parameter of a policy or of a workload.
type param struct{ name, value, says, allowed string }

// listWidth is the width at which texts break. A name with its parameters does not break, so that it can be copied.
const listWidth = 100

// writeList writes every policy and every workload with its parameters.
func writeList(w io.Writer) {
	l := listing{w: w, written: map[string]string{}}
	io.WriteString(w, "Policies, for --policy; C is the capacity in entries, so that 2C or 0.1/C are numbers too:\n\n")
	for _, p := range registry.List() {
		var params []param
		for _, x := range p.Params {
			params = append(params, param{x.Name, x.Default, x.Says, allowed(x.Choices, x.Min, x.Max)})
		}
		l.item(p.Name, p.Says, params)
	}
	io.WriteString(w, "\nBounds, also for --policy; they use the whole trace, so that no proxy can run them:\n\n")
	l.item("belady", "evicts the answer whose next request comes last: no policy that keeps every new answer has more hits", nil)
	l.item("belady-bypass", "the same, and a new answer may be refused: no policy has more hits", nil)
	l.item("infinite", "keeps everything", nil)
	l.item("count-oracle", "evicts the answer with the fewest requests still to come, without using when they come", nil)
	io.WriteString(w, "\nWorkloads, for --generate and --trace generate:NAME; all take seed=N:\n\n")
	for _, g := range workload.List() {
		var params []param
		for _, x := range g.Params {
			params = append(params, param{x.Name, x.Default, x.Says, allowed(x.Choices, x.Min, x.Max)})
		}
		l.item(g.Name, g.Says, params)
	}
}

// listing writes a list.
type listing struct {
	w       io.Writer
	written map[string]string // texts about parameters, with the name that they were written for
}

// item writes a name as it can be typed, what it is, and a line for each parameter. Parameters that an earlier name had are
// not repeated.
func (l *listing) item(name, says string, params []param) {
	spec, about, sep, column := name, "", ":", 10
	for _, p := range params {
		spec += sep + p.name + "=" + p.value
		sep, column = ",", max(column, len(p.name))
	}
	for _, p := range params {
		text := cli.Fold(p.says+" ("+p.allowed+")", 9+column, listWidth)
		about += fmt.Sprintf("        %-*s %s\n", column, p.name, text)
	}
	if other := l.written[about]; other != "" {
		about = "        (the parameters of " + other + ")\n"
	} else if about != "" {
		l.written[about] = name
	}
	fmt.Fprintf(l.w, "  %s\n      %s\n%s", spec, cli.Fold(says, 6, listWidth), about)
}

func allowed(choices []string, least, most float64) string {
	numbers := number(least) + " to " + number(most)
	switch last := len(choices) - 1; {
	case last <= 0:
		return numbers
	case most > 0:
		return strings.Join(choices, ", ") + " or " + numbers
	default:
		return strings.Join(choices[:last], ", ") + " or " + choices[last]
	}
}

// number formats v as it is typed: 1e6 and not 1e+06.
func number(v float64) string {
	return strings.NewReplacer("e+0", "e", "e+", "e").Replace(strconv.FormatFloat(v, 'g', -1, 64))
}
