package study

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"reprise/cmd/reprise-lab/sim"
	"reprise/cmd/reprise-lab/sim/blocks/files"
	"reprise/cmd/reprise-lab/sim/trace"
	"reprise/cmd/reprise-lab/sim/workload"
)

const (
	// recordedRequests is how many requests of a recorded trace are played, from its first.
	recordedRequests = 300_000
	// leastEntries is the capacity from which a cell of a recorded trace counts. In a smaller cache the draw of the seed decides.
	leastEntries = 100
)

// blockFiles are the traces of KV blocks in kv/ of Setup.Data that are played as identities.
var blockFiles = []string{"coding_agent_sessions", "agent_magagent", "agent_miniswe", "agent_taubench", "mooncake_conversation"}

// chosenOn are the recorded traces with which designs and parameters were chosen. All others were held out.
var chosenOn = []string{"arc-oltp-300k", "c2k-web07", "lirs-gli", "lirs-ps", "coding_agent_sessions", "agent_miniswe", "agent_taubench"}

// recorded is a trace of identities alone.
type recorded struct {
	name  string
	ids   []uint64
	times []float64 // nil: none
	sized bool      // sizes and costs are generated
}

func (r *recorded) Name() string {
	if r.sized {
		return r.name + ", sizes and costs generated"
	}
	return r.name
}

// Requests yields the identities in the order of the file.
func (r *recorded) Requests() iter.Seq2[sim.Request, error] {
	return func(yield func(sim.Request, error) bool) {
		for i, id := range r.ids {
			q := sim.Request{ID: id}
			if r.times != nil {
				q.At = r.times[i]
			}
			if r.sized {
				q.Size, q.Cost = workload.SizeAndCost(id)
			}
			if !yield(q, nil) {
				return
			}
		}
	}
}

// recordedFile is a file with a recorded trace, and what reads it.
type recordedFile struct {
	name, path string
	read       func(path string) (*recorded, error)
}

// traceFiles are those of traces/, in the order of their names.
func traceFiles(dir string) (all []recordedFile) {
	const suffix = ".txt.gz"
	paths, _ := filepath.Glob(filepath.Join(dir, "traces", "*"+suffix)) // the pattern is right
	for _, path := range paths {
		all = append(all, recordedFile{strings.TrimSuffix(filepath.Base(path), suffix), path, readIDs})
	}
	return all
}

// blocksFiles are those of kv/ that are there.
func blocksFiles(dir string) (all []recordedFile) {
	for _, name := range blockFiles {
		path := filepath.Join(dir, "kv", name+".jsonl.gz")
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			all = append(all, recordedFile{name, path, readBlocks})
		}
	}
	return all
}

// readIDs reads a file of one identity a line.
func readIDs(path string) (*recorded, error) {
	t, err := trace.Open(path, trace.IDs)
	if err != nil {
		return nil, err
	}
	r := &recorded{}
	for q, err := range t.Requests() {
		if err != nil || len(r.ids) == recordedRequests {
			return r, err
		}
		r.ids = append(r.ids, q.ID)
	}
	return r, nil
}

// readBlocks reads a trace of KV blocks: each block of a prompt, from its first to its deepest, is one request.
func readBlocks(path string) (*recorded, error) {
	t, err := files.Open(path, files.Auto, files.Options{})
	if err != nil {
		return nil, err
	}
	r := &recorded{}
	for i := range t.Requests {
		for _, block := range t.Requests[i].Blocks {
			if len(r.ids) == recordedRequests {
				return r, nil
			}
			r.ids = append(r.ids, uint64(block)+1)
			r.times = append(r.times, t.Requests[i].At)
		}
	}
	return r, nil
}

// recorded returns the settings of recorded traces. A file is read once, when it is played first.
func (l *lab) recorded(all []recordedFile) (settings []setting) {
	capacities := shares(2.5, 10, 20)
	for _, f := range all {
		once := sync.OnceValues(func() (*recorded, error) {
			r, err := f.read(f.path)
			if err == nil {
				r.name = f.name
			}
			return r, err
		})
		settings = append(settings, setting{name: f.name, once: true, capacities: capacities, policies: append(l.compared(), "belady"),
			known: fmt.Sprint("recorded ", f.name, capacities),
			trace: func(uint64) (sim.Trace, error) { return once() },
		})
	}
	return settings
}

// sizes returns a trace with a size and a cost of each request: those of a recorded one are generated.
func sizes(t sim.Trace) sim.Trace {
	if r, ok := t.(*recorded); ok {
		return &recorded{r.name, r.ids, r.times, true}
	}
	return t
}

// The halves of the recorded traces.
const (
	chosenHalf = "recorded, used to choose the design"
	heldHalf   = "recorded, held out"
)

// half is the half that a recorded trace belongs to.
func half(name string) string {
	if slices.Contains(chosenOn, name) {
		return chosenHalf
	}
	return heldHalf
}
