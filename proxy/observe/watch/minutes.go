package watch

import (
	"slices"
	"sync"
	"time"

	"reprise/policy"
	"reprise/store"
)

// mostMinutes is how many minutes with requests are kept. 60 of a panel take some 30 kB.
const mostMinutes = 60

// Minute is what the policy of the store did in one minute of the clock, or since the last one.
type Minute struct {
	From     time.Time `json:"from"`
	Seconds  float64   `json:"seconds"`
	Requests int64     `json:"requests"` // that the policy saw: hits, flights that were shared, and answers that were kept
	Hits     int64     `json:"hits"`
	HitRatio float64   `json:"hit_ratio"`

	Panel *policy.PanelWindow `json:"-"` // nil: the policy is no panel
}

// minutes are the last ones that had requests. Requests do nothing for it: the counters that the store has anyway are read once a minute.
type minutes struct {
	read func() store.Stats

	mu     sync.Mutex // protects what follows; the store is read under it, so that readings are in order
	ended  []Minute
	begin  time.Time // of the open minute
	before store.Stats
}

// end ends the open minute and begins the next one.
func (m *minutes) end() {
	m.mu.Lock()
	defer m.mu.Unlock()
	at, now := time.Now(), m.read()
	if one := m.since(at, &now); one.Requests > 0 {
		m.ended = append(m.ended, one)
		m.ended = slices.Delete(m.ended, 0, max(len(m.ended)-mostMinutes, 0))
	}
	m.begin, m.before = at, now
}

// Minutes returns the last minutes, the oldest first and the open one last, and the present figures of the store; ok is false without
// Options.Store.
func (w *Watch) Minutes() (all []Minute, now store.Stats, ok bool) {
	m := &w.minutes
	if m.read == nil {
		return nil, now, false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	now = m.read()
	return append(slices.Clone(m.ended), m.since(time.Now(), &now)), now, true
}

// since is the open minute.
func (m *minutes) since(at time.Time, now *store.Stats) Minute {
	one := Minute{From: m.begin.UTC(), Seconds: at.Sub(m.begin).Seconds(), Requests: now.Requests - m.before.Requests, Hits: now.Hits - m.before.Hits}
	if one.Requests > 0 {
		one.HitRatio = float64(one.Hits) / float64(one.Requests)
	}
	if now.Panel != nil && m.before.Panel != nil { // nil also where the policy has panicked
		did := now.Panel.Since(m.before.Panel)
		one.Panel = &did
	}
	return one
}
