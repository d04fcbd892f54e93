package store

import "slices"

// keys finds residents by their keys and aliases. A map by whole keys takes 60 bytes for each, this one 25: its keys are the first 8 bytes, and the
// resident has the rest. If keys of two residents begin with the same bytes, by accident or by an attack, the later one is in a map by whole
// keys.
type keys struct {
	short map[uint64]*resident // a resident that has a key with these first bytes
	more  map[Key]*resident
}

func newKeys() keys { return keys{short: map[uint64]*resident{}, more: map[Key]*resident{}} }

// get returns the resident that has k, or nil.
func (t *keys) get(k Key) *resident {
	if r := t.short[k.Short()]; r != nil && r.has(k) {
		return r
	}
	if len(t.more) == 0 {
		return nil
	}
	return t.more[k]
}

// set makes k lead to r, in place of a resident that had it.
func (t *keys) set(k Key, r *resident) {
	short := k.Short()
	if now := t.short[short]; now != nil && now != r && !now.has(k) {
		t.more[k] = r
		return
	}
	t.short[short] = r
	delete(t.more, k)
}

// drop ends all keys of r.
func (t *keys) drop(r *resident) {
	t.end(r.Key, r)
	for _, a := range r.aliases() {
		t.end(a.key, r)
	}
}

func (t *keys) end(k Key, r *resident) {
	delete(t.more, k)
	if t.short[k.Short()] == r {
		delete(t.short, k.Short())
	}
}

// dropAlias ends k, which r no longer has.
func (t *keys) dropAlias(k Key, r *resident) {
	alike := func(other Key) bool { return other.Short() == k.Short() }
	if alike(r.Key) || slices.ContainsFunc(r.aliases(), func(a alias) bool { return alike(a.key) }) {
		delete(t.more, k)
		return
	}
	t.end(k, r)
}
