// Package learn finds out whether answers that are reused by meaning are right, and counts what it finds.
//
// Where the proxy has asked the upstream although a stored answer was there (an exploration, or the shadow mode), it passes both answers
// as a [Pair]. The [Learner] compares their texts, and asks a model of the upstream where the texts do not decide, one is configured, and
// its budget is not spent. The outcome goes to the evidence by which the cache decides what it serves.
//
// Nothing of this delays or fails a client: a pair is put into a short queue, and dropped where that is full, where memory is short, or
// where a purge has come meanwhile. A goroutine runs only while there is something to compare.
//
// It also has the last pairs in memory for an operator, those that were served or kept back without a comparison too ([Learner.Reviews]), and counts
// what the operator says of them. [Learner.List] shows them, with words and the alignment of both prompts, which are made when they are asked for.
package learn

import (
	"cmp"
	"context"
	"strings"
	"sync"
	"time"

	"reprise/policy"
	"reprise/proxy/cache"
	"reprise/proxy/observe"
	"reprise/store"
	"reprise/topics/reuse"
	"reprise/topics/reuse/compare"
	"reprise/topics/reuse/evidence"
)

// Options of a Learner.
type Options struct {
	Server   Server                                            // required
	Cache    Cache                                             // required
	Verdicts Verdicts                                          // required
	Compare  func(compare.Pair, *compare.Noise) compare.Result // default compare.Answers
	Prompts  bool                                              // pairs for review may hold prompts, and be shown with them
	Now      func() time.Time                                  // default time.Now
}

// Server is what a Learner needs of the proxy. It is safe for concurrent use.
type Server interface {
	// Ask asks a model of the upstream under a credential of the operator, and returns the text of its whole answer.
	Ask(ctx context.Context, model string, messages [2]Message) (text string, err error)
	// Text is the text of a stored answer; false where it has none that can be compared.
	Text(hit *cache.Hit) (text string, ok bool, err error)
	// Hold charges bytes of memory, which Release gives back; false where there is no room for them.
	Hold(bytes int64) (room bool)
	Release(bytes int64)
	// Guard runs a step, and reports its error or panic.
	Guard(step string, run func() error) (ok bool)
	// Judge judges a pair by the rule that is in force for its request.
	Judge(*Reviewed) *reuse.Judge
	// MaxError is the error rate that is in force for requests without a rule.
	MaxError() float64
	// Compared counts how the stored answer of f.Explore compares with the upstream's answer to r.
	Compared(r *cache.Request, f *cache.Finding, result compare.Result, from evidence.Source)
}

// Cache is what a Learner needs of the cache.
type Cache interface {
	Rates() *evidence.Rates
	Serves(*cache.Hit) bool
	Get(policy.ID) (*store.Entry, bool)
	Asked(e *store.Entry, prompt string) (stored, asked string)
}

// Verdicts is where the verdicts of an operator go.
type Verdicts interface {
	Suspect(cache.Pair) (undo func())
	Reviewed(p cache.Pair, right bool) error
}

// Pair is two answers to one prompt: a stored one that was given to another prompt, and the one that the upstream has given.
type Pair struct {
	Came    observe.Stamp // of the request: after a purge the pair is dropped
	Verdict reuse.Verdict // on the stored answer
	Basis   string        // how that was found
	Source  evidence.Source
	Place   Place
	Ref     Ref

	StoredPrompt, Prompt string // what asks in both prompts, which is what was compared
	whole                string // the prompt of the request
	// Private keeps the pair from leaving the process and from the shadow list: its client has forbidden to store the answer.
	Private bool

	// Of a pair that is compared: the request without what holds its body in memory, what its search has found, and the texts of both answers.
	Request        *cache.Request
	Found          *cache.Finding
	Fresh          string // of the upstream; "": it cannot be compared
	Why            string // why not, a short token
	compare.Result        // of the comparison
	stored         string // read when they are compared
	charged        int64
}

// current reports whether a pair still counts: no purge has come since the request, and the stored answer may be served.
func (l *Learner) current(p *Pair) bool {
	return !p.Came.Stale() && (p.Found == nil || l.o.Cache.Serves(p.Found.Explore))
}

// Place is where a pair belongs, as a purge names it, and its figures.
type Place struct {
	Entry, Topic                       uint64
	Own, OwnTopic                      uint64 // made of the upstream's answer; 0: none
	Tenant, Namespace, Model, Endpoint string
	At                                 time.Time     // of the request
	Upstream                           time.Duration // that the upstream took
}

// mostText is the longest text that is compared, in bytes.
const mostText = 32 << 10

// Sizes of the queues. A pair takes up to mostText and two prompts.
const (
	mostTexts  = 64
	mostAsked  = 16
	pairBytes  = 2 << 10          // of a pair beside its texts
	judgeLimit = 30 * time.Second // for one call
)

// Learner compares pairs and counts outcomes. All methods are safe for concurrent use, and none waits for a comparison, except Close.
type Learner struct {
	o     Options
	texts queue // compared by their texts
	asked queue // of the model, because the texts did not decide
	judge judge

	reviews  reviews
	verdicts map[uint64]*said // that may be taken back, by the id of the pair; guarded by the lock of reviews

	places places
	counts counts
	ctx    context.Context
	stop   context.CancelFunc
	work   sync.WaitGroup
}

// New returns a learner, which the caller must close.
func New(o Options) *Learner {
	if o.Compare == nil {
		o.Compare = compare.Answers
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	l := &Learner{o: o, counts: newCounts(), reviews: reviews{rings: newRings()}, verdicts: map[uint64]*said{}, places: places{of: map[uint64]*scopePlace{}}}
	l.ctx, l.stop = context.WithCancel(context.Background())
	l.texts = queue{run: l.byText, drop: l.drop, most: mostTexts, work: &l.work}
	l.asked = queue{run: l.byModel, drop: l.drop, most: mostAsked, work: &l.work}
	return l
}

// Close counts the verdicts that could still be taken back, drops what waits to be compared, and returns when no comparison is under way.
func (l *Learner) Close() {
	l.settleAll()
	l.stop()
	l.texts.close()
	l.asked.close()
	l.work.Wait()
}

// compare takes a pair to be compared later. It copies Fresh, which may be a view of a recording.
func (l *Learner) compare(p Pair) {
	switch {
	case p.Fresh == "":
	case len(p.Fresh) > mostText:
		p.Why = "size"
	default:
		p.charged = int64(pairBytes + len(p.Fresh) + len(p.StoredPrompt) + max(len(p.Prompt), len(p.whole)))
		if !l.o.Server.Hold(p.charged) {
			p.Why = "memory"
			break
		}
		p.Fresh = strings.Clone(p.Fresh)
		if l.texts.add(&p) {
			return
		}
		l.drop(&p)
		p.Why = "busy"
	}
	l.end(&p, evidence.Unknown)
}

// drop gives back what a pair is charged.
func (l *Learner) drop(p *Pair) { l.o.Server.Release(p.charged) }

// byText compares the texts of a pair.
func (l *Learner) byText(p *Pair) {
	outcome, passed := evidence.Unknown, false
	defer func() {
		if !passed {
			l.drop(p)
			l.end(p, outcome)
		}
	}()
	l.o.Server.Guard("compare", func() error {
		if !l.current(p) {
			return nil
		}
		stored, ok, err := l.o.Server.Text(p.Found.Explore)
		if err != nil || !ok || len(stored) > mostText {
			p.Why = "stored"
			return err
		}
		p.stored = stored
		noise := compare.Noise(l.o.Cache.Rates().Noise(&p.Found.Verdict.Case))
		p.Result = l.o.Compare(compare.Pair{StoredPrompt: p.StoredPrompt, Prompt: p.Prompt, Stored: stored, Fresh: p.Fresh}, &noise)
		if p.Found.Basis == cache.Repeated && p.Result.Closeness == 0 && p.Result.Why != "closeness" && p.Result.Why != "noise" {
			p.Why = p.Result.Why // nothing was said, or too much to be read
		}
		if outcome = p.Result.Outcome; outcome != evidence.Unknown || p.Private || p.Found.Basis == cache.Repeated || !l.judge.takes(stored, p.Fresh) {
			return nil
		}
		if !l.judge.spend(l.o.Now()) {
			l.counts.judged(judgedBudget)
			return nil
		}
		if passed = l.asked.add(p); !passed {
			l.counts.judged(judgedBusy)
		}
		return nil
	})
}

// byModel has the model of the upstream compare a pair.
func (l *Learner) byModel(p *Pair) {
	outcome := evidence.Unknown
	defer func() {
		l.drop(p)
		l.end(p, outcome)
	}()
	l.o.Server.Guard("judge", func() error {
		if !l.current(p) {
			return nil
		}
		ctx, cancel := context.WithTimeout(l.ctx, judgeLimit)
		defer cancel()
		text, err := l.o.Server.Ask(ctx, l.judge.name(), question(cmp.Or(p.whole, p.Prompt), p.stored, p.Fresh, newMark()))
		if l.ctx.Err() != nil {
			return nil // it ends with the proxy
		}
		if err != nil {
			l.counts.judged(judgedFault)
			return err
		}
		var how string
		outcome, how = parseVerdict(text)
		l.counts.judged(how)
		return nil
	})
}

// end counts the outcome of a pair, unless a purge has come meanwhile.
func (l *Learner) end(p *Pair, outcome evidence.Outcome) {
	if l.ctx.Err() != nil {
		return
	}
	l.o.Server.Guard("learn", func() error {
		if !l.current(p) {
			return nil
		}
		if p.Why == "" && l.current(p) {
			p.Result.Outcome = outcome // which the model may have decided
			l.o.Server.Compared(p.Request, p.Found, p.Result, p.Source)
		}
		if p.Found == nil || p.Found.Basis != cache.Repeated { // those of equal prompts tell nothing about a pair
			l.note(p, outcome, l.met(p, outcome))
		}
		l.counts.outcome(p, outcome)
		return nil
	})
}
