package store

import (
	"slices"
	"strings"

	"reprise/policy"
)

// resident is an entry with its changing state. Its Entry never changes: a new answer makes a new resident.
type resident struct {
	Entry
	also *[]Key // aliases, oldest first; nil: none, as most entries have
	last int64  // Seq of the last access: the order in which a restart inserts again
}

// size is what the entry takes with its aliases.
func (r *resident) size() int64 { return r.Size + aliasSize*int64(len(r.aliases())) }

func (r *resident) aliases() []Key {
	if r.also == nil {
		return nil
	}
	return *r.also
}

// item describes the entry to the policy.
func (r *resident) item() policy.Item {
	it := r.Entry.item()
	it.Size = r.size()
	return it
}

// table finds residents. It holds no lock; its owner does.
type table struct {
	keys    keys // exact keys and aliases
	ids     map[policy.ID]*resident
	aliases int
	labels  map[Labels]*Labels // one copy of each

	// anchors is the anchor of each topic, as a restart restores it; nil where nothing is written.
	anchors map[policy.TopicID]policy.ID
}

func newTable() table {
	return table{keys: newKeys(), ids: map[policy.ID]*resident{}, labels: map[Labels]*Labels{}}
}

func (t *table) add(r *resident) {
	t.label(&r.Entry)
	t.ids[r.ID] = r
	t.keys.set(r.Key, r)
}

// replace replaces old by r, which has the same id and key. The aliases of old then belong to r.
func (t *table) replace(old, r *resident) {
	r.also = old.also
	t.add(r)
	for _, k := range r.aliases() {
		t.keys.set(k, r)
	}
}

// drop removes a resident with all its keys.
func (t *table) drop(id policy.ID) *resident {
	r := t.ids[id]
	delete(t.ids, id)
	t.keys.drop(r)
	t.aliases -= len(r.aliases())
	if t.anchors != nil && t.anchors[r.Topic] == id {
		delete(t.anchors, r.Topic)
	}
	return r
}

func (t *table) addAlias(r *resident, k Key) {
	t.keys.set(k, r)
	all := append(r.aliases(), k)
	r.also = &all
	t.aliases++
}

func (t *table) dropAlias(r *resident, k Key) {
	if i := slices.Index(r.aliases(), k); i >= 0 {
		*r.also = slices.Delete(*r.also, i, i+1)
		t.keys.dropAlias(k, r)
		t.aliases--
	}
}

// setAnchor makes r the anchor of its topic and returns the former one, nil if there is none.
func (t *table) setAnchor(r *resident) (former *resident) {
	if t.anchors == nil {
		return nil
	}
	former = t.ids[t.anchors[r.Topic]]
	t.anchors[r.Topic] = r.ID
	return former
}

func (t *table) isAnchor(r *resident) bool { return t.anchors != nil && t.anchors[r.Topic] == r.ID }

// maxLabels bounds the table of labels. Emptying it costs only that later entries do not share their copies with earlier
// ones.
const maxLabels = 4096

// label makes entries share one copy of their labels.
func (t *table) label(e *Entry) {
	if e.Labels == nil {
		e.Labels = &Labels{}
	}
	shared := t.labels[*e.Labels]
	if shared == nil {
		if len(t.labels) >= maxLabels {
			clear(t.labels)
		}
		l := e.Labels
		shared = &Labels{strings.Clone(l.Tenant), strings.Clone(l.Namespace), strings.Clone(l.Model), strings.Clone(l.Endpoint)}
		t.labels[*shared] = shared
	}
	e.Labels = shared
}
