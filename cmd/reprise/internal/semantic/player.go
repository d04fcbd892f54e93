// Package semantic is the proxy's cache without the proxy: it answers the requests of a trace by meaning, with the code
// that the proxy answers with, so that a policy can be judged where hits are decided by similarity.
package semantic

import (
	"encoding/binary"
	"fmt"

	"reprise/policy"
	"reprise/policy/guard"
	"reprise/policy/sim"
	"reprise/topics"
)

// Labels say which topic the policy is told of a request.
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
	// Detect looks for every parent as the proxy does for requests without a history (paper 002, DETECTPARENT). Otherwise a
	// parent is what the trace names.
	Detect bool
	// Guard may refuse an answer that was found by meaning; nil refuses none. It is asked only about texts.
	Guard func(cached, asked string) guard.Veto
}

// New is a sim.Model of o: the answers of the proxy to one client after the other, none of which expires or is refused for
// its content.
func New(o Options) sim.Model {
	return func(e policy.Evictor, limit policy.Limit) (sim.Player, error) {
		t, err := topics.New(o.Topics)
		if err != nil {
			return nil, fmt.Errorf("replay by meaning: %w", err)
		}
		p := &player{o: o, topics: t, ledger: policy.NewLedger(e, limit),
			keys: map[key]policy.ID{}, entries: map[policy.ID]*entry{}, unlabelled: firstUnlabelled}
		p.arriver, _ = e.(policy.Arriver)
		p.linker, _ = e.(policy.Linker)
		p.persistent, _ = e.(policy.Persistent)
		return p, nil
	}
}

// firstUnlabelled is the first id of the topics that a trace gives no label for: above the numbers of any trace, and below
// the digests of names.
const firstUnlabelled = 1 << 62

// player is one cache.
type player struct {
	o          Options
	topics     *topics.Topics
	arriver    policy.Arriver // the evictor, nil where it is none; so are the next two
	linker     policy.Linker
	persistent policy.Persistent
	ledger     *policy.Ledger
	keys       map[key]policy.ID // exact requests, and those that were answered by meaning before
	entries    map[policy.ID]*entry
	last       policy.ID
	unlabelled topics.TopicID // the next id of a topic without a label, where the trace gives the topics
}

type key struct{ id, scope uint64 }

// maxAliases is the proxy's: how many other requests an entry is known by.
const maxAliases = 16

type entry struct {
	key     key
	aliases []key // oldest first
	text    string
	parent  policy.ID // as the policy was told at the insertion
}

// Ledger is what is resident.
func (p *player) Ledger() *policy.Ledger { return p.ledger }

// Sizes are how many entries have a vector, and in how many topics they are.
func (p *player) Sizes() (entries, topics int) {
	s := p.topics.Stats()
	return s.Entries, s.Topics
}

// Play answers r exactly, or else by meaning, or else stores it. It follows the order of the proxy's calls.
func (p *player) Play(r *sim.Request, at policy.Tick) (hit bool, dropped int, err error) {
	k := key{r.ID, r.Scope}
	if id := p.keys[k]; id != 0 && !p.expired(id, at) {
		p.touch(id, r, at)
		return true, 0, nil
	}
	found := p.search(r)
	if id := p.match(found.Matches, r, at); id != 0 {
		p.alias(id, k)
		p.touch(id, r, at)
		return true, 0, nil
	}
	label := p.label(r, found.Topic)
	if p.arriver != nil && label != 0 {
		p.arriver.Arrive(policy.TopicID(label), at)
	}
	dropped, err = p.store(r, label, at)
	return false, dropped, err
}

func (p *player) search(r *sim.Request) topics.Route {
	if r.Content == nil {
		return topics.Route{}
	}
	q := topics.Query{Scope: scopeOf(r), Chain: chainOf(r), Vector: r.Content.Vector}
	for {
		if found, ok := p.topics.Search(q); ok {
			return found
		}
		p.topics.Refresh(q.Scope)
	}
}

// match is the first of the nearest entries that no guard refuses.
func (p *player) match(matches []topics.Match, r *sim.Request, at policy.Tick) policy.ID {
	for _, m := range matches {
		id := policy.ID(m.ID)
		if p.expired(id, at) {
			continue
		}
		if cached := p.entries[id].text; p.o.Guard != nil && cached != "" && r.Content.Text != "" && p.o.Guard(cached, r.Content.Text) != "" {
			continue
		}
		return id
	}
	return 0
}

// expired removes id if it must not answer any more.
func (p *player) expired(id policy.ID, at policy.Tick) bool {
	if !p.ledger.Expired(id, at) {
		return false
	}
	p.ledger.Remove(id, policy.Expired)
	p.forget(id)
	return true
}

// touch tells the topics and the policy that id answered r.
func (p *player) touch(id policy.ID, r *sim.Request, at policy.Tick) {
	parent := p.parentOf(r)
	found, searched := p.topics.ParentOf(topics.EntryID(id), at.Seq)
	p.topics.Touch(topics.EntryID(id), at.Seq, found, searched)
	if p.o.Detect {
		parent = policy.ID(found)
	}
	if p.linker != nil && parent != id && p.entries[parent] != nil {
		p.linker.Link(id, parent)
	}
	p.ledger.Hit(id, at)
	p.weigh(id)
}

// weigh tells the topics how important the policy now finds an entry and its parent, the two that an access changes: they
// choose their anchors by it.
func (p *player) weigh(id policy.ID) {
	if p.linker == nil {
		return
	}
	p.topics.SetImportance(topics.EntryID(id), p.linker.Importance(id))
	parent := p.entries[id].parent
	if p.persistent != nil {
		if s, ok := p.persistent.ExportEntry(id); ok {
			parent = s.Parent
		}
	}
	if p.entries[parent] != nil {
		p.topics.SetImportance(topics.EntryID(parent), p.linker.Importance(parent))
	}
}

// parentOf is the entry of the request that the trace names as the parent of r, 0 where there is none.
func (p *player) parentOf(r *sim.Request) policy.ID {
	if r.Parent == 0 || p.o.Detect {
		return 0
	}
	return p.keys[key{r.Parent, r.Scope}]
}

// label is the topic that a miss belongs to, 0 for a new one.
func (p *player) label(r *sim.Request, routed topics.TopicID) topics.TopicID {
	if p.o.Labels == Given {
		return topics.TopicID(r.Topic)
	}
	return routed
}

// store makes an entry of r and tells how many others it took the place of.
func (p *player) store(r *sim.Request, topic topics.TopicID, at policy.Tick) (dropped int, err error) {
	e := &entry{key: key{r.ID, r.Scope}, parent: p.parentOf(r)}
	var vector []float32
	if r.Content != nil {
		e.text, vector = r.Content.Text, r.Content.Vector
	}
	if p.o.Detect {
		found, _ := p.topics.Parent(scopeOf(r), topic, chainOf(r), vector, at.Seq)
		e.parent = policy.ID(found)
	}
	if topic == 0 {
		topic = p.newTopic()
	}
	it := policy.Item{Key: policy.KeyOf(r.ID, r.Scope), Topic: policy.TopicID(topic), Parent: e.parent, Size: max(r.Size, 1), Cost: max(r.Cost, 1),
		Offset: int(r.Turn)}
	if p.o.Labels == Given {
		it.Topic = policy.TopicID(r.Topic)
	}
	p.last++
	id := p.last
	it.ID = id
	p.keys[e.key], p.entries[id] = id, e
	gone := p.ledger.Insert(it, at, nil)
	for _, victim := range gone {
		p.forget(victim)
	}
	if p.entries[id] == nil { // the policy has refused it
		return len(gone), nil
	}
	if vector != nil {
		_, _, err = p.topics.Add(topics.Member{ID: topics.EntryID(id), Scope: scopeOf(r), Chain: chainOf(r), Vector: vector, Topic: topic,
			Parent: topics.EntryID(e.parent), Seq: at.Seq})
	}
	p.weigh(id)
	return len(gone), err
}

// newTopic is an id that no topic has yet.
func (p *player) newTopic() topics.TopicID {
	if p.o.Labels != Given {
		return p.topics.NewTopic()
	}
	p.unlabelled++
	return p.unlabelled - 1
}

// alias makes id known by k too; the oldest of too many makes room.
func (p *player) alias(id policy.ID, k key) {
	e := p.entries[id]
	if len(e.aliases) == maxAliases {
		delete(p.keys, e.aliases[0])
		e.aliases = append(e.aliases[:0], e.aliases[1:]...)
	}
	e.aliases = append(e.aliases, k)
	p.keys[k] = id
}

func (p *player) forget(id policy.ID) {
	e := p.entries[id]
	delete(p.entries, id)
	delete(p.keys, e.key)
	for _, k := range e.aliases {
		delete(p.keys, k)
	}
	p.topics.Forget(topics.EntryID(id))
}

func scopeOf(r *sim.Request) (s topics.ScopeID) {
	binary.LittleEndian.PutUint64(s[:], r.Scope)
	return s
}

func chainOf(r *sim.Request) (c topics.ChainID) {
	binary.LittleEndian.PutUint64(c[:], r.Chain)
	return c
}
