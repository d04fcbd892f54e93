package main

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"

	"reprise/cmd/internal/cli"
	"reprise/cmd/reprise-lab/internal/replay"
	"reprise/cmd/reprise-lab/internal/report"
	"reprise/cmd/reprise-lab/sim/blocks"
)

// playedBlocks is a block trace with the results of its replay that are complete.
type playedBlocks struct {
	trace   *blocks.Trace
	results []blocks.Result
}

// blockWords are the terms of the tables.
var blockWords = []report.Term{
	{Name: "hits", Text: "blocks of prompts that were in the cache with all blocks before them in their prompt, by all blocks of prompts."},
	{Name: "per request", Text: "the mean over the requests of the share of their blocks that hit; a short prompt counts as much as a long one."},
	{Name: blocks.Infinite, Text: "a cache that keeps every block: no policy has more hits."},
	{Name: blocks.Belady, Text: "evicts the block whose next use is last, which takes the rest of the trace: a bound for what runs in practice."},
	{Name: blocks.Oracle, Text: "the policy lpc with the truth, in place of a prediction, about which conversations go on: a bound for predictors."},
	{Name: "TTFT", Text: "time to first token, from the begin of the prefill."},
	{Name: "queued TTFT", Text: "time to first token, from the arrival of the request."},
	{Name: "p90", Text: "nine of ten values are at most this."},
}

// blocksByCapacity groups results by their capacity, in the order of their first results.
func blocksByCapacity(results []blocks.Result) [][]blocks.Result {
	return replay.GroupBy(results, func(r *blocks.Result) string { return r.Capacity })
}

// ranked are the results of one capacity: the bounds, then the policies from the highest hit ratio down.
func ranked(rows []blocks.Result) []blocks.Result {
	rows = slices.Clone(rows)
	slices.SortStableFunc(rows, func(a, b blocks.Result) int {
		if a.Bound != b.Bound {
			if a.Bound {
				return -1
			}
			return 1
		}
		return cmp.Compare(b.Hits, a.Hits)
	})
	return rows
}

// rowOf is the result of a policy, nil if it was not played.
func rowOf(rows []blocks.Result, policy string) *blocks.Result {
	for i := range rows {
		if rows[i].Policy == policy {
			return &rows[i]
		}
	}
	return nil
}

// bestOf is the result with the most hits of the policies that are no bounds, nil if there is none.
func bestOf(rows []blocks.Result) (best *blocks.Result) {
	for i := range rows {
		if r := &rows[i]; !r.Bound && (best == nil || r.Hits > best.Hits) {
			best = r
		}
	}
	return best
}

// nameOfTrace says of generated traces that they are.
func nameOfTrace(t *blocks.Trace) string {
	switch {
	case t.Generated && t.Note != "":
		return t.Name + " (in part generated)"
	case t.Generated:
		return t.Name + " (generated)"
	}
	return t.Name
}

// aboutTrace describes a trace in a line, without its name.
func aboutTrace(t *blocks.Trace) string {
	text := fmt.Sprintf("%s requests, %s distinct blocks of %d tokens", cli.Thousands(int64(len(t.Requests))), cli.Thousands(int64(t.Distinct)), t.Tokens)
	if t.Note != "" {
		text += "; " + t.Note
	}
	return text
}

// atCapacity describes a capacity.
func atCapacity(rows []blocks.Result) string {
	for _, r := range rows {
		if slots := fmt.Sprint(r.Slots); r.Policy != blocks.Infinite && r.Capacity == slots {
			return cli.Thousands(int64(r.Slots)) + " blocks"
		} else if r.Policy != blocks.Infinite {
			return r.Capacity + " = " + cli.Thousands(int64(r.Slots)) + " blocks"
		}
	}
	return rows[0].Capacity
}

// hitTable has the hits at one capacity.
func hitTable(rows []blocks.Result) *report.Table {
	rows = ranked(rows)
	t := &report.Table{Caption: fmt.Sprintf("At %s: %s blocks of prompts", atCapacity(rows), cli.Thousands(rows[0].Blocks)), Texts: 1,
		Head: []string{"policy", "hits", "- lru", "of infinite", "per request", "tokens saved", "evictions"}}
	second := slices.ContainsFunc(rows, func(r blocks.Result) bool { return r.Second > 0 })
	refused := slices.ContainsFunc(rows, func(r blocks.Result) bool { return r.Refused > 0 })
	if second {
		t.Head = append(t.Head, "2nd tier")
	}
	if refused {
		t.Head = append(t.Head, "not kept")
	}
	infinite, lru, best := rowOf(rows, blocks.Infinite), rowOf(rows, "lru"), bestOf(rows)
	for i := range rows {
		r := &rows[i]
		evictions := cli.Thousands(r.Evictions)
		if r.Policy == blocks.Infinite {
			evictions = ""
		}
		cells := report.Cells(r.Policy, share(r.HitRatio), overLRU(r, lru), ofInfinite(r, infinite), share(r.MeanRatio), cli.Thousands(r.Saved), evictions)
		if second {
			cells = append(cells, report.Cell{Text: share(ratio(r.Second, r.Blocks))})
		}
		if refused {
			cells = append(cells, report.Cell{Text: cli.Thousands(r.Refused)})
		}
		cells[0].Strong, cells[1].Strong = r == best, r == best
		t.Rows = append(t.Rows, cells)
	}
	return t
}

func overLRU(r, lru *blocks.Result) string {
	if lru == nil || r == lru {
		return ""
	}
	return fmt.Sprintf("%+.2f", 100*(r.HitRatio-lru.HitRatio))
}

func ofInfinite(r, infinite *blocks.Result) string {
	if infinite == nil || infinite.Hits == 0 {
		return ""
	}
	return share(ratio(r.Hits, infinite.Hits))
}

func ratio(a, b int64) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

// share has two digits after the point: policies differ by less than a percent.
func share(v float64) string { return fmt.Sprintf("%.2f %%", 100*v) }

// timeTable has the times at one capacity, nil where none were measured.
func timeTable(rows []blocks.Result) *report.Table {
	rows = ranked(rows)
	t := &report.Table{Caption: "At " + atCapacity(rows) + ": TTFT and queued TTFT, seconds", Texts: 1,
		Head: []string{"policy", "mean", "p50", "p90", "p99", "queued mean", "p50", "p90", "p99"}}
	best := -1
	for i, r := range rows {
		if r.Time == nil || r.Queued == nil {
			return nil
		}
		if !r.Bound && (best < 0 || r.Queued.Mean < rows[best].Queued.Mean) {
			best = i
		}
	}
	for i, r := range rows {
		cells := report.Cells(r.Policy)
		for _, v := range []float64{r.Time.Mean, r.Time.P50, r.Time.P90, r.Time.P99, r.Queued.Mean, r.Queued.P50, r.Queued.P90, r.Queued.P99} {
			cells = append(cells, report.Cell{Text: fmt.Sprintf("%.3g", v)})
		}
		cells[5].Strong = i == best
		t.Rows = append(t.Rows, cells)
	}
	return t
}

// write writes the tables for a terminal.
func (p *playedBlocks) write(w io.Writer) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "%s\n\n", cli.Fold(nameOfTrace(p.trace)+": "+aboutTrace(p.trace), 0, 80))
	for _, rows := range blocksByCapacity(p.results) {
		hitTable(rows).Write(out)
		fmt.Fprintln(out)
		if t := timeTable(rows); t != nil {
			t.Write(out)
			fmt.Fprintln(out)
		}
	}
	return out.Flush()
}

// writeBlockLegend explains the tables.
func writeBlockLegend(w io.Writer, timed bool) {
	io.WriteString(w, `Hits: blocks that were in the cache with all before them in their prompt.
- lru: points more than lru. Per request: the mean of the requests' shares.
A star: the best policy. infinite, belady and oracle are bounds, which no engine
can run.
`)
	if timed {
		io.WriteString(w, "TTFT: from the begin of the prefill to the first token. Queued: from the arrival\nof the request.\n")
	}
}
