package kvstudy

import (
	"path/filepath"
	"strconv"

	"reprise/cmd/reprise-lab/sim/blocks"
	"reprise/cmd/reprise-lab/sim/blocks/files"
	"reprise/cmd/reprise-lab/sim/blocks/generate"
)

// workload is a kind of trace.
type workload struct {
	name  string
	open  func(seed uint64, times int) (*blocks.Trace, error) // in blocks so many times as large as its own
	fixed bool                                                // the trace is played with the first seed alone
	real  bool                                                // recorded, in whole or in part
}

// recording is a file of the data.
type recording struct {
	name, path string
	tokens     int     // of a block
	share      float64 // of its sessions that are played
}

// The recordings that studies play. Of the two large ones a sample of whole sessions is played.
var (
	mooncake = recording{"Mooncake conversation", "kv/mooncake_conversation.jsonl.gz", 512, 1}
	coding   = recording{"coding agents", "kv/coding_agent_sessions.jsonl.gz", 64, .02}
	miniswe  = recording{"agents, miniswe", "kv/agent_miniswe.jsonl.gz", 16, 1}
	taubench = recording{"agents, taubench", "kv/agent_taubench.jsonl.gz", 16, 1}
	magagent = recording{"agents, magagent", "kv/agent_magagent.jsonl.gz", 16, 1}
	oasst    = recording{"OASST1 chats", "dialogue/oasst1_en.jsonl.gz", 16, 1}
	sgd      = recording{"SGD dialogues", "dialogue/sgd.jsonl.gz", 16, .15}
	recorded = []recording{mooncake, coding, miniswe, taubench, magagent, oasst, sgd}
)

// file is the workload of a recording.
func (l *lab) file(r recording) workload {
	return workload{name: r.name, fixed: true, real: true, open: func(seed uint64, times int) (*blocks.Trace, error) {
		t, err := files.Open(filepath.Join(l.Data, r.path), files.Auto, files.Options{Tokens: r.tokens * times, Seed: seed})
		if err != nil {
			return nil, err
		}
		return l.sample(t, r.share, seed)
	}}
}

// sample is a share of the sessions of a trace, still less in a small study.
func (l *lab) sample(t *blocks.Trace, share float64, seed uint64) (*blocks.Trace, error) {
	if share /= float64(l.factor()); share == 1 {
		return t, nil
	}
	t, err := generate.Scale(t, share, seed)
	if err == nil {
		t.Generated = false // a part of it, and nothing else
	}
	return t, err
}

func (l *lab) factor() int { return max(1, l.Shrink) }

// generated is a calibrated workload with so many requests in two hours: the published trace with fewer users. Times between the turns of a
// conversation, and sizes as shares of the distinct blocks, stay as they are.
func (l *lab) generated(name, generator string, requests int) workload {
	requests /= l.factor()
	return workload{name: name, open: func(seed uint64, times int) (*blocks.Trace, error) {
		t, err := generate.New(generator+":requests="+strconv.Itoa(requests)+",rate="+strconv.FormatFloat(float64(requests)/7200, 'g', 4, 64), seed)
		if err != nil {
			return nil, err
		}
		return files.Recut(t, t.Tokens*times)
	}}
}
