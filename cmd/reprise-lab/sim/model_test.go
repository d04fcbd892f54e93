package sim

import (
	"errors"
	"strings"
	"testing"

	"reprise/policy"
)

// pairs is a player for which 2k and 2k+1 are equal.
type pairs struct {
	ledger   *policy.Ledger
	resident map[uint64]policy.ID
	last     policy.ID
	fails    uint64
}

var errPairs = errors.New("no such pair")

func newPairs(e policy.Evictor, limit policy.Limit) (Player, error) {
	return &pairs{ledger: policy.NewLedger(e, limit), resident: map[uint64]policy.ID{}, fails: 99}, nil
}

func (p *pairs) Residents() (entries int, bytes int64, faults int) {
	return p.ledger.Entries(), p.ledger.Bytes(), p.ledger.Faults()
}

func (p *pairs) Play(r *Request, at policy.Tick) (bool, int, error) {
	if r.ID == p.fails {
		return false, 0, errPairs
	}
	if id := p.resident[r.ID/2]; id != 0 && p.ledger.Has(id) {
		p.ledger.Hit(id, at)
		return true, 0, nil
	}
	p.last++
	p.resident[r.ID/2] = p.last
	return false, len(p.ledger.Insert(policy.Item{ID: p.last}, at, nil)), nil
}

// TestModelOverCapacity: a player that exceeds its capacity, or whose policy names no victim, is an error.
func TestModelOverCapacity(t *testing.T) {
	trace := &Slice{Title: "pairs", All: []Request{{ID: 2, Size: 9}, {ID: 4, Size: 9}, {ID: 6, Size: 9}}}
	for _, c := range []struct {
		capacity Capacity
		cache    func(policy.Evictor, policy.Limit) (policy.Evictor, policy.Limit)
		want     string
	}{
		{Capacity{Entries: 2}, func(e policy.Evictor, _ policy.Limit) (policy.Evictor, policy.Limit) { return e, policy.Limit{} },
			"policy lru at 2: 3 entries of 0 bytes are more than the capacity"},
		{Capacity{Entries: 1}, func(_ policy.Evictor, l policy.Limit) (policy.Evictor, policy.Limit) { return &spy{deaf: true}, l },
			"policy lru at 1: 1 times no victim, or one that was not resident"},
	} {
		model := func(e policy.Evictor, l policy.Limit) (Player, error) { return newPairs(c.cache(e, l)) }
		_, err := Replay(t.Context(), trace, Options{Policies: []string{"lru"}, Capacities: []Capacity{c.capacity}, Model: model})
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

func TestModelDecidesWhatIsAHit(t *testing.T) {
	trace := &Slice{Title: "pairs"}
	for _, id := range []uint64{2, 3, 4, 5, 6, 2, 3} {
		trace.All = append(trace.All, Request{ID: id, Cost: float64(id)})
	}
	o := Options{Policies: []string{"lru", "belady"}, Capacities: []Capacity{{Entries: 2}}, Model: newPairs}
	results, err := Replay(t.Context(), trace, o)
	if err != nil || len(results) != 2 {
		t.Fatal(results, err)
	}
	// 2, 4, 6 and 2 miss; in the infinite cache the last 2 is a hit.
	if r := results[0]; r.Hits != 3 || r.Evictions != 2 || r.TokensSaved != 3+5+3 || r.HitRatioInfinite != 4./7 {
		t.Errorf("lru: %+v", r)
	}
	trace.All[5].ID = 99
	results, err = Replay(t.Context(), trace, o)
	if !errors.Is(err, errPairs) || results[0].Hits != 2 {
		t.Errorf("after an error of the player: %v, %+v", err, results)
	}
}
