package kvstudy

import (
	"fmt"
	"path/filepath"
	"runtime"

	"reprise/cmd/reprise-lab/internal/report"
	"reprise/cmd/reprise-lab/internal/train"
	"reprise/cmd/reprise-lab/sim/blocks"
	"reprise/embed"
)

// predicted is what the study of Learned Prefix Caching measured.
type predicted struct {
	talks    []*talks
	together *train.Result // one model of all corpora, with ablations
	others   []played      // recorded traces without texts
}

// talks is what was measured with a corpus.
type talks struct {
	*corpus
	live   int64   // tokens, with the first seed
	active float64 // conversations, with the first seed
	scores []*train.SourceResult
	full   *played   // with predictions
	bare   *played   // without
	pauses []*played // by think time
	traps  []*played
	timed  *played
}

// The policies and bounds of the study.
var (
	withText = []string{"lru", "lpc", "lpc-wa", "wa", blocks.Oracle, blocks.Belady, blocks.Infinite}
	pools    = []string{"lru", "lpc", "lpc:pool=max", "lpc:pool=last", blocks.Oracle}
	noText   = []string{"lru", "lpc", "lpc:scale=1", "lpc-wa", "wa"}
)

// lpcShares are the capacities, as shares of the live tokens; halfLive is the one of think times, traps and TTFT.
var lpcShares = []float64{.05, .07, .1, .14, .19, .25, .32, .4, .5, .6, .72, .85, 1, 1.2, 1.5}

const halfLive = .5

// busy is the share of the time in which LRU keeps the server busy if answers take no time. With these, and blocks pinned by them, it is more.
const busy = .4

// thinkTimes are those of the paper's Figure 5, in seconds.
var thinkTimes = []float64{30, 60, 100, 200, 300}

// learner is a lab with predictors.
type learner struct{ *lab }

func lpc(of *lab) (p report.Page, err error) {
	l, s := &learner{of}, &predicted{}
	for _, c := range l.corpora() {
		t := &talks{corpus: c}
		if err = l.measure(t); t.full != nil {
			s.talks = append(s.talks, t)
		}
		if err != nil {
			break
		}
	}
	for _, part := range []func(*predicted) error{l.unified, l.withoutText} {
		if err == nil {
			err = part(s)
		}
	}
	return s.page(), err
}

// measure plays a corpus. If the context ends, t has what is complete.
func (l *learner) measure(t *talks) error {
	if err := l.prepare(t); err != nil {
		return fmt.Errorf("%s: %w", t.name, err)
	}
	base := func() int64 { return t.live }
	at := shares(lpcShares...)
	sweeps := []sweep{
		{workload: l.talk(t, 1, same), policies: withText, at: at, base: base},
		{workload: l.talk(t, 1, bare), policies: []string{"lpc"}, at: at, base: base},
	}
	for _, think := range thinkTimes {
		sweeps = append(sweeps, sweep{workload: l.talk(t, think/pause, same), policies: []string{"lru", "lpc", fmt.Sprintf("lpc:scale=%.6g", 1/think), blocks.Oracle}, at: shares(halfLive), base: base})
	}
	sweeps = append(sweeps, sweep{workload: l.talk(t, 1, same), policies: []string{"lru", "lpc", blocks.Oracle}, at: shares(halfLive), base: base,
		speed: &sizing{load: busy, tokens: int64(halfLive * float64(t.live)), closed: true}},
		sweep{workload: l.talk(t, 1, same), policies: pools, at: shares(halfLive), base: base},
		sweep{workload: l.talk(t, 1, instructed), policies: pools, at: shares(halfLive), base: base})
	if t.seen[l.Seeds[0]].trees != nil {
		sweeps = append(sweeps, sweep{workload: l.forest(t), policies: pools, at: shares(halfLive), base: base})
	}
	all, err := l.play(t.name, sweeps)
	t.keep(all)
	return err
}

// keep sorts the complete sweeps of measure.
func (t *talks) keep(all []played) {
	for i := range all {
		p, pauses := &all[i], len(thinkTimes)
		switch {
		case i == 0:
			t.full = p
		case i == 1:
			t.bare = p
		case i < 2+pauses:
			t.pauses = append(t.pauses, p)
		case i == 2+pauses:
			t.timed = p
		default:
			t.traps = append(t.traps, p)
		}
	}
}

// prepare trains with every seed.
func (l *learner) prepare(t *talks) error {
	for i, seed := range l.Seeds {
		one, err := l.learn(t.corpus, seed)
		if err != nil {
			return err
		}
		t.scores = append(t.scores, &one.result.Sources[0])
		if i == 0 {
			trace, active := paced(one.trace, 1, seed)
			t.live, t.active = liveTokens(trace), active
		}
		if l.Progress != nil {
			l.Progress("predictors for "+t.name, i+1, len(l.Seeds))
		}
		if l.ctx.Err() != nil {
			return l.ctx.Err()
		}
	}
	return nil
}

func same(t *blocks.Trace, _ uint64) *blocks.Trace { return t }
func bare(t *blocks.Trace, _ uint64) *blocks.Trace { return unpredicted(t) }

// talk is the held-out conversations as a workload, changed by a function.
func (l *learner) talk(t *talks, stretch float64, change func(*blocks.Trace, uint64) *blocks.Trace) workload {
	return workload{name: t.name, real: t.path != "", open: func(seed uint64, _ int) (*blocks.Trace, error) {
		one, err := l.learn(t.corpus, seed)
		if err != nil {
			return nil, err
		}
		trace, _ := paced(one.trace, stretch, seed)
		return change(trace, seed), nil
	}}
}

// forest is the conversations with all branches.
func (l *learner) forest(t *talks) workload {
	w := l.talk(t, 1, same)
	w.name += ", all branches"
	w.open = func(seed uint64, _ int) (*blocks.Trace, error) {
		one, err := l.learn(t.corpus, seed)
		if err != nil {
			return nil, err
		}
		trace, _ := paced(one.trees, 1, seed)
		trace.Name += ", all branches"
		return trace, nil
	}
	return w
}

// unified trains one model of all corpora, and others of other inputs.
func (l *learner) unified(s *predicted) error {
	var paths []string
	for _, t := range s.talks {
		path, remove, err := t.file(l.lab, l.Seeds[0])
		if err != nil {
			return err
		}
		defer remove()
		paths = append(paths, path)
	}
	set, err := train.Read(l.ctx, paths, l.Seeds[0])
	if err != nil {
		return err
	}
	workers := l.Parallel
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	s.together, err = train.Run(l.ctx, set, train.Options{Embedder: embed.NewBuiltin(), Seed: l.Seeds[0], Ablations: true, Workers: workers})
	if err == nil && l.Progress != nil {
		l.Progress("predictors of other inputs", 1, 1)
	}
	return err
}

// source is the name of a corpus in a train.Result.
func (t *talks) source() string {
	if t.path == "" {
		return "chats.jsonl"
	}
	return filepath.Base(t.path)
}

// withoutText plays recorded traces that have no texts, where LPC has the share of conversations that go on after a turn.
func (l *learner) withoutText(s *predicted) (err error) {
	if l.Data == "" {
		return nil
	}
	var all []sweep
	for _, r := range []recording{mooncake, miniswe, taubench, magagent} {
		all = append(all, sweep{workload: l.file(r), policies: noText, at: shares(.01, .05, .1, .25)})
	}
	s.others, err = l.play("traces without texts", all)
	return err
}
