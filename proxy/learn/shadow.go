package learn

import (
	"slices"
	"sync"
	"time"

	"reprise/policy/reuse/edits"
	"reprise/policy/reuse/evidence"
)

// Shadowed is a hit that the shadow mode has kept back, and what the upstream has answered in its place.
type Shadowed struct {
	Time       time.Time `json:"time"` // of the request
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
	P          float64   `json:"p"`                    // estimated probability that the stored answer is right
	Outcome    string    `json:"outcome"`              // same, different or unknown
	Why        string    `json:"why,omitempty"`        // why there was nothing to compare
	Upstream   float64   `json:"upstream_seconds"`

	StoredBytes  int    `json:"stored_prompt_bytes"`
	PromptBytes  int    `json:"prompt_bytes"`
	StoredPrompt string `json:"stored_prompt,omitempty"` // only where prompts may be kept
	Prompt       string `json:"prompt,omitempty"`
}

// The shadow list keeps so many hits, and of their prompts so many bytes.
const (
	mostShadowed    = 1000
	mostShadowBytes = 4 << 20
)

// ring holds the last hits of the shadow mode, oldest first.
type ring struct {
	mu    sync.Mutex // guards what follows
	list  []Shadowed
	bytes int // of the prompts
}

// add adds a pair, unless a purge has come since its request. That is decided under the lock which a purge takes after it has changed
// Pair.Current, so nothing that the purge names is added behind it.
func (r *ring) add(p *Pair, outcome evidence.Outcome, prompts bool) {
	s := Shadowed{Time: p.Place.At, Entry: p.Place.Entry, Topic: p.Place.Topic, Own: p.Place.Own, OwnTopic: p.Place.OwnTopic, Tenant: p.Place.Tenant, Namespace: p.Place.Namespace, Model: p.Place.Model,
		Endpoint: p.Place.Endpoint, Basis: p.Basis, Similarity: p.Verdict.Case.Similarity, Edits: edits.Names(p.Verdict.Case.Edits), P: p.Verdict.P,
		Outcome: outcomeNames[outcome], Why: p.Why, Upstream: p.Place.Upstream.Seconds(), StoredBytes: len(p.StoredPrompt), PromptBytes: len(p.Prompt)}
	if prompts {
		s.StoredPrompt, s.Prompt = p.StoredPrompt, p.Prompt
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !p.Current() {
		return
	}
	r.list, r.bytes = append(r.list, s), r.bytes+s.size()
	for len(r.list) > mostShadowed || r.bytes > mostShadowBytes {
		r.bytes -= r.list[0].size()
		r.list[0] = Shadowed{} // its texts
		r.list = r.list[1:]
	}
}

func (s *Shadowed) size() int { return len(s.StoredPrompt) + len(s.Prompt) }

// Shadowed lists the last hits that the shadow mode has kept back, the newest first.
func (l *Learner) Shadowed() []Shadowed {
	l.shadow.mu.Lock()
	defer l.shadow.mu.Unlock()
	all := slices.Clone(l.shadow.list)
	slices.Reverse(all)
	return all
}

// Purge removes those of Shadowed that named selects. The caller has made Pair.Current false before, for all that it concerns.
func (l *Learner) Purge(named func(*Shadowed) bool) {
	r := &l.shadow
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = slices.DeleteFunc(r.list, func(s Shadowed) bool {
		if named(&s) {
			r.bytes -= s.size()
			return true
		}
		return false
	})
}
