package store

import "slices"

// keys finds residents by their keys, aliases too. A map by whole keys takes 60 bytes for each, this one 25: it goes by the first 8 bytes,
// and the resident says which keys it has. Keys of two residents that begin alike are an accident or an attack; the later one is
// in a map by whole keys then.
type keys struct {
	short map[uint64]*resident // some resident with a key that begins so
	more  map[Key]*resident
}

func newKeys() keys { return keys{short: map[uint64]*resident{}, more: map[Key]*resident{}} }

// get is the resident that has k, nil where none has.
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
