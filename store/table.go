package store

import (
	"slices"
	"strings"

	"reprise/policy"
)

// table finds residents. It holds no lock; its owner does.
type table struct {
	keys    map[Key]*resident // exact keys and aliases
	ids     map[policy.ID]*resident
	aliases int
	lacking map[policy.ID]struct{} // see Lacking
	origins map[origin]*origin     // one copy of each origin

	// anchors has the anchor of each topic, for the next restart; nil if nothing is written.
	anchors map[policy.TopicID]policy.ID
}

func newTable() table {
	return table{keys: map[Key]*resident{}, ids: map[policy.ID]*resident{}, lacking: map[policy.ID]struct{}{}, origins: map[origin]*origin{}}
}

func (t *table) add(r *resident) {
	t.share(r)
	t.ids[r.ID] = r
	t.keys[r.Key] = r
}

// replace replaces old by r, which has the same id and key, and moves the aliases of old to r.
func (t *table) replace(old, r *resident) {
	r.setAliases(old.aliases())
	if r.Topic != old.Topic && t.anchors != nil && t.anchors[old.Topic] == old.ID {
		delete(t.anchors, old.Topic)
	}
	t.add(r)
	for _, a := range r.aliases() {
		t.keys[a.key] = r
	}
}

// drop removes a resident with all its keys.
func (t *table) drop(id policy.ID) *resident {
	r := t.ids[id]
	delete(t.ids, id)
	delete(t.lacking, id)
	t.end(r.Key, r)
	for _, a := range r.aliases() {
		t.end(a.key, r)
	}
	t.aliases -= len(r.aliases())
	if t.anchors != nil && t.anchors[r.Topic] == id {
		delete(t.anchors, r.Topic)
	}
	return r
}

// end removes a key of r.
func (t *table) end(k Key, r *resident) {
	if t.keys[k] == r {
		delete(t.keys, k)
	}
}

func (t *table) addAlias(r *resident, a alias) {
	t.keys[a.key] = r
	r.setAliases(append(r.aliases(), a))
	t.aliases++
}

func (t *table) dropAlias(r *resident, k Key) {
	if i := r.alias(k); i >= 0 {
		r.setAliases(slices.Delete(r.aliases(), i, i+1))
		t.end(k, r)
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

// maxLabels bounds the table of shared origins. After it was emptied, new entries do not share copies with earlier ones.
const maxLabels = 4096

// share makes r share its scope and labels with other entries.
func (t *table) share(r *resident) {
	shared := t.origins[*r.of]
	if shared == nil {
		if len(t.origins) >= maxLabels {
			clear(t.origins)
		}
		l := &r.of.labels
		shared = &origin{r.of.scope, Labels{strings.Clone(l.Tenant), strings.Clone(l.Namespace), strings.Clone(l.Model), strings.Clone(l.Endpoint)}}
		t.origins[*shared] = shared
	}
	r.of = shared
}
