package study

import (
	"flag"
	"os"
	"slices"
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
	texts  = flag.Bool("texts", false, "TestPanel: the text traces below REPRISE_DATA too, with topics found online")
	half   = flag.String("half", "", "TestPanel: tuned or held, the half of the cases that was looked at in tuning or the other")
	bytes  = flag.Bool("bytes", false, "TestPanel: capacities in bytes, and the share of the tokens that was saved")
)

// TestPanel prints how the policies of -panel do beside the best of all baselines.
func TestPanel(t *testing.T) {
	regimes := workload.Study()
	if *long {
		regimes = workload.Long()
	}
	var cases []Case
	for _, c := range Regimes(regimes) {
		if !strings.Contains(c.Name, *filter) || *half != "" && (*half == "held") != slices.Contains(held, c.Name) {
			continue
		}
		if *bytes {
			c.Capacity = sim.Capacity{Bytes: int64(c.Capacity.Entries) * meanSize}
		}
		cases = append(cases, c)
	}
	if *texts {
		said, err := TextCases(os.Getenv("REPRISE_DATA"), []float64{.025, .1, .2}, true)
		if err != nil {
			t.Fatal(err)
		}
		cases = append(cases, said...)
	}
	var all []uint64
	for i := range *seeds {
		all = append(all, uint64(*first+i))
	}
	policies := strings.Fields(*panel)
	figure := HitRatio
	if *bytes {
		figure = TokensSaved
	}
	rows, err := Compare(t.Context(), cases, all, figure,
		sim.Options{Policies: append(append(Baselines(), policies...), "belady-bypass", "belady")})
	if err != nil {
		t.Fatal(err)
	}
	Table(os.Stdout, rows, Baselines(), policies)
}
