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

// TestMooncakeConversations: the conversations that are inferred are those of the description of the parser.
func TestMooncakeConversations(t *testing.T) {
	tr, err := Open(filepath.Join(data(t), "kv", "mooncake_conversation.jsonl.gz"), Mooncake, Options{})
	if err != nil {
		t.Fatal(err)
	}
	seen, continued, hits, theirs := make([]bool, tr.Distinct), 0, 0, 0
	for i := range tr.Requests {
		r := &tr.Requests[i]
		n := 0
		for n < len(r.Blocks) && seen[r.Blocks[n]] {
			n++
		}
		for _, b := range r.Blocks[n:] {
			seen[b] = true
		}
		if hits += n; r.After > 0 {
			continued++
			theirs += n
		}
	}
	if share, of := float64(continued)/float64(len(tr.Requests)), float64(theirs)/float64(hits); share < .295 || share > .31 || of < .795 || of > .81 {
		t.Errorf("%.3f of the requests with %.3f of the hits", share, of)
	}
}

// TestConversationsOfData: the recorded conversations are read, and each turn after the first finds what the turn before it left.
func TestConversationsOfData(t *testing.T) {
	dir := data(t)
	for file, want := range map[string]int{"dialogue/oasst1_en.jsonl.gz": 7981, "dialogue/sgd.jsonl.gz": 111878, "kv/azure_code.csv.gz": 8819, "kv/azure_conv.csv.gz": 19366} {
		tr, err := Open(filepath.Join(dir, file), Auto, Options{})
		if err != nil || len(tr.Requests) != want || !tr.Generated {
			t.Errorf("%s: %v, want %d requests with a generated part", file, err, want)
			continue
		}
		if err := tr.Check(); err != nil {
			t.Error(err)
		}
		for i := range tr.Requests {
			r := &tr.Requests[i]
			if r.After == 0 {
				continue
			}
			before := &tr.Requests[r.After-1]
			n := common(before.Blocks, r.Blocks)
			if n += common(before.Filled, r.Blocks[n:]); n != len(before.Blocks)+len(before.Filled) || !before.GoesOn || r.Turn != before.Turn+1 || r.Session != before.Session {
				t.Fatalf("%s: request %d does not go on from %d", file, i+1, r.After)
			}
		}
	}
}

func BenchmarkOpen(b *testing.B) {
	dir := data(b)
	for _, file := range []string{"mooncake_conversation.jsonl.gz", "coding_agent_sessions.jsonl.gz", "agent_miniswe.jsonl.gz"} {
		b.Run(file, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Open(filepath.Join(dir, "kv", file), Auto, Options{Unended: true}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
