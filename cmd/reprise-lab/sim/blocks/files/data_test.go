package files

import (
	"os"
	"path/filepath"
	"testing"

	"reprise/cmd/reprise-lab/sim/blocks"
)

// data is the folder of public data that REPRISE_DATA names.
func data(t testing.TB) string {
	dir := os.Getenv("REPRISE_DATA")
	if dir == "" {
		t.Skip("REPRISE_DATA is not set: no public trace is read")
	}
	return dir
}

// unbounded is the share of the blocks of prompts that a cache without bounds has: in each request, the leading ones that earlier prompts
// had.
func unbounded(t *blocks.Trace) (ratio float64, accesses int) {
	seen := make([]bool, t.Distinct)
	hits := 0
	for i := range t.Requests {
		all := t.Requests[i].Blocks
		n := 0
		for n < len(all) && seen[all[n]] {
			n++
		}
		for _, b := range all[n:] {
			seen[b] = true
		}
		hits += n
		accesses += len(all)
	}
	return float64(hits) / float64(max(1, accesses)), accesses
}

// TestKnownRatios: the hit ratios of a cache without bounds are those that the description of the data has, to 3 digits. That of the
// sessions counts the requests whose end is recorded; with the others, all 50.9 million block accesses, it is .966.
func TestKnownRatios(t *testing.T) {
	dir := data(t)
	for _, c := range []struct {
		file     string
		format   Format
		options  Options
		requests int
		accesses int
		want     float64
	}{
		{"mooncake_conversation.jsonl.gz", Mooncake, Options{}, 12031, 288500, .366},
		{"coding_agent_sessions.jsonl.gz", Sessions, Options{}, 23342, 47055355, .963},
		{"coding_agent_sessions.jsonl.gz", Sessions, Options{Unended: true}, 25225, 50918181, .966},
		{"agent_miniswe.jsonl.gz", AgentText, Options{Tokens: 16}, 402, 150975, .937},
		{"agent_taubench.jsonl.gz", AgentText, Options{Tokens: 16}, 471, 4647, .866},
		{"agent_magagent.jsonl.gz", AgentText, Options{Tokens: 16}, 746, 94148, .841},
	} {
		path := filepath.Join(dir, "kv", c.file)
		if f, err := Detect(path); err != nil || f != c.format {
			t.Errorf("%s: detected %q, %v", c.file, f, err)
		}
		tr, err := Open(path, c.format, c.options)
		if err != nil {
			t.Error(err)
			continue
		}
		if err := tr.Check(); err != nil {
			t.Error(err)
		}
		got, accesses := unbounded(tr)
		if len(tr.Requests) != c.requests || accesses != c.accesses || got < c.want-.0005 || got >= c.want+.0005 {
			t.Errorf("%s: %.4f of %d accesses in %d requests, want %.3f, %d, %d", c.file, got, accesses, len(tr.Requests), c.want, c.accesses, c.requests)
		}
	}
}
