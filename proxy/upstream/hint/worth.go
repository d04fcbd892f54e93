package hint

import (
	"cmp"
	"container/list"
	"iter"
	"math"
	"slices"
	"strconv"
	"sync"
	"time"

	"reprise/policy"
	"reprise/proxy/upstream/dialect"
	"reprise/proxy/upstream/prefix"
)

// Miss is a request that goes to an engine.
type Miss struct {
	Group uint64 // of the response cache: only requests with equal groups can share an answer
	Chain *prefix.Chain
	Turn  int // of the conversation, 1 for the first

	Tenant, Model, Path string
}

// The kinds of prefixes.
const (
	application    = "application"  // tools and system prompt
	ofConversation = "conversation" // and the messages up to the last request
)

// arrivals is how often events come, by the mean of the last gaps between them. A count in a window of minutes would not do: what an upstream
// keeps for an hour returns in hours.
type arrivals struct {
	mean, last float64 // seconds
	events     int
}

// gaps is how many gaps the mean has.
const gaps = 16

func (r *arrivals) add(now float64) {
	if r.events > 0 {
		r.mean += (now - r.last - r.mean) / float64(min(r.events, gaps))
	}
	r.events++
	r.last = now
}

// per is the rate per second, 0 where there were fewer than two events: one event has no rate. A silence that is longer than the mean counts
// as a gap.
func (r *arrivals) per(now float64) float64 {
	if r.events < 2 {
		return 0
	}
	mean := r.mean
	if open := now - r.last; open > mean {
		mean += (open - mean) / float64(min(r.events, gaps))
	}
	return 1 / max(mean, 1e-3)
}

// known is what is known of one prefix.
type known struct {
	block               prefix.Block
	kind                string
	category            uint32  // of the last miss, as of policy.CategoryOf: its path is the type
	prob                float64 // predicted after the last miss; 0: none
	tenant, model, path string
	tokens              int
	last                float64  // miss
	arrivals, residual  arrivals // of all requests, of misses
	requests, toEngines int64
	at                  *list.Element
}

// Prefixes is what is known of the prefixes of recent requests. It is safe for concurrent use.
type Prefixes struct {
	mu       sync.Mutex // guards what follows
	most     int
	prefixes map[prefix.Block]*known
	order    *list.List // of *known, the last miss in front
	groups   map[uint64]prefix.Block
	paths    map[string]uint16 // types of requests
	apps     Returns           // of prefixes of applications, by path and turn of the last request
	chats    Returns           // of those of conversations
	turns    Returns           // of those of conversations by the turn alone
}

// mostPrefixes bounds a table. A prefix takes about 300 bytes.
const mostPrefixes = 4096

// NewPrefixes returns an empty table.
func NewPrefixes() *Prefixes {
	return &Prefixes{most: mostPrefixes, prefixes: map[prefix.Block]*known{}, order: list.New(), groups: map[uint64]prefix.Block{},
		paths: map[string]uint16{}}
}

// Miss notes a request that goes to an engine, and returns how often per second requests with its tools and system prompt do so: λ(1−h).
// It is 0 for the first one.
func (t *Prefixes) Miss(m Miss, at time.Time) (residual float64) {
	now := seconds(at)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.advance(now)
	if m.Chain.Shared > 0 {
		k := t.see(m.Chain.Scaffold, application, &m, now)
		k.tokens = m.Chain.Shared * prefix.BlockTokens / prefix.BlockBytes
		residual = k.residual.per(now)
		if len(t.groups) >= 4*t.most {
			clear(t.groups) // they are learned again with the next misses
		}
		t.groups[m.Group] = k.block
	}
	k := t.see(m.Chain.Opening, ofConversation, &m, now)
	k.tokens = m.Chain.Tokens()
	for len(t.prefixes) > t.most {
		t.forget(t.order.Back().Value.(*known), now)
	}
	return residual
}

// Predicted sets the probability that the conversation of a miss at a time goes on (papers/004), in (0, 1), after the miss was noted. It has no
// effect where the conversation, which is named by the opening of its chain, was forgotten or has missed again.
func (t *Prefixes) Predicted(opening prefix.Block, prob float64, at time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if k := t.prefixes[opening]; k != nil && k.kind == ofConversation && k.last == seconds(at) {
		k.prob = prob
	}
}

// Hit notes a request that the response cache has answered. Its prefix is the one of the last miss of its group.
func (t *Prefixes) Hit(group uint64, at time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if k := t.prefixes[t.groups[group]]; k != nil {
		k.arrivals.add(seconds(at))
		k.requests++
	}
}

// Residual is how often per second requests with a prefix go to an engine, and how long ago the last one did. It is not known if the prefix
// was forgotten.
func (t *Prefixes) Residual(b prefix.Block, at time.Time) (perSecond float64, idle time.Duration, known bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	k := t.prefixes[b]
	if k == nil {
		return 0, 0, false
	}
	now := seconds(at)
	return k.residual.per(now), time.Duration((now - k.last) * float64(time.Second)), true
}

// see notes a miss of a prefix. The caller must hold the lock.
func (t *Prefixes) see(b prefix.Block, kind string, m *Miss, now float64) *known {
	k := t.prefixes[b]
	if k == nil {
		k = &known{block: b}
		k.at = t.order.PushFront(k)
		t.prefixes[b] = k
	} else {
		t.order.MoveToFront(k.at)
		for model, category := range t.models(k) {
			model.Again(category, now-k.last)
		}
	}
	k.kind, k.category = kind, policy.CategoryOf(t.path(m.Path), m.Turn)
	k.tenant, k.model, k.path, k.prob, k.last = m.Tenant, m.Model, m.Path, 0, now
	k.arrivals.add(now)
	k.residual.add(now)
	k.requests++
	k.toEngines++
	return k
}

// path is the type of requests with a path; those beyond the first ones have one together.
func (t *Prefixes) path(path string) uint16 {
	n, ok := t.paths[path]
	if !ok {
		n = uint16(min(len(t.paths), mostPaths))
		if n < mostPaths {
			t.paths[path] = n
		}
	}
	return n
}

const mostPaths = 64

// models yields the models that learn from a prefix, with its category in each.
func (t *Prefixes) models(k *known) iter.Seq2[*Returns, uint32] {
	return func(yield func(*Returns, uint32) bool) {
		if k.kind == application {
			yield(&t.apps, k.category)
		} else if yield(&t.chats, k.category) {
			yield(&t.turns, k.category%policy.MostTurns)
		}
	}
}

// forget removes a prefix, which has not returned so far. The caller must hold the lock.
func (t *Prefixes) forget(k *known, now float64) {
	for model, category := range t.models(k) {
		model.Lost(category, now-k.last)
	}
	t.order.Remove(k.at)
	delete(t.prefixes, k.block)
}

// advance makes what was seen lose weight. The caller must hold the lock.
func (t *Prefixes) advance(now float64) {
	for _, m := range []*Returns{&t.apps, &t.chats, &t.turns} {
		m.advance(now)
	}
}

// fit brings the models up to date. The caller must hold the lock.
func (t *Prefixes) fit(now float64) {
	for _, m := range []*Returns{&t.apps, &t.chats, &t.turns} {
		if m.Due(now) {
			m.Refit(now, t.open(m, now))
		}
	}
}

// open yields the prefixes that a model learns from and that have not returned yet, by category and how long ago they were seen.
func (t *Prefixes) open(m *Returns, now float64) iter.Seq2[uint32, float64] {
	return func(yield func(uint32, float64) bool) {
		for at := t.order.Front(); at != nil; at = at.Next() {
			k := at.Value.(*known)
			for model, category := range t.models(k) {
				if model == m && !yield(category, now-k.last) {
					return
				}
			}
		}
	}
}

// Ranked is one prefix in the order of what it is worth.
type Ranked struct {
	Prefix    string  `json:"prefix"` // its block, in hexadecimal
	Kind      string  `json:"kind"`
	Tenant    string  `json:"tenant"`
	Model     string  `json:"model"`
	Path      string  `json:"path"`
	Turn      int     `json:"turn"` // of its last request
	Tokens    int     `json:"tokens"`
	Requests  int64   `json:"requests"`
	ToEngines int64   `json:"to_engines"`
	Rate      float64 `json:"requests_per_second"`   // λ
	HitRatio  float64 `json:"hit_ratio"`             // h
	Residual  float64 `json:"to_engines_per_second"` // λ(1−h)
	Idle      float64 `json:"idle_seconds"`          // since an engine saw it
	Returns   float64 `json:"returns"`               // probability that it comes to an engine within the life, by its category or as predicted
	Continues float64 `json:"continues"`             // probability that its conversation goes on, by its turn or as predicted; 0 for an application
	Worth     float64 `json:"expected_tokens_saved"` // Tokens × Returns
}

// Rank lists the prefixes that are worth most if they are kept for life, the best one first, at most n.
func (t *Prefixes) Rank(life time.Duration, n int, at time.Time) []Ranked {
	now := seconds(at)
	t.mu.Lock()
	t.fit(now)
	all := make([]Ranked, 0, len(t.prefixes))
	for _, k := range t.prefixes {
		all = append(all, t.ranked(k, life.Seconds(), now))
	}
	t.mu.Unlock()
	slices.SortFunc(all, func(a, b Ranked) int { return cmp.Or(cmp.Compare(b.Worth, a.Worth), cmp.Compare(a.Prefix, b.Prefix)) })
	return all[:min(n, len(all))]
}

func (t *Prefixes) ranked(k *known, life, now float64) Ranked {
	r := Ranked{Prefix: strconv.FormatUint(uint64(k.block), 16), Kind: k.kind, Tenant: k.tenant, Model: k.model, Path: k.path, Turn: int(k.category%policy.MostTurns) + 1,
		Tokens: k.tokens, Requests: k.requests, ToEngines: k.toEngines, Rate: k.arrivals.per(now), Residual: k.residual.per(now), Idle: now - k.last}
	if r.Rate > 0 {
		r.HitRatio = max(1-r.Residual/r.Rate, 0)
	}
	if k.kind == application {
		r.Returns = t.apps.Of(k.category).Within(r.Idle, life)
	} else {
		category, turn := t.chats.Of(k.category), t.turns.Of(k.category%policy.MostTurns)
		if k.prob > 0 {
			p := min(max(k.prob, 1e-6), 1-1e-6) // never certain, so that its odds are finite
			category.P, turn.P = p, p
		}
		r.Returns = category.Within(r.Idle, life)
		r.Continues = Fit{P: turn.P, Rate: t.turns.overall().Rate}.still(r.Idle)
	}
	r.Worth = float64(r.Tokens) * r.Returns
	return r
}

func seconds(t time.Time) float64 { return float64(t.UnixNano()) / 1e9 }

// margin is how much cheaper, in prices of a token that is not kept, a longer life must be than a shorter one.
const margin = 0.05

// Decide returns the retention that costs least at an upstream where requests of a prefix arrive at a rate per second.
//
// A write pays if the saving of a later read, times its probability within the life, exceeds the extra price of the write:
// p(1−read) > write−1 with p = 1−exp(−rate × life). Where no single read can pay for the write, as with one at twice the price, that is
// asked of the expected reads, rate × life. Of two lives that pay, the short one is chosen, unless the long one is cheaper by more than a
// margin in the price of a request in the long run, p × read + (1−p) × write (each use begins another life): the text that a conversation
// adds is written with every request, which that price leaves out. Where none pays, an upstream that would write by itself is asked not to.
func Decide(rate float64, c dialect.Caps) dialect.Retain {
	if !c.Retain {
		return dialect.RetainDefault
	}
	short, shortPays := price(rate, c.Life, c.Write, c.Read)
	long, longPays := price(rate, c.LifeLong, c.WriteLong, c.Read)
	switch {
	case longPays && (!shortPays || long < short-margin):
		return dialect.RetainLong
	case shortPays:
		return dialect.RetainShort
	case c.Always:
		return dialect.RetainOff
	}
	return dialect.RetainDefault
}

// price is what a request costs in the long run, and whether it pays to write.
func price(rate float64, life time.Duration, write, read float64) (cost float64, pays bool) {
	uses := rate * life.Seconds()
	p := -math.Expm1(-uses)
	reads := p
	if write-1 >= 1-read {
		reads = uses
	}
	return p*read + (1-p)*write, reads*(1-read) > write-1
}
