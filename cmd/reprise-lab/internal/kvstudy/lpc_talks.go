package kvstudy

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"

	"reprise/cmd/reprise-lab/internal/train"
	"reprise/cmd/reprise-lab/sim/blocks"
	"reprise/cmd/reprise-lab/sim/blocks/files"
	"reprise/embed"
)

// corpus is conversations of one source.
type corpus struct {
	name string
	path string // of the file; "": they are generated
	seen map[uint64]*learned
}

// learned is a model of one half of a corpus, and the other half as a trace.
type learned struct {
	result *train.Result
	trace  *blocks.Trace // each conversation begins at time 0
	trees  *blocks.Trace // with all branches; nil: there are none
}

// The workload of the paper's §A4: 200 conversations at a time, which pause for 100 seconds on average, for 20 minutes.
const (
	activeTalks  = 200
	leastSeconds = 1200
	pause        = 100
	talkTokens   = 16
	mostTalks    = 1000 // of a corpus that are played
)

// corpora are the sources of a run: given files, those of the data, and generated chats.
func (l *learner) corpora() (all []*corpus) {
	for _, path := range l.Chats {
		all = append(all, &corpus{name: filepath.Base(path), path: path})
	}
	if l.Data != "" {
		all = append(all, &corpus{name: sgd.name, path: filepath.Join(l.Data, sgd.path)}, &corpus{name: oasst.name, path: filepath.Join(l.Data, oasst.path)})
	}
	all = append(all, &corpus{name: "chats"})
	for _, c := range all {
		c.seen = map[uint64]*learned{}
	}
	return all
}

// file is the path of the conversations, and what removes it.
func (c *corpus) file(l *lab, seed uint64) (path string, remove func(), err error) {
	if c.path != "" {
		return c.path, func() {}, nil
	}
	dir, err := os.MkdirTemp("", "reprise-lab-")
	if err != nil {
		return "", nil, err
	}
	remove = func() { os.RemoveAll(dir) }
	if path, err = write(dir, seed, writtenTalks/l.factor()); err != nil {
		remove()
	}
	return path, remove, err
}

// learn trains with one half of the conversations, and predicts those of the other one. It does so once for each seed.
func (l *learner) learn(c *corpus, seed uint64) (*learned, error) {
	if done := c.seen[seed]; done != nil {
		return done, nil
	}
	path, remove, err := c.file(l.lab, seed)
	if err != nil {
		return nil, err
	}
	defer remove()
	set, err := train.Read(l.ctx, []string{path}, seed)
	if err != nil {
		return nil, err
	}
	one := &learned{}
	builtin := embed.NewBuiltin()
	if one.result, err = train.Run(l.ctx, set, train.Options{Embedder: builtin, Seed: seed}); err != nil {
		return nil, err
	}
	p, err := train.NewPredictor(one.result.Model, builtin)
	if err != nil {
		return nil, err
	}
	whole, err := files.Open(path, files.Auto, files.Options{Tokens: talkTokens, Think: pause, Seed: seed, Predict: p.Hook})
	if err == nil {
		err = p.Err()
	}
	if err != nil {
		return nil, err
	}
	fair := some(train.Fair(whole), seed)
	if one.trace = blocks.Compact(oneBranch(fair)); len(one.trace.Requests) < len(fair.Requests) {
		one.trees = blocks.Compact(fair)
	}
	if c.path == "" {
		one.trace.Note = ""
	}
	c.seen[seed] = one
	return one, nil
}

// only is the trace with the requests that keep allows. One that continues a request that is left out is left out too.
func only(t *blocks.Trace, keep func(r *blocks.Request) bool) *blocks.Trace {
	out := *t
	out.Requests = nil
	moved := make([]int32, len(t.Requests)+1) // numbers from 1; 0: left out
	for i, r := range t.Requests {
		if r.After != 0 && moved[r.After] == 0 || !keep(&r) {
			continue
		}
		r.After = moved[r.After]
		out.Requests = append(out.Requests, r)
		moved[i+1] = int32(len(out.Requests))
	}
	return &out
}

// oneBranch is a trace of conversations without branches: of the requests that continue one, the first stays.
func oneBranch(t *blocks.Trace) *blocks.Trace {
	taken := map[int32]bool{}
	return only(t, func(r *blocks.Request) bool {
		if r.After == 0 {
			return true
		}
		first := !taken[r.After]
		taken[r.After] = true
		return first
	})
}

// some is at most mostTalks conversations, chosen by the seed.
func some(t *blocks.Trace, seed uint64) *blocks.Trace {
	talks := talksOf(t)
	if len(talks) <= mostTalks {
		return t
	}
	order := rand.New(rand.NewPCG(seed, 0x736f6d65)).Perm(len(talks))
	chosen := map[uint32]bool{}
	for _, i := range order[:mostTalks] {
		chosen[t.Requests[talks[i][0]].Session] = true
	}
	return only(t, func(r *blocks.Request) bool { return chosen[r.Session] })
}

// talksOf are the numbers of the requests of each conversation, in the order of their first ones.
func talksOf(t *blocks.Trace) (all [][]int) {
	place := map[uint32]int{}
	for i := range t.Requests {
		s := t.Requests[i].Session
		n, ok := place[s]
		if !ok {
			n = len(all)
			place[s], all = n, append(all, nil)
		}
		all[n] = append(all[n], i)
	}
	return all
}

// paced gives the conversations new times: as many begin in a second as keep activeTalks active with pauses of 100 seconds, or fewer, so that
// the trace takes 20 minutes. All pauses are stretched. Starts are a Poisson process, in an order of the seed.
func paced(t *blocks.Trace, stretch float64, seed uint64) (out *blocks.Trace, active float64) {
	rng := rand.New(rand.NewPCG(seed, 0x7061636564))
	talks := talksOf(t)
	seconds := 0.0 // of all conversations, one after the other
	for _, talk := range talks {
		seconds += t.Requests[talk[len(talk)-1]].At - t.Requests[talk[0]].At + pause
	}
	active = min(activeTalks, seconds/leastSeconds)
	at, rate := 0.0, active/(seconds/float64(len(talks)))
	requests := slices.Clone(t.Requests)
	for _, n := range rng.Perm(len(talks)) {
		at += rng.ExpFloat64() / rate
		first := t.Requests[talks[n][0]].At
		for _, i := range talks[n] {
			r := &requests[i]
			r.At, r.Think = at+(r.At-first)*stretch, r.Think*stretch
		}
	}
	paced := *t
	out = &paced
	out.Requests = blocks.ByTime(requests)
	if stretch != 1 {
		out.Name += fmt.Sprintf(", think %g s", pause*stretch)
	}
	return out, active
}

// liveTokens is how many tokens of prompts and answers wait for the next turn of their conversation, on average over the time.
func liveTokens(t *blocks.Trace) int64 {
	sum := 0.0
	for i := range t.Requests {
		if r := &t.Requests[i]; r.After > 0 {
			before := &t.Requests[r.After-1]
			sum += (r.At - before.At) * float64(before.Prompt+before.Answer)
		}
	}
	return int64(sum/max(sizeOf(t).seconds, 1)) + 1
}

// unpredicted is the trace without predictions.
func unpredicted(t *blocks.Trace) *blocks.Trace {
	out := *t
	out.Requests = slices.Clone(t.Requests)
	for i := range out.Requests {
		out.Requests[i].Prob = 0
	}
	out.Name += ", no predictions"
	return &out
}

// The system prompts of a trap: conversations draw one of them by Zipf's law, so that some are in use rarely.
const (
	systemPrompts = 40
	systemBlocks  = 16
)

// instructed is the trace with generated system prompts before the conversations.
func instructed(t *blocks.Trace, seed uint64) *blocks.Trace {
	rng := rand.New(rand.NewPCG(seed, 0x73797374))
	zipf := rand.NewZipf(rng, 1.1, 1, systemPrompts-1)
	out := *t
	out.Requests = slices.Clone(t.Requests)
	out.Distinct += systemPrompts * systemBlocks
	for _, talk := range talksOf(t) {
		which := int(zipf.Uint64())
		for _, i := range talk {
			r := &out.Requests[i]
			chain := make([]uint32, systemBlocks, systemBlocks+len(r.Blocks))
			for k := range chain {
				chain[k] = uint32(t.Distinct + which*systemBlocks + k)
			}
			r.Blocks = append(chain, r.Blocks...)
			r.Prompt += systemBlocks * int32(t.Tokens)
		}
	}
	out.Name += ", system prompts"
	out.Note = joinNotes(t.Note, fmt.Sprintf("%d system prompts are generated", systemPrompts))
	return &out
}

func joinNotes(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}
