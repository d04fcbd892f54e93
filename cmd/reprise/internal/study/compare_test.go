package study

import (
	"flag"
	"os"
	"strings"
	"testing"

	"reprise/policy/sim"
	"reprise/policy/sim/workload"
)

var (
	long   = flag.Bool("long", false, "TestPanel: the long traces")
	panel  = flag.String("panel", "rac+", "TestPanel: policies to compare with the baselines, separated by spaces")
	seeds  = flag.Int("seeds", 2, "TestPanel: seeds of each case")
	first  = flag.Int("first", 1, "TestPanel: the first seed")
	filter = flag.String("cases", "", "TestPanel: cases whose name contains this")
)

// TestPanel prints how the policies of -panel do beside the best of all baselines.
func TestPanel(t *testing.T) {
	regimes := workload.Study()
	if *long {
		regimes = workload.Long()
	}
	var cases []Case
	for _, c := range Regimes(regimes) {
		if strings.Contains(c.Name, *filter) {
			cases = append(cases, c)
		}
	}
	var all []uint64
	for i := range *seeds {
		all = append(all, uint64(*first+i))
	}
	policies := strings.Fields(*panel)
	rows, err := Compare(t.Context(), cases, all, HitRatio,
		sim.Options{Policies: append(append(Baselines(), policies...), "belady-bypass", "belady")})
	if err != nil {
		t.Fatal(err)
	}
	Table(os.Stdout, rows, Baselines(), policies)
}
