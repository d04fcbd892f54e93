package evaluate

import (
	"context"
	"crypto/sha256"
	"math/rand/v2"

	"reprise/embed"
	"reprise/policy"
	"reprise/policy/classic"
	"reprise/proxy/cache"
	"reprise/store"
	"reprise/topics"
	"reprise/topics/reuse"
	"reprise/topics/reuse/compare"
	"reprise/topics/reuse/evidence"
)

// Play is the result of a stream under one δ with one seed.
type Play struct {
	MaxError float64 `json:"max_error"`
	Seed     uint64  `json:"seed"`

	Requests  int `json:"requests"`
	Repeats   int `json:"repeats"` // requests whose class had come before: what an oracle would serve
	Exact     int `json:"exact"`   // word for word; a hit under an alias counts as what made it
	Form      int `json:"form"`
	Edits     int `json:"edits"`
	Meaning   int `json:"meaning"`
	Wrong     int `json:"wrong"` // of Form, Edits and Meaning
	Explored  int `json:"explored"`
	Different int `json:"explored_different"` // explored answers of another class
}

// ByMeaning is how many requests were served an answer to another prompt.
func (p *Play) ByMeaning() int { return p.Form + p.Edits + p.Meaning }

// Error is the share of wrong answers among those, with the upper end of its 95 % interval; 0 and 0 where there are none.
func (p *Play) Error() (mean, high float64) {
	n := p.ByMeaning()
	if n == 0 {
		return 0, 0
	}
	_, high = evidence.Wilson(p.Wrong, n)
	return share(p.Wrong, n), high
}

// Stream plays requests through the proxy's cache, in their order, or in one that seed gives if it is not 0. Nothing leaves the cache.
// What is explored is compared by class, so the comparison makes no mistake.
func Stream(ctx context.Context, all []Request, o Options, seed uint64) (*Play, error) {
	random := rand.New(rand.NewPCG(seed, 12))
	if seed != 0 {
		all = append([]Request(nil), all...)
		random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	}
	c, err := newCache(o, len(all), random)
	if err != nil {
		return nil, err
	}
	s := &stream{Play: &Play{MaxError: o.MaxError, Seed: seed, Requests: len(all)}, cache: c, class: map[policy.ID]string{}, seen: map[string]bool{}, by: map[store.Key]*int{}}
	for i, r := range all {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := s.request(ctx, r, policy.Tick{Seq: int64(i + 1), At: float64(i + 1)}); err != nil {
			return nil, err
		}
	}
	return s.Play, nil
}

// newCache is the proxy's cache in memory, with room for n entries.
func newCache(o Options, n int, random *rand.Rand) (*cache.Cache, error) {
	gates := o.Embedder.Thresholds()
	if o.Gate > 0 {
		gates.Hit = o.Gate
		gates.Route = min(gates.Route, gates.Hit*0.9)
	}
	t, err := topics.New(topics.Options{Dim: o.Embedder.Dim(), Hit: gates.Hit, Route: gates.Route, Edge: gates.Edge})
	if err != nil {
		return nil, err
	}
	t.Close() // no graph is built in the background, so that a run repeats itself
	entries, err := store.Open(store.Options{Limit: policy.Limit{Entries: n + 1}, Evictor: classic.NewLRU()})
	if err != nil {
		return nil, err
	}
	return cache.New(cache.Options{Store: entries, Topics: t, Meaning: true, Embedder: o.Embedder, Thresholds: gates,
		Judge: func(rates *evidence.Rates) cache.Judge {
			return &reuse.Judge{Words: o.Words, MaxError: o.MaxError, Rates: rates}
		},
		Draw: random.Float64, Evidence: evidence.NewBook(evidence.Embedder{Space: o.Embedder.Space(), Gate: gates.Hit})})
}

// stream is a play under way.
type stream struct {
	*Play
	cache *cache.Cache
	class map[policy.ID]string // of the request that stored an entry
	seen  map[string]bool      // classes
	by    map[store.Key]*int   // the count that an alias of this key belongs to
}

func (s *stream) request(ctx context.Context, r Request, at policy.Tick) error {
	if s.seen[r.Class] {
		s.Repeats++
	}
	s.seen[r.Class] = true
	q := &cache.Request{Key: sha256.Sum256([]byte(r.Prompt)), Prompt: r.Prompt, At: at, MaxAge: -1, NoDetect: true}
	hit, _, err := s.cache.Lookup(ctx, q)
	if err != nil {
		return err
	}
	if hit != nil {
		s.again(q, hit, r)
		return nil
	}
	f, err := s.cache.Find(ctx, q)
	if err != nil {
		return err
	}
	if f.Hit != nil {
		s.found(q, f, r)
		return nil
	}
	s.explored(q, f, r)
	id, _, err := s.cache.Keep(ctx, q, f, &store.Entry{Prompt: r.Prompt, Vector: f.Vector, Size: 1})
	if id != 0 {
		s.class[id] = r.Class
	}
	return err
}

// again counts a hit under a key.
func (s *stream) again(q *cache.Request, hit *cache.Hit, r Request) {
	if !hit.Alias {
		s.Exact++
		return
	}
	if count := s.by[q.Key]; count != nil {
		*count++
	}
	s.wrong(hit, r)
}

func (s *stream) wrong(hit *cache.Hit, r Request) {
	if s.class[hit.Entry.ID] != r.Class {
		s.Wrong++
	}
}

func (s *stream) found(q *cache.Request, f *cache.Finding, r Request) {
	count := &s.Meaning
	switch f.Basis {
	case cache.ByForm:
		count = &s.Form
	case cache.ByEdits:
		count = &s.Edits
	}
	*count++
	s.by[q.Key] = count
	s.wrong(f.Hit, r)
}

func (s *stream) explored(q *cache.Request, f *cache.Finding, r Request) {
	if f.Explore == nil {
		return
	}
	result := evidence.Same
	if s.Explored++; s.class[f.Explore.Entry.ID] != r.Class {
		s.Different++
		result = evidence.Different
	}
	s.cache.Verdicts().Compared(q, f, compare.Result{Outcome: result}, evidence.Explored)
}

// Equal is an embedder for which all texts mean the same: with it the judge alone decides.
type Equal struct{}

// Space implements embed.Embedder.
func (Equal) Space() string { return "equal" }

// Dim implements embed.Embedder.
func (Equal) Dim() int { return 2 }

// Thresholds implements embed.Embedder.
func (Equal) Thresholds() embed.Thresholds { return embed.Thresholds{Hit: 0.9, Route: 0.8, Edge: 0.7} }

// Embed implements embed.Embedder.
func (Equal) Embed(_ context.Context, texts []string) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	for i := range vectors {
		vectors[i] = []float32{1, 0}
	}
	return vectors, nil
}
