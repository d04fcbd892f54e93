package learn

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"

	"reprise/topics/reuse"
	"reprise/topics/reuse/edits"
	"reprise/topics/reuse/evidence"
)

// Kind is why a request and a stored answer that was found for it are worth a look.
type Kind string

// The kinds. Equal requests are none of them: there is nothing to compare.
const (
	kindServed   Kind = "served"   // the stored answer was served
	kindCompared Kind = "compared" // it was there, and the upstream's answer was compared with it
	kindShadow   Kind = "shadow"   // the same in the shadow mode
	kindRefused  Kind = "refused"  // it was kept back: by a veto, by a difference that is not listed, or by its estimate
	kindBelow    Kind = "below"    // it was the nearest one, and below the hit threshold: of one request in 16
)

// kinds are all of them, in the order in which errors name them.
var kinds = []Kind{kindServed, kindCompared, kindShadow, kindRefused, kindBelow}

// Shadowed is an answer that was found by meaning for another prompt than its own, and what came of it.
type Shadowed struct {
	Time       time.Time `json:"time"` // of the request; of the last one where there were several
	Entry      uint64    `json:"entry"`
	Topic      uint64    `json:"topic"`
	Own        uint64    `json:"own_entry,omitempty"` // that was made of the upstream's answer
	OwnTopic   uint64    `json:"own_topic,omitempty"`
	Tenant     string    `json:"tenant"`
	Namespace  string    `json:"namespace,omitempty"`
	Model      string    `json:"model"`
	Endpoint   string    `json:"endpoint"`
	Basis      string    `json:"basis"`                // form, edits or meaning
	Similarity float64   `json:"similarity,omitempty"` // cosine; absent where none was computed
	Edits      []string  `json:"edits"`                // classes
	P          float64   `json:"p"`                    // estimated probability that the stored answer is right; 0: it cannot be served at all
	Outcome    string    `json:"outcome,omitempty"`    // of the comparison: same, different or unknown; absent where there was none
	Rule       string    `json:"rule,omitempty"`       // of package compare, that decided
	Why        string    `json:"why,omitempty"`        // why there was nothing to compare
	Upstream   float64   `json:"upstream_seconds,omitempty"`

	StoredBytes  int    `json:"stored_prompt_bytes"`
	PromptBytes  int    `json:"prompt_bytes"`
	StoredPrompt string `json:"stored_prompt,omitempty"` // only where prompts may be kept
	Prompt       string `json:"prompt,omitempty"`
}

// Reviewed is a pair of a request and a stored answer, for the eyes of an operator.
type Reviewed struct {
	ID    uint64 `json:"id"`
	Kind  Kind   `json:"kind"`
	Times int    `json:"times"` // that the request came and met the answer in this way
	Shadowed
	Refusal string `json:"refusal,omitempty"` // what kept it back, in the word of Cache-Status
	Verdict string `json:"verdict,omitempty"` // of an operator: right or wrong
	Undo    bool   `json:"undo,omitempty"`    // the verdict may still be taken back

	Decision reuse.Verdict `json:"-"` // at the time of the request
	Ref      Ref           `json:"-"`
}

// Ref is what names the request of a pair, and the entry, for the cache: their keys.
type Ref struct{ Request, Entry [32]byte }

// The last ones of each kind that are kept, and of their prompts so many bytes, each cut at mostPrompt.
const (
	mostShadowed  = 1000
	mostReviewed  = 250
	mostRingBytes = 4 << 20
	mostPrompt    = 8 << 10
	cutPrompt     = "…"
	verdictRight  = "right"
	verdictWrong  = "wrong"
)

// ring holds the last pairs of a kind, oldest first.
type ring struct {
	list  []*Reviewed
	by    map[name]*Reviewed // the newest of each name
	bytes int                // of the prompts
}

// name is by what pairs of a kind are distinguished.
type name struct {
	Ref
	entry uint64
}

func (s *Reviewed) name() name { return name{s.Ref, s.Entry} }

// leave takes a pair out of all but the list.
func (in *ring) leave(one *Reviewed) {
	in.bytes -= one.size()
	if in.by[one.name()] == one {
		delete(in.by, one.name())
	}
}

// reviews are the rings.
type reviews struct {
	mu    sync.Mutex // guards what follows
	last  uint64     // id
	rings map[Kind]*ring
}

func newRings() map[Kind]*ring {
	rings := map[Kind]*ring{}
	for _, k := range kinds {
		rings[k] = &ring{by: map[name]*Reviewed{}}
	}
	return rings
}

func (k Kind) most() int {
	if k == kindShadow {
		return mostShadowed
	}
	return mostReviewed
}

// add adds a pair, unless a purge has come since its request. That is decided under the lock which a purge takes after it has changed
// what current returns, so nothing that the purge names is added behind it. A pair that is there already is counted. It returns the id of the
// pair, 0 where that is not kept.
func (l *Learner) add(kind Kind, p *Pair, outcome string) (id uint64) {
	r := &l.reviews
	r.mu.Lock()
	defer r.mu.Unlock()
	if p.Private || !l.current(p) {
		return 0
	}
	in := r.rings[kind]
	if one := in.by[name{p.Ref, p.Place.Entry}]; one != nil && kind != kindShadow {
		one.Times, one.Time = one.Times+1, p.Place.At
		return one.ID
	}
	r.last++
	one := &Reviewed{ID: r.last, Kind: kind, Times: 1, Shadowed: shadowed(p, outcome), Decision: p.Verdict, Ref: p.Ref}
	if kind == kindRefused {
		one.Refusal = string(p.Verdict.Refusal())
	}
	if l.o.Prompts {
		one.StoredPrompt, one.Prompt = cut(p.StoredPrompt), cut(p.Prompt)
	}
	in.list, in.bytes, in.by[one.name()] = append(in.list, one), in.bytes+one.size(), one
	for len(in.list) > kind.most() || in.bytes > mostRingBytes {
		in.leave(in.list[0])
		in.list[0] = nil
		in.list = in.list[1:]
	}
	return one.ID
}

func shadowed(p *Pair, outcome string) Shadowed {
	return Shadowed{Time: p.Place.At, Entry: p.Place.Entry, Topic: p.Place.Topic, Own: p.Place.Own, OwnTopic: p.Place.OwnTopic, Tenant: p.Place.Tenant,
		Namespace: p.Place.Namespace, Model: p.Place.Model, Endpoint: p.Place.Endpoint, Basis: p.Basis, Similarity: p.Verdict.Case.Similarity,
		Edits: edits.Names(p.Verdict.Case.Edits), P: p.Verdict.P, Outcome: outcome, Rule: p.Result.Why, Why: p.Why, Upstream: p.Place.Upstream.Seconds(),
		StoredBytes: len(p.StoredPrompt), PromptBytes: len(p.Prompt)}
}

// cut is a copy of a prompt, which is no part of what a request holds, with the begin of one that is too long.
func cut(prompt string) string {
	if len(prompt) <= mostPrompt {
		return strings.Clone(prompt)
	}
	return strings.ToValidUTF8(prompt[:mostPrompt-len(cutPrompt)], "") + cutPrompt
}

func (s *Reviewed) size() int { return len(s.StoredPrompt) + len(s.Prompt) }

// uncompared keeps a pair in mind that was not compared with the upstream's answer. It costs 2 µs and the copies of two prompts (BenchmarkMet).
func (l *Learner) uncompared(kind Kind, p *Pair) {
	if l.ctx.Err() == nil {
		l.add(kind, p, "")
	}
}

// met keeps a pair in mind that was, and returns its id, 0 where it is not kept.
func (l *Learner) met(p *Pair, outcome evidence.Outcome) (id uint64) {
	kind := kindCompared
	if p.Source == evidence.Shadow {
		kind = kindShadow
	}
	return l.add(kind, p, outcomeNames[outcome])
}

// Shadowed lists the last hits that the shadow mode has kept back, the newest first.
func (l *Learner) Shadowed() (all []Shadowed) {
	l.reviews.mu.Lock()
	defer l.reviews.mu.Unlock()
	for _, one := range slices.Backward(l.reviews.rings[kindShadow].list) {
		all = append(all, one.Shadowed)
	}
	return all
}

// Reviews lists the last pairs of all kinds, those that were met first last. They are copies.
func (l *Learner) Reviews() (all []Reviewed) {
	l.reviews.mu.Lock()
	defer l.reviews.mu.Unlock()
	for _, k := range kinds {
		for _, one := range l.reviews.rings[k].list {
			all = append(all, *one)
		}
	}
	slices.SortFunc(all, func(a, b Reviewed) int { return cmp.Compare(b.ID, a.ID) })
	return all
}

// Review is the pair of an id; false where there is none, or none any more.
func (l *Learner) Review(id uint64) (Reviewed, bool) {
	l.reviews.mu.Lock()
	defer l.reviews.mu.Unlock()
	if one := l.reviews.find(id); one != nil {
		return *one, true
	}
	return Reviewed{}, false
}

func (r *reviews) find(id uint64) *Reviewed {
	for _, in := range r.rings {
		for _, one := range in.list {
			if one.ID == id {
				return one
			}
		}
	}
	return nil
}

// purge removes the pairs that named selects. Their requests are stale by then.
func (l *Learner) purge(named func(*Shadowed) bool) {
	r := &l.reviews
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, in := range r.rings {
		in.list = slices.DeleteFunc(in.list, func(one *Reviewed) bool {
			gone := named(&one.Shadowed)
			if gone {
				in.leave(one)
			}
			return gone
		})
	}
}
