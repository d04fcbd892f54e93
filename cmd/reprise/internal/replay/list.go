package replay

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"reprise/policy"
	"reprise/policy/sim/workload"
)

// param is a parameter of a policy or of a workload.
type param struct{ name, value, says, allowed string }

// List writes every policy and every workload with its parameters.
func List(w io.Writer) {
	io.WriteString(w, "Policies, for --policy:\n\n")
	for _, p := range policy.List() {
		var params []param
		for _, x := range p.Params {
			params = append(params, param{x.Name, x.Default, x.Says, allowed(x.Choices, x.Min, x.Max)})
		}
		item(w, p.Name, p.Says, params)
	}
	io.WriteString(w, "\nBounds, which know the whole trace:\n\n")
	item(w, "belady", "evicts what is asked for latest: no policy has more hits where every new answer must be kept", nil)
	item(w, "belady-bypass", "the same, and a new answer may be refused: no policy has more hits", nil)
	item(w, "infinite", "keeps everything", nil)
	item(w, "count-oracle", "knows how often each answer is asked for again, but not when", nil)
	io.WriteString(w, "\nWorkloads, for --generate and --trace generate:NAME; all take seed=N:\n\n")
	for _, g := range workload.List() {
		var params []param
		for _, x := range g.Params {
			params = append(params, param{x.Name, x.Default, x.Says, allowed(x.Choices, x.Min, x.Max)})
		}
		item(w, g.Name, g.Says, params)
	}
}

// item writes a name as it can be typed, with what it is and then a line a parameter.
func item(w io.Writer, name, says string, params []param) {
	sep := ":"
	for _, p := range params {
		name += sep + p.name + "=" + p.value
		sep = ","
	}
	fmt.Fprintf(w, "  %s\n      %s\n", name, says)
	for _, p := range params {
		fmt.Fprintf(w, "        %-10s %s (%s)\n", p.name, p.says, p.allowed)
	}
}

func allowed(choices []string, least, most float64) string {
	if choices != nil {
		return strings.Join(choices, " or ")
	}
	return number(least) + " to " + number(most)
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
