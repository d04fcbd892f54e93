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
// what the operator says of them. Package review shows them.
package learn

import (
	"context"
	"strings"
	"sync"
	"time"

	"reprise/policy"
	"reprise/proxy/cache"
	"reprise/topics/reuse"
	"reprise/topics/reuse/evidence"
)

// Options of a Learner. All functions must be safe for concurrent use.
type Options struct {
	Compare func(a, b string) evidence.Outcome // compares the texts of two answers; required

	Rates func() *evidence.Rates // the estimates in force; required

	// Ask asks a model of the upstream under a credential of the operator, and returns the text of its whole answer; required where
	// SetModel names one.
	Ask func(ctx context.Context, model string, messages [2]Message) (text string, err error)

	// What the cache knows, required for Ended: the text of a stored answer, false where it has none that can be compared; whether it may
	// still be served; the topic of an entry; and the counting of an outcome.
	Stored   func(*cache.Hit) (text string, ok bool, err error)
	Serves   func(*cache.Hit) bool
	OwnTopic func(policy.ID) policy.TopicID
	Learn    func(*cache.Request, *cache.Finding, evidence.Outcome, evidence.Source)

	// Hold charges bytes of memory until release is called; false where there is no room for them. Default: there always is.
	Hold func(bytes int64) (room bool, release func())
	// Guard runs a step, and reports its error or panic. Default: run is called as it is.
	Guard func(step string, run func() error) (ok bool)

	// Suspect keeps a stored answer from serving the request of a pair from now on, until undo is called; required for Say.
	Suspect func(*Reviewed) (undo func())
	// Verdict counts an operator's verdict on a pair for good; required for Say.
	Verdict func(r *Reviewed, right bool) error

	Prompts bool             // pairs for review may hold prompts
	Now     func() time.Time // default time.Now
}

// Pair is two answers to one prompt: a stored one that was given to another prompt, and the one that the upstream has given.
type Pair struct {
	Verdict reuse.Verdict // on the stored answer
	Basis   string        // how that was found
	Source  evidence.Source
	Place   Place
	Ref     Ref
	Learn   func(evidence.Outcome) // counts an outcome that is not Unknown

	StoredPrompt, Prompt string
	Fresh                string // text of the upstream's answer; "": it cannot be compared
	Why                  string // why not, a short token
	// Stored reads the text of the stored answer; false where it has none that can be compared.
	Stored func() (text string, ok bool, err error)
	// Current reports whether no purge has come since the request: after one the pair is dropped. It must not call the Learner.
	Current func() bool
	// Private keeps the pair from leaving the process and from the shadow list: its client has forbidden to store the answer.
	Private bool

	release func() // takes back what it is charged; set by Compare
}

// Place is where a pair belongs, as a purge names it, and its figures.
type Place struct {
	Entry, Topic                       uint64
	Own, OwnTopic                      uint64 // made of the upstream's answer; 0: none
	Tenant, Namespace, Model, Endpoint string
	At                                 time.Time     // of the request
	Upstream                           time.Duration // that the upstream took
}

// MostText is the longest text that is compared, in bytes.
const MostText = 32 << 10

// Sizes of the queues. A pair takes up to MostText and two prompts.
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

	counts counts
	ctx    context.Context
	stop   context.CancelFunc
	work   sync.WaitGroup
}

// New returns a learner, which the caller must close.
func New(o Options) *Learner {
	if o.Hold == nil {
		o.Hold = func(int64) (bool, func()) { return true, func() {} }
	}
	if o.Guard == nil {
		o.Guard = func(_ string, run func() error) bool { return run() == nil }
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	l := &Learner{o: o, counts: newCounts(), reviews: reviews{rings: newRings()}, verdicts: map[uint64]*said{}}
	l.ctx, l.stop = context.WithCancel(context.Background())
	l.texts = queue{run: l.byText, most: mostTexts, work: &l.work}
	l.asked = queue{run: l.byModel, most: mostAsked, work: &l.work}
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

// Compare takes a pair to be compared later. It copies Fresh, which may be a view of a recording.
func (l *Learner) Compare(p Pair) {
	switch {
	case p.Fresh == "":
	case len(p.Fresh) > MostText:
		p.Why = "size"
	default:
		room, release := l.o.Hold(int64(pairBytes + len(p.Fresh) + len(p.StoredPrompt) + len(p.Prompt)))
		if !room {
			p.Why = "memory"
			break
		}
		p.Fresh, p.release = strings.Clone(p.Fresh), release
		if l.texts.add(&p) {
			return
		}
		release()
		p.Why = "busy"
	}
	l.end(&p, evidence.Unknown)
}

// byText compares the texts of a pair.
func (l *Learner) byText(p *Pair) {
	outcome, passed := evidence.Unknown, false
	defer func() {
		if !passed {
			p.release()
			l.end(p, outcome)
		}
	}()
	l.o.Guard("compare", func() error {
		if !p.Current() {
			return nil
		}
		stored, ok, err := p.Stored()
		if err != nil || !ok || len(stored) > MostText {
			p.Why = "stored"
			return err
		}
		if outcome = l.o.Compare(stored, p.Fresh); outcome != evidence.Unknown || p.Private || !l.judge.takes(stored, p.Fresh) {
			return nil
		}
		if !l.judge.spend(l.o.Now()) {
			l.counts.judged(judgedBudget)
			return nil
		}
		p.Stored = func() (string, bool, error) { return stored, true, nil }
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
		p.release()
		l.end(p, outcome)
	}()
	l.o.Guard("judge", func() error {
		if !p.Current() {
			return nil
		}
		stored, _, _ := p.Stored()
		ctx, cancel := context.WithTimeout(l.ctx, judgeLimit)
		defer cancel()
		text, err := l.o.Ask(ctx, l.judge.name(), question(p.Prompt, stored, p.Fresh, newMark()))
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
	l.o.Guard("learn", func() error {
		if !p.Current() {
			return nil
		}
		l.met(p, outcome)
		l.counts.outcome(p, outcome)
		if outcome != evidence.Unknown && p.Current() {
			p.Learn(outcome)
		}
		return nil
	})
}
