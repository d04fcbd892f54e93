// Package kvstudy measures the papers on prefix caches again: their claims beside what traces of KV blocks give here.
//
// A study is a list of sweeps, which package-wide code plays and keeps, and a page of sections made of what was complete.
package kvstudy

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"reprise/cmd/reprise-lab/internal/report"
	"reprise/cmd/reprise-lab/internal/study"
	"reprise/cmd/reprise-lab/sim/blocks"
)

// Names lists the studies.
var Names = []string{"wa", "lpc", "prefix"}

// Setup has the options of a study.
type Setup struct {
	Seeds    []uint64 // of the generated traces, and of the policies that draw random numbers
	Parallel int      // policies at a capacity that are played at a time; 0 is one for each processor. The figures do not depend on it
	Chats    []string // files of conversations for the study lpc, which comes to them first
	Data     string   // folder with kv/ and dialogue/, whose traces come first; "" is none
	Shrink   int      // factor by which traces have fewer requests; below 2: none. For tests
	// Progress is called with the number of traces of a part that were played, and their total; nil: not called.
	Progress func(part string, done, total int)
	Now      func() time.Time // for the cost of decisions; nil is time.Now
}

// seedsOf says what the seeds of a study change in recorded traces.
var seedsOf = map[string]string{
	"lpc":    "each one splits the conversations, trains, chooses and paces them; a trace with recorded times is played with the first",
	"prefix": "a trace of a file is played with the first",
	"wa":     "a trace of a file is played with the first",
}

var studies = map[string]func(*lab) (report.Page, error){"wa": (*lab).wa, "lpc": lpc, "prefix": (*lab).prefix}

// Run plays a study: "wa" is that of "KVCache Cache in the Wild" (papers/001), "lpc" that of "Learned Prefix Caching for
// Efficient LLM Inference" (papers/004), "prefix" that of "A Study of Prefix Sharing in LLM Serving" (papers/003).
//
// The page and the results do not depend on Setup.Parallel, except for times that the policies take. If ctx ends or a part fails, they have
// the complete parts, and the error is returned with them.
func Run(ctx context.Context, name string, s Setup) (report.Page, []blocks.Result, error) {
	run := studies[name]
	if run == nil {
		return report.Page{}, nil, fmt.Errorf("study %q: want %s", name, strings.Join(Names, " or "))
	}
	if len(s.Seeds) == 0 {
		return report.Page{}, nil, errors.New("study: no seeds: want at least 1")
	}
	l := newLab(ctx, s)
	p, err := run(l)
	for _, w := range words {
		if !slices.ContainsFunc(p.Words, func(own report.Term) bool { return own.Name == w.Name }) {
			p.Words = append(p.Words, w)
		}
	}
	p.Notes = append(p.Notes, l.origin())
	study.Close(ctx, &p, s.Seeds, "; "+seedsOf[name]+". Intervals are of 95 %, by Student's t.", err)
	return p, l.all, err
}

// origin says where the traces come from.
func (l *lab) origin() string {
	if l.Data == "" {
		return "All traces are generated: no real one was given with --data. Generated traces show that a mechanism works where its premises hold; whether they hold is decided by real traces."
	}
	return "Real traces come first, and decide where they exist. Generated ones are called generated in every table."
}

// CheckData reports which of the files is missing that a study reads in a folder.
func CheckData(dir string) error {
	for _, r := range recorded {
		if _, err := os.Stat(filepath.Join(dir, r.path)); err != nil {
			return err
		}
	}
	return nil
}

// words are the terms of all studies.
var words = []report.Term{
	{Name: "hit ratio", Text: "blocks of prompts that were in the cache together with all blocks before them in their prompt, by all blocks of prompts."},
	{Name: "block", Text: "the keys and values (KV) that a model computed for some consecutive tokens of a prompt. It can be used again after the same tokens."},
	{Name: "distinct blocks", Text: "the different blocks of a trace: a cache with 100 % of them never evicts."},
	{Name: "LRU", Text: "evicts the block that was used least recently."},
	{Name: "FIFO", Text: "evicts the block that was inserted first."},
	{Name: "LFU", Text: "evicts the block that was used least often."},
	{Name: "S3-FIFO", Text: "three queues; a block that is not used again soon is dropped early."},
	{Name: "GDFS", Text: "evicts the least of a clock and frequency × cost / size."},
	{Name: "LPC", Text: "evicts by a predicted probability that the conversation goes on; without a predictor it has the share by turn."},
	{Name: "Belady", Text: "evicts the block whose next use is last. It takes the rest of the trace: a bound for what can run."},
	{Name: "Oracle", Text: "evicts by the truth about which conversations go on, in place of a prediction: a bound for WA and LPC."},
	{Name: "infinite", Text: "a cache that keeps every block: no policy has more hits."},
	{Name: "TTFT", Text: "time to first token, from the begin of the computation of the prompt."},
	{Name: "queued TTFT", Text: "time to first token, from the arrival of the request."},
}
