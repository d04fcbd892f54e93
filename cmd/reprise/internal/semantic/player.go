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
	// Detect looks for parents as the proxy does for requests without a history (paper 002, DETECTPARENT). Otherwise a
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
		p := &player{o: o, topics: t, evictor: e, ledger: policy.NewLedger(e, limit),
			keys: map[key]policy.ID{}, entries: map[policy.ID]*entry{}}
		p.arriver, _ = e.(policy.Arriver)
		p.linker, _ = e.(policy.Linker)
		return p, nil
	}
}

// player is one cache.
type player struct {
	o       Options
	topics  *topics.Topics
	evictor policy.Evictor
	arriver policy.Arriver
	linker  policy.Linker
	ledger  *policy.Ledger
	keys    map[key]policy.ID // exact requests, and those that were answered by meaning before
	entries map[policy.ID]*entry
	last    policy.ID
}

type key struct{ id, scope uint64 }

// maxAliases is the proxy's: how many other requests an entry is known by.
const maxAliases = 16

type entry struct {
	key     key
	aliases []key
	text    string
	topic   policy.TopicID
}

// Ledger is what is resident.
func (p *player) Ledger() *policy.Ledger { return p.ledger }

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
	label := p.label(r, policy.TopicID(found.Topic))
	if p.arriver != nil && label != 0 {
		p.arriver.Arrive(label, at)
	}
	dropped, err = p.store(r, label, topics.TopicID(found.Topic), at)
	return false, dropped, err
}

func (p *player) search(r *sim.Request) topics.Route {
	if r.Content == nil {
		return topics.Route{}
	}
	return p.topics.Search(topics.Query{Scope: scopeOf(r), Chain: chainOf(r), Vector: r.Content.Vector})
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
	p.ledger.Remove(id)
	p.forget(id)
	return true
}

func (p *player) touch(id policy.ID, r *sim.Request, at policy.Tick) {
	parent := p.parentOf(r)
	if p.o.Detect {
		found, _ := p.topics.Touch(topics.EntryID(id), at.Seq)
		parent = policy.ID(found)
	}
	if p.linker != nil && parent != 0 && parent != id {
		p.linker.Link(id, parent)
	}
	p.ledger.Hit(id, at)
	p.weigh(id, parent)
}

// weigh tells the topics what the policy now finds important: they choose their anchors by it.
func (p *player) weigh(ids ...policy.ID) {
	if p.linker == nil {
		return
	}
	for _, id := range ids {
		if p.entries[id] != nil {
			p.topics.Weigh(topics.EntryID(id), p.linker.Importance(id))
		}
	}
}

// parentOf is the entry of the request that the trace names as the parent of r, 0 where there is none.
func (p *player) parentOf(r *sim.Request) policy.ID {
	if r.Parent == 0 {
		return 0
	}
	return p.keys[key{r.Parent, r.Scope}]
}

// label is the topic that the policy is told of a miss, 0 for one that is new.
func (p *player) label(r *sim.Request, routed policy.TopicID) policy.TopicID {
	if p.o.Labels == Given {
		return policy.TopicID(r.Topic)
	}
	return routed
}

func (p *player) store(r *sim.Request, label policy.TopicID, routed topics.TopicID, at policy.Tick) (dropped int, err error) {
	p.last++
	id := p.last
	if routed == 0 {
		routed = p.topics.NewTopic()
	}
	if label == 0 && p.o.Labels == Routed {
		label = policy.TopicID(routed)
	}
	parent := p.parentOf(r)
	if p.o.Detect && r.Content != nil {
		found, _ := p.topics.Parent(scopeOf(r), routed, chainOf(r), 0, r.Content.Vector, at.Seq)
		parent = policy.ID(found)
	}
	e := &entry{key: key{r.ID, r.Scope}, topic: label}
	if r.Content != nil {
		e.text = r.Content.Text
	}
	p.keys[e.key], p.entries[id] = id, e
	gone := p.ledger.Insert(policy.Item{ID: id, Key: r.ID, Topic: label, Parent: parent, Size: max(r.Size, 1), Cost: max(r.Cost, 1),
		Offset: int(r.Turn)}, at, nil)
	for _, victim := range gone {
		p.forget(victim)
	}
	if p.entries[id] == nil || r.Content == nil || r.Content.Vector == nil {
		return len(gone), nil
	}
	_, err = p.topics.Add(topics.Member{ID: topics.EntryID(id), Scope: scopeOf(r), Chain: chainOf(r), Vector: r.Content.Vector, Topic: routed,
		Parent: topics.EntryID(parent), Seq: at.Seq})
	p.weigh(id, parent)
	return len(gone), err
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
