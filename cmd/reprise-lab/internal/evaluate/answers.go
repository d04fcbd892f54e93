package evaluate

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"reprise/topics/reuse/compare"
	"reprise/topics/reuse/evidence"
)

// Answers are two labelled answers, and what the comparator says of them.
type Answers struct {
	compare.Pair
	Kind string
	Same bool
	compare.Result
}

// answerColumns are the names of the columns of files of answers that have no line of names.
var answerColumns = []string{"kind", "label", "stored_prompt", "prompt", "stored", "fresh"}

var errAnswers = errors.New("want stored, fresh and label (same or different), and stored_prompt, prompt and kind where there are any")

// ReadAnswers reads a file of labelled answers, and compares them without knowledge of noise.
func ReadAnswers(path string) (all []Answers, err error) {
	rows, err := readRows(path)
	if err != nil {
		return nil, err
	}
	for i, r := range rows {
		stored, some := r["stored"]
		fresh, both := r["fresh"]
		label := r["label"]
		if !some || !both || label != "same" && label != "different" {
			return nil, fmt.Errorf("read %s, row %d: %w", path, i+1, errAnswers)
		}
		p := compare.Pair{StoredPrompt: r["stored_prompt"], Prompt: r["prompt"], Stored: stored, Fresh: fresh}
		all = append(all, Answers{Pair: p, Kind: r["kind"], Same: label == "same", Result: compare.Answers(p, nil)})
	}
	return all, nil
}

// Compared counts the answers of one kind with one label by what the comparator says.
type Compared struct {
	Kind    string
	Same    bool
	Outcome [3]int // by evidence.Outcome
}

// All is the number of the pairs.
func (c *Compared) All() int { return c.Outcome[0] + c.Outcome[1] + c.Outcome[2] }

// Share is the share of an outcome.
func (c *Compared) Share(o evidence.Outcome) float64 {
	return float64(c.Outcome[o]) / float64(max(1, c.All()))
}

// CountAnswers counts by kind and label. The first two are of all kinds.
func CountAnswers(all []Answers) (counts []Compared) {
	kinds := map[string]*[2]Compared{}
	add := func(kind string, x *Answers) {
		if kinds[kind] == nil {
			kinds[kind] = &[2]Compared{{Kind: kind, Same: true}, {Kind: kind}}
		}
		label := 0
		if !x.Same {
			label = 1
		}
		kinds[kind][label].Outcome[x.Outcome]++
	}
	for i := range all {
		add("", &all[i])
		if all[i].Kind != "" {
			add(all[i].Kind, &all[i])
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		counts = append(counts, kinds[kind][:]...)
	}
	return counts
}
