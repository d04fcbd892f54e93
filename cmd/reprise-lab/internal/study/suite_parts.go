package study

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"reprise/internal/suggest"
)

// Parts are the kinds of cells of the study of regimes, each with what it needs from Setup.Data. The last one is the others under a capacity in
// bytes, except the long regimes.
var Parts = []string{"regimes", "long", "texts", "traces", "blocks", "bytes"}

// slot is a part, by hit ratio or by the tokens saved under a capacity in bytes.
type slot struct {
	part  string
	bytes bool
}

// String is the name of the part in progress and in errors.
func (p slot) String() string {
	name := p.part
	switch p.part {
	case "long":
		name = "long regimes"
	case "traces":
		name = "recorded traces"
	case "blocks":
		name = "agent blocks"
	}
	if p.bytes {
		name += ", in bytes"
	}
	return name
}

// regimeSlots are what other studies play of it.
var regimeSlots = []slot{{"regimes", false}, {"long", false}, {"regimes", true}}

// slots are what the study of regimes plays: the parts of only, or all that need no data or have it.
func slots(only []string, data bool) (all []slot) {
	bytes := len(only) == 0 || slices.Contains(only, "bytes")
	alone := bytes && len(only) == 1
	wanted := func(p string) bool {
		if len(only) == 0 || alone {
			return data || p == "regimes" || p == "long"
		}
		return slices.Contains(only, p)
	}
	others := Parts[:len(Parts)-1]
	for _, p := range others {
		if wanted(p) && !alone {
			all = append(all, slot{p, false})
		}
	}
	for _, p := range others {
		if wanted(p) && bytes && p != "long" {
			all = append(all, slot{p, true})
		}
	}
	return all
}

// Check returns an error for what the study of a name cannot play: an unknown part, or the first file that Setup.Data lacks. It is called at the
// start, because the files are read minutes later.
func Check(name string, s Setup) error {
	for _, p := range s.Only {
		if !slices.Contains(Parts, p) {
			return fmt.Errorf("part %q: want some of %s%s", p, strings.Join(Parts, ","), suggest.DidYouMean(p, Parts))
		}
	}
	played := []slot{{"texts", false}}
	if name == "regimes" {
		played = slots(s.Only, s.Data != "")
	}
	for _, p := range played {
		if err := checkFiles(s.Data, p.part); err != nil && (s.Data != "" || name == "regimes") {
			return err
		}
	}
	return nil
}

// checkFiles returns an error for what a part needs and dir, "" for none, lacks.
func checkFiles(dir, part string) error {
	switch {
	case part == "regimes" || part == "long":
		return nil
	case dir == "":
		return fmt.Errorf("part %s: want --data", part)
	case part == "traces" && len(traceFiles(dir)) == 0:
		return fmt.Errorf("part traces: no %s: want some, or other parts", filepath.Join(dir, "traces", "*.txt.gz"))
	case part == "blocks" && len(blocksFiles(dir)) == 0:
		return fmt.Errorf("part blocks: no %s: want one of them, or other parts", filepath.Join(dir, "kv", "{"+strings.Join(blockFiles, ",")+"}.jsonl.gz"))
	case part == "texts":
		for _, name := range textFiles {
			if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
				return fmt.Errorf("--data: %w", err)
			}
		}
	}
	return nil
}
