// Package worth estimates what each prefix is worth to the cache of an engine. The response cache hides traffic from the engine: of the
// requests of a prefix that arrive at a rate λ, of which a share h is answered here, the engine sees λ(1−h) only, and prefixes go cold
// there because the proxy works. That residual rate decides which retention pays; prefixes are ranked by the probability that they return
// to the engine within a life, with the models of KV policies: that of wa, by the category of their last request (papers/001 §4.2), and that of
// lpc-wa where the continuation of the conversation is predicted (papers/004 §3.4).
package worth

import (
	"cmp"
	"container/list"
	"iter"
	"slices"
	"strconv"
	"sync"
	"time"

	"reprise/policy"
	"reprise/proxy/upstream/prefix"
	"reprise/proxy/upstream/returns"
)

// Miss is a request that goes to an engine.
type Miss struct {
	Group uint64 // of the response cache: only requests with equal groups can share an answer
	Chain *prefix.Chain
	Turn  int // of the conversation, 1 for the first

	Tenant, Model, Path string
}

// Kind is how far a prefix reaches.
type Kind string

// The kinds of prefixes.
const (
	Application  Kind = "application"  // tools and system prompt
	Conversation Kind = "conversation" // and the messages up to the last request
)

// rate is how often events come, by the mean of the last gaps between them. A count in a window of minutes would not do: what an upstream
// keeps for an hour returns in hours.
type rate struct {
	mean, last float64 // seconds
	events     int
}

// gaps is how many gaps the mean has.
const gaps = 16

func (r *rate) add(now float64) {
	if r.events > 0 {
		r.mean += (now - r.last - r.mean) / float64(min(r.events, gaps))
	}
	r.events++
	r.last = now
}

// per is the rate per second, 0 where there were fewer than two events: one event has no rate. A silence that is longer than the mean counts
// as a gap.
func (r *rate) per(now float64) float64 {
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
	kind                Kind
	category            uint32  // of the last miss, as of policy.CategoryOf: its path is the type
	prob                float64 // predicted after the last miss; 0: none
	tenant, model, path string
	tokens              int
	last                float64 // miss
	arrivals, residual  rate    // of all requests, of misses
	requests, toEngines int64
	at                  *list.Element
}

// Table is what is known of the prefixes of recent requests. It is safe for concurrent use.
type Table struct {
	mu       sync.Mutex // guards what follows
	most     int
	prefixes map[prefix.Block]*known
	order    *list.List // of *known, the last miss in front
	groups   map[uint64]prefix.Block
	paths    map[string]uint16 // types of requests
	apps     returns.Model     // of prefixes of applications, by path and turn of the last request
	chats    returns.Model     // of those of conversations
	turns    returns.Model     // of those of conversations by the turn alone
}

// DefaultMost is the default of New.
const DefaultMost = 4096

// New returns an empty table of at most so many prefixes; 0: DefaultMost. One takes about 300 bytes.
func New(most int) *Table {
	return &Table{most: cmp.Or(most, DefaultMost), prefixes: map[prefix.Block]*known{}, order: list.New(), groups: map[uint64]prefix.Block{},
		paths: map[string]uint16{}}
}

// Miss notes a request that goes to an engine, and returns how often per second requests with its tools and system prompt do so: λ(1−h).
// It is 0 for the first one.
func (t *Table) Miss(m Miss, at time.Time) (residual float64) {
	now := seconds(at)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.advance(now)
	if m.Chain.Shared > 0 {
		k := t.see(m.Chain.Scaffold, Application, &m, now)
		k.tokens = m.Chain.Shared * prefix.BlockTokens / prefix.BlockBytes
		residual = k.residual.per(now)
		if len(t.groups) >= 4*t.most {
			clear(t.groups) // they are learned again with the next misses
		}
		t.groups[m.Group] = k.block
	}
	k := t.see(m.Chain.Opening, Conversation, &m, now)
	k.tokens = m.Chain.Tokens()
	for len(t.prefixes) > t.most {
		t.forget(t.order.Back().Value.(*known), now)
	}
	return residual
}

// Predicted sets the probability that the conversation of a miss at a time goes on (papers/004), in (0, 1), after the miss was noted. It has no
// effect where the conversation, which is named by the opening of its chain, was forgotten or has missed again.
func (t *Table) Predicted(opening prefix.Block, prob float64, at time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if k := t.prefixes[opening]; k != nil && k.kind == Conversation && k.last == seconds(at) {
		k.prob = prob
	}
}

// Hit notes a request that the response cache has answered. Its prefix is the one of the last miss of its group.
func (t *Table) Hit(group uint64, at time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if k := t.prefixes[t.groups[group]]; k != nil {
		k.arrivals.add(seconds(at))
		k.requests++
	}
}

// Residual is how often per second requests with a prefix go to an engine, and how long ago the last one did. It is not known if the prefix
// was forgotten.
func (t *Table) Residual(b prefix.Block, at time.Time) (perSecond float64, idle time.Duration, known bool) {
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
func (t *Table) see(b prefix.Block, kind Kind, m *Miss, now float64) *known {
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
func (t *Table) path(path string) uint16 {
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
func (t *Table) models(k *known) iter.Seq2[*returns.Model, uint32] {
	return func(yield func(*returns.Model, uint32) bool) {
		if k.kind == Application {
			yield(&t.apps, k.category)
		} else if yield(&t.chats, k.category) {
			yield(&t.turns, k.category%policy.MostTurns)
		}
	}
}

// forget removes a prefix, which has not returned so far. The caller must hold the lock.
func (t *Table) forget(k *known, now float64) {
	for model, category := range t.models(k) {
		model.Lost(category, now-k.last)
	}
	t.order.Remove(k.at)
	delete(t.prefixes, k.block)
}

// advance makes what was seen lose weight. The caller must hold the lock.
func (t *Table) advance(now float64) {
	for _, m := range []*returns.Model{&t.apps, &t.chats, &t.turns} {
		m.Advance(now)
	}
}

// fit brings the models up to date. The caller must hold the lock.
func (t *Table) fit(now float64) {
	for _, m := range []*returns.Model{&t.apps, &t.chats, &t.turns} {
		if m.Due(now) {
			m.Refit(now, t.open(m, now))
		}
	}
}

// open yields the prefixes that a model learns from and that have not returned yet, by category and how long ago they were seen.
func (t *Table) open(m *returns.Model, now float64) iter.Seq2[uint32, float64] {
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
	Kind      Kind    `json:"kind"`
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
func (t *Table) Rank(life time.Duration, n int, at time.Time) []Ranked {
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

func (t *Table) ranked(k *known, life, now float64) Ranked {
	r := Ranked{Prefix: strconv.FormatUint(uint64(k.block), 16), Kind: k.kind, Tenant: k.tenant, Model: k.model, Path: k.path, Turn: int(k.category%policy.MostTurns) + 1,
		Tokens: k.tokens, Requests: k.requests, ToEngines: k.toEngines, Rate: k.arrivals.per(now), Residual: k.residual.per(now), Idle: now - k.last}
	if r.Rate > 0 {
		r.HitRatio = max(1-r.Residual/r.Rate, 0)
	}
	if k.kind == Application {
		r.Returns = t.apps.Of(k.category).Within(r.Idle, life)
	} else {
		category, turn := t.chats.Of(k.category), t.turns.Of(k.category%policy.MostTurns)
		if k.prob > 0 {
			category, turn = category.Predicted(k.prob), turn.Predicted(k.prob)
		}
		r.Returns = category.Within(r.Idle, life)
		r.Continues = returns.Fit{P: turn.P, Rate: t.turns.All().Rate}.Still(r.Idle)
	}
	r.Worth = float64(r.Tokens) * r.Returns
	return r
}

func seconds(t time.Time) float64 { return float64(t.UnixNano()) / 1e9 }
