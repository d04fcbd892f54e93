// Package worth estimates what each prefix is worth to the cache of an engine. The response cache hides traffic from the engine: of the
// requests of a prefix that arrive at a rate λ, of which a share h is answered here, the engine sees λ(1−h) only, and prefixes go cold
// there because the proxy works. That residual rate decides which retention pays; prefixes are ranked by the probability that they return
// to the engine, by the category of their requests (papers/001, §5) and by the continuation of their conversation (papers/004, §4).
package worth

import (
	"cmp"
	"container/list"
	"math"
	"slices"
	"strconv"
	"sync"
	"time"

	"reprise/policy/returns"
	"reprise/proxy/upstream/prefix"
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

// category is what requests have in common whose prefixes return alike.
type category struct {
	kind Kind
	path string
	turn int
}

// mostTurns is the last turn with a category of its own.
const mostTurns = 8

// known is what is known of one prefix.
type known struct {
	block               prefix.Block
	cat                 category // of the last miss
	tenant, model       string
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
	samples  map[category]*returns.Sample
	turns    [mostTurns + 1]returns.Sample // of conversations
	fits     map[category]returns.Fit
	goesOn   [mostTurns + 1]returns.Fit
	fitted   float64
	faded    float64 // the samples
}

// DefaultMost is the default of New.
const DefaultMost = 4096

// New returns an empty table of at most so many prefixes; 0: DefaultMost. One takes about 300 bytes.
func New(most int) *Table {
	return &Table{most: cmp.Or(most, DefaultMost), prefixes: map[prefix.Block]*known{}, order: list.New(), groups: map[uint64]prefix.Block{},
		samples: map[category]*returns.Sample{}, fits: map[category]returns.Fit{}}
}

// Miss notes a request that goes to an engine, and returns how often per second requests with its tools and system prompt do so: λ(1−h).
// It is 0 for the first one.
func (t *Table) Miss(m Miss, at time.Time) (residual float64) {
	now := seconds(at)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.fade(now)
	turn := min(max(m.Turn, 1), mostTurns)
	if m.Chain.Shared > 0 {
		k := t.see(m.Chain.Scaffold, category{Application, m.Path, turn}, &m, now)
		k.tokens = m.Chain.Shared * prefix.BlockTokens / prefix.BlockBytes
		residual = k.residual.per(now)
		if len(t.groups) >= 4*t.most {
			clear(t.groups) // they are learned again with the next misses
		}
		t.groups[m.Group] = k.block
	}
	k := t.see(m.Chain.Opening, category{Conversation, m.Path, turn}, &m, now)
	k.tokens = m.Chain.Tokens()
	for len(t.prefixes) > t.most {
		t.forget(t.order.Back().Value.(*known), now)
	}
	return residual
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
func (t *Table) see(b prefix.Block, cat category, m *Miss, now float64) *known {
	k := t.prefixes[b]
	if k == nil {
		k = &known{block: b}
		k.at = t.order.PushFront(k)
		t.prefixes[b] = k
	} else {
		t.order.MoveToFront(k.at)
		t.sample(k.cat).Again(now-k.last, 1)
		if k.cat.kind == Conversation {
			t.turns[k.cat.turn].Again(now-k.last, 1)
		}
	}
	k.cat, k.tenant, k.model, k.last = cat, m.Tenant, m.Model, now
	k.arrivals.add(now)
	k.residual.add(now)
	k.requests++
	k.toEngines++
	return k
}

func (t *Table) sample(c category) *returns.Sample {
	s := t.samples[c]
	if s == nil {
		s = &returns.Sample{}
		t.samples[c] = s
	}
	return s
}

// forget removes a prefix, which has not returned so far. The caller must hold the lock.
func (t *Table) forget(k *known, now float64) {
	t.sample(k.cat).Silent(now-k.last, kept(now-k.last))
	if k.cat.kind == Conversation {
		t.turns[k.cat.turn].Silent(now-k.last, kept(now-k.last))
	}
	t.order.Remove(k.at)
	delete(t.prefixes, k.block)
}

// refit is how old the models of the categories may be, in seconds.
const refit = 60.0

// half is the time in which samples lose half of their weight, in seconds: reuse is alike from one hour to the next, and differs from day
// to night (papers/001, §3.4).
const half = 3600.0

// prior is the model of a category of which nothing is known: half of the first turns have another one (papers/001, §3.3), 100 seconds later
// (papers/004, §5).
var prior = returns.Fit{P: 0.5, Rate: 0.01}

// kept is the part of its weight that what was seen so many seconds ago has left.
func kept(age float64) float64 { return math.Exp2(-age / half) }

// fade makes the samples lose weight. The caller must hold the lock.
func (t *Table) fade(now float64) {
	if t.faded == 0 {
		t.faded = now
	}
	if now-t.faded < refit {
		return
	}
	by := kept(now - t.faded)
	for _, s := range t.samples {
		s.Fade(by)
	}
	for i := range t.turns {
		t.turns[i].Fade(by)
	}
	t.faded = now
}

// fit brings the models up to date. The caller must hold the lock.
func (t *Table) fit(now float64) {
	if t.fitted != 0 && now-t.fitted < refit {
		return
	}
	t.fade(now)
	open := map[category]*returns.Sample{} // with those that have not returned yet
	byTurn := t.turns
	all := map[Kind]*returns.Sample{Application: {}, Conversation: {}}
	for c, s := range t.samples {
		both := *s
		open[c] = &both
	}
	for _, k := range t.prefixes {
		if open[k.cat] == nil {
			open[k.cat] = &returns.Sample{}
		}
		open[k.cat].Silent(now-k.last, kept(now-k.last))
		if k.cat.kind == Conversation {
			byTurn[k.cat.turn].Silent(now-k.last, kept(now-k.last))
		}
	}
	for c, s := range open {
		all[c.kind].Add(s)
	}
	for c, s := range open {
		t.fits[c] = s.Fit(all[c.kind].Fit(prior))
	}
	common := all[Conversation].Fit(prior)
	for i := range byTurn {
		t.goesOn[i] = returns.Fit{P: byTurn[i].Fit(common).P, Rate: common.Rate}
	}
	t.fitted = now
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
	Returns   float64 `json:"returns"`               // probability that it comes to an engine within the life, by its category
	Continues float64 `json:"continues"`             // probability that its conversation goes on; 0 for an application
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
	r := Ranked{Prefix: strconv.FormatUint(uint64(k.block), 16), Kind: k.cat.kind, Tenant: k.tenant, Model: k.model, Path: k.cat.path, Turn: k.cat.turn,
		Tokens: k.tokens, Requests: k.requests, ToEngines: k.toEngines, Rate: k.arrivals.per(now), Residual: k.residual.per(now), Idle: now - k.last}
	if r.Rate > 0 {
		r.HitRatio = max(1-r.Residual/r.Rate, 0)
	}
	fit, ok := t.fits[k.cat]
	if !ok {
		fit = prior
	}
	r.Returns = fit.Within(r.Idle, life)
	if k.cat.kind == Conversation {
		if goesOn := t.goesOn[k.cat.turn]; goesOn.P > 0 {
			r.Continues = goesOn.Still(r.Idle)
		}
	}
	r.Worth = float64(r.Tokens) * r.Returns
	return r
}

func seconds(t time.Time) float64 { return float64(t.UnixNano()) / 1e9 }
