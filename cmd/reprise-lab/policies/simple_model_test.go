package policies

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"reprise/policy"
)

// model is a policy as its definition writes it: room is made first, then the new entry comes in. Everything is a scan.
type model interface {
	hit(id policy.ID, seq int64)
	insert(it policy.Item, seq int64)
	evict() policy.ID
	purge(id policy.ID)
}

// TestSimplePoliciesNameTheVictimsOfTheirDefinitions compares victim by victim, with entries of random size that purges
// take away: making room after the insertion must be the same as making it before.
func TestSimplePoliciesNameTheVictimsOfTheirDefinitions(t *testing.T) {
	for name, fresh := range map[string]func() model{
		"fifo":  func() model { return &queueModel{evictAt: oldest} },
		"lru":   func() model { return &queueModel{evictAt: oldest, moves: true} },
		"sieve": func() model { return &queueModel{evictAt: underHand, most: 1} },
		"lfu": func() model {
			return &keyModel{key: func(_ *keyModel, r *modelRow) float64 { return r.uses }}
		},
		"gdsf": func() model {
			return &keyModel{key: func(m *keyModel, r *modelRow) float64 {
				return m.floor + r.uses*float64(float32(max(r.Cost, 1)/float64(max(r.Size, 1))))
			}}
		},
		"aging-lfu:w=10": func() model {
			return &keyModel{key: func(_ *keyModel, r *modelRow) float64 { return 10*r.uses + float64(r.seq) }, byOffset: true}
		},
	} {
		for _, limit := range []policy.Limit{{Entries: 12}, {Bytes: 100}} {
			t.Run(fmt.Sprintf("%s/%+v", name, limit), func(t *testing.T) {
				e, err := New(name, policy.Options{Capacity: 12, Bytes: true})
				if err != nil {
					t.Fatal(err)
				}
				compare(t, policy.NewLedger(e, limit), limit, fresh())
			})
		}
	}
}

func compare(t *testing.T, l *policy.Ledger, limit policy.Limit, m model) {
	r := rand.New(rand.NewPCG(1, 2))
	resident, items := map[uint64]policy.ID{}, map[policy.ID]policy.Item{}
	bytes := int64(0)
	drop := func(id policy.ID) {
		bytes -= items[id].Size
		delete(resident, items[id].Key)
		delete(items, id)
	}
	for seq := int64(1); seq <= 20_000; seq++ {
		key, at := uint64(1+min(r.IntN(50), r.IntN(50))), policy.Tick{Seq: seq}
		id, ok := resident[key]
		switch {
		case ok && r.IntN(20) == 0:
			l.Remove(id, policy.Purged)
			m.purge(id)
			drop(id)
		case ok:
			l.Hit(id, at)
			m.hit(id, seq)
		default:
			it := policy.Item{ID: policy.ID(seq), Key: key, Size: int64(r.IntN(20)), Cost: float64(1 + r.IntN(4)), Offset: r.IntN(3)}
			var want []policy.ID
			for limit.Entries > 0 && len(items) == limit.Entries || limit.Bytes > 0 && bytes+it.Size > limit.Bytes {
				want = append(want, m.evict())
				drop(want[len(want)-1])
			}
			m.insert(it, seq)
			resident[key], items[it.ID] = it.ID, it
			bytes += it.Size
			if got := l.Insert(it, at, nil); !slices.Equal(got, want) {
				t.Fatalf("request %d: evicted %v, want %v", seq, got, want)
			}
		}
	}
}

// queueModel is a list, the oldest first, with a counter of uses for each entry.
type queueModel struct {
	rows    []queueRow
	most    int  // of uses
	moves   bool // a hit makes young
	hand    int  // of SIEVE
	evictAt func(*queueModel) int
}

type queueRow struct {
	id   policy.ID
	uses int
}

func (m *queueModel) hit(id policy.ID, _ int64) {
	i := m.find(id)
	m.rows[i].uses = min(m.rows[i].uses+1, m.most)
	if m.moves {
		m.rows = append(slices.Delete(m.rows, i, i+1), queueRow{id: id})
	}
}

func (m *queueModel) insert(it policy.Item, _ int64) { m.rows = append(m.rows, queueRow{id: it.ID}) }

func (m *queueModel) evict() policy.ID {
	id := m.rows[m.evictAt(m)].id
	m.purge(id)
	return id
}

func (m *queueModel) purge(id policy.ID) {
	i := m.find(id)
	m.rows = slices.Delete(m.rows, i, i+1)
	if i < m.hand {
		m.hand--
	}
	if m.hand == len(m.rows) {
		m.hand = 0 // the youngest has gone: start again, even if others come before the next search
	}
}

func (m *queueModel) find(id policy.ID) int {
	return slices.IndexFunc(m.rows, func(r queueRow) bool { return r.id == id })
}

func oldest(*queueModel) int { return 0 }

func underHand(m *queueModel) int {
	for m.rows[m.hand].uses > 0 {
		m.rows[m.hand].uses = 0
		m.hand = (m.hand + 1) % len(m.rows)
	}
	return m.hand
}

// keyModel evicts the least key, ties by offset if that counts, then by least recent use.
type keyModel struct {
	rows     []*modelRow
	key      func(*keyModel, *modelRow) float64
	byOffset bool
	floor    float64
}

type modelRow struct {
	policy.Item
	uses, key float64
	seq       int64
}

func (m *keyModel) hit(id policy.ID, seq int64) {
	r := m.rows[m.find(id)]
	r.uses++
	r.seq = seq
	r.key = m.key(m, r)
}

func (m *keyModel) insert(it policy.Item, seq int64) {
	r := &modelRow{Item: it, uses: 1, seq: seq}
	r.key = m.key(m, r)
	m.rows = append(m.rows, r)
}

func (m *keyModel) evict() policy.ID {
	least := slices.MinFunc(m.rows, func(a, b *modelRow) int {
		byOffset := 0
		if m.byOffset {
			byOffset = cmp.Compare(b.Offset, a.Offset)
		}
		return cmp.Or(cmp.Compare(a.key, b.key), byOffset, cmp.Compare(a.seq, b.seq))
	})
	m.floor = least.key
	m.purge(least.ID)
	return least.ID
}

func (m *keyModel) purge(id policy.ID) {
	i := m.find(id)
	m.rows = slices.Delete(m.rows, i, i+1)
}

func (m *keyModel) find(id policy.ID) int {
	return slices.IndexFunc(m.rows, func(r *modelRow) bool { return r.ID == id })
}
