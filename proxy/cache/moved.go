package cache

import (
	"slices"
	"sync"

	"reprise/policy"
)

// mostMoved is how many entries that were put back are kept in mind.
const mostMoved = 1024

// moved are the new ids of entries that were put back after a purge: a purge or a verdict may still be on its way that names the old one.
type moved struct {
	mu    sync.Mutex // protects what follows
	to    map[policy.ID]policy.ID
	order []policy.ID // the oldest first
}

func (m *moved) add(from, to policy.ID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.to == nil {
		m.to = map[policy.ID]policy.ID{}
	}
	if len(m.order) == mostMoved {
		delete(m.to, m.order[0])
		m.order = slices.Delete(m.order, 0, 1)
	}
	m.to[from] = to
	m.order = append(m.order, from)
}

// of are the later ids of an entry, in order. Each is larger than the one before.
func (m *moved) of(id policy.ID) (all []policy.ID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for to, ok := m.to[id]; ok; to, ok = m.to[to] {
		all = append(all, to)
	}
	return all
}
