// Package semantic plays the requests of a trace through the proxy's own cache, package proxy/cache, so that a policy can be
// judged where hits are decided by similarity.
package semantic

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"reprise/cmd/reprise-lab/sim"
	"reprise/embed"
	"reprise/policy"
	"reprise/proxy/cache"
	"reprise/store"
	"reprise/topics"
	"reprise/topics/reuse"
	"reprise/topics/reuse/evidence"
)

// Labels say which topic the policy gets for a request.
type Labels string

// Where topics come from.
const (
	Given  Labels = "given"  // the trace names them; Cluster can have made them
	Routed Labels = "routed" // by the nearest anchor over the route gate, as in the proxy
)

// Options of the model.
type Options struct {
	Topics topics.Options
	Labels Labels
	// Detect searches for every parent as the proxy does for requests without a history (paper 002, DETECTPARENT). Otherwise a
	// parent is what the trace names.
	Detect bool
	// Judge decides on an answer that was found by meaning; nil refuses none. It is called only with texts, and nothing is explored.
	Judge func(*evidence.Rates) cache.Judge
	// Embedder makes the vectors of requests with a text, of what its prompt asks by the frames that the cache has learnt, as in the proxy. An entry of
	// before a frame was known is found by its identity alone: the proxy moves those in the background. nil: requests bring their vectors.
	Embedder embed.Embedder
}

// New is a sim.Model of o: the answers of the proxy to one client after the other, none of which expires or is refused for its
// content.
func New(o Options) sim.Model {
	return func(e policy.Evictor, limit policy.Limit) (sim.Player, error) {
		p := &player{o: o}
		if err := p.open(e, limit); err != nil {
			return nil, fmt.Errorf("replay by meaning: %w", err)
		}
		return p, nil
	}
}

func (p *player) open(e policy.Evictor, limit policy.Limit) (err error) {
	if p.topics, err = topics.New(p.o.Topics); err != nil {
		return err
	}
	p.topics.Close() // no graph is built in the background, so that a replay repeats itself
	if p.o.Labels == Given {
		p.topics.SetNext(unlabelled)
	}
	if p.store, err = store.Open(store.Options{Limit: limit, Evictor: e, OnFault: func(_ string, err error) { p.policyFault = err }}); err != nil {
		return err
	}
	p.cache, err = cache.New(cache.Options{Store: p.store, Topics: p.topics, Meaning: true, Judge: p.o.Judge, Embedder: p.o.Embedder,
		GivenTopics: p.o.Labels == Given, Readers: []cache.Reader{p}})
	return err
}

// unlabelled is where the ids of topics begin that a trace gives no label for: the last quarter of the ids that one process can
// make. Labels are numbers of a trace, or digests of names, which are far above.
const unlabelled = 3 << 35

// player is one cache.
type player struct {
	o           Options
	topics      *topics.Topics
	store       *store.Store
	cache       *cache.Cache
	evicted     int
	policyFault error
}

// Residents returns what is resident.
func (p *player) Residents() (entries int, bytes int64, faults int) {
	st := p.store.Stats()
	return st.Entries, st.Bytes, int(st.Faults)
}

// Sizes are how many entries have a vector, and in how many topics they are.
func (p *player) Sizes() (entries, topics int) {
	s := p.topics.Stats()
	return s.Entries, s.Topics
}

// Play answers r exactly, or by meaning, or stores it.
func (p *player) Play(r *sim.Request, at policy.Tick) (hit bool, dropped int, err error) {
	ctx, q := context.Background(), p.request(r, at)
	found, _, err := p.cache.Lookup(ctx, q)
	if found != nil {
		return true, 0, p.fault(err, p.touch(q, found.Entry, nil))
	}
	f, failed := p.cache.Find(ctx, q)
	if f.Hit != nil {
		return true, 0, p.fault(err, failed, p.touch(q, f.Hit.Entry, f.Vector))
	}
	before := p.evicted
	_, _, kept := p.cache.Keep(ctx, q, f, entry(r, f))
	return false, p.evicted - before, p.fault(err, failed, kept)
}

// touch counts a use.
func (p *player) touch(q *cache.Request, e *store.Entry, vector []float32) error {
	if !p.cache.Touch(q, e, vector) {
		return nil
	}
	return p.cache.Settle()
}

// fault joins the faults of a request and of the policy.
func (p *player) fault(faults ...error) error { return errors.Join(append(faults, p.policyFault)...) }

// Read counts the victims.
func (p *player) Read(ev *cache.Event, _ *cache.Cause) {
	if ev.Kind == store.EventEvict {
		p.evicted++
	}
}

func (p *player) request(r *sim.Request, at policy.Tick) *cache.Request {
	q := &cache.Request{Key: keyOf(r.ID, r.Scope), At: at, MaxAge: -1, Topic: policy.TopicID(r.Topic), NoDetect: !p.o.Detect, NoExplore: true, Trust: reuse.Granted}
	binary.LittleEndian.PutUint64(q.Scope[:], r.Scope)
	binary.LittleEndian.PutUint64(q.Chain[:], r.Chain)
	if r.Parent != 0 && !p.o.Detect {
		q.Parent = keyOf(r.Parent, r.Scope)
	}
	if r.Content != nil {
		q.Prompt, q.Vector = r.Content.Text, r.Content.Vector
	}
	switch {
	case q.Vector != nil:
	case p.o.Embedder == nil: // a text without a vector
		q.Prompt = ""
	case r.Chain != 0:
		q.Turns = []cache.Turn{{Key: keyOf(0, r.Chain), Answer: q.Chain}} // no stored request has this key
	}
	return q
}

// entry is the answer to r. Its size and cost are those of the trace.
func entry(r *sim.Request, f *cache.Finding) *store.Entry {
	e := &store.Entry{Size: max(r.Size, 1), Turn: r.Turn, OutputTokens: int64(max(r.Cost, 1)), Vector: f.Vector}
	if r.Content != nil {
		e.Prompt = r.Content.Text
	}
	return e
}

// keyOf is the key of an identity in a scope, which store.Key.Short turns back into the identity.
func keyOf(id, scope uint64) (k store.Key) {
	binary.LittleEndian.PutUint64(k[:], id)
	binary.LittleEndian.PutUint64(k[8:], scope)
	return k
}

// key is an identity in a scope.
type key struct{ id, scope uint64 }
