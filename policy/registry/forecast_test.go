package registry

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"reprise/internal/policytest"
	"reprise/policy"
)

// draws are the policies that draw their victims among a sample.
var draws = []string{"haz"}

// votes are the policies whose order is that of an expert, which an eviction without a request does not ask.
var votes = []string{"rac+", "rac+:sample=2"}

// TestForecastNamesTheVictim: under a ledger the first of the forecast is the next victim. One that is drawn is among all that are offered;
// where all are compared it is the first.
func TestForecastNamesTheVictim(t *testing.T) {
	said := 0
	for _, name := range append(Names(), "rac+:sample=2", "rac:alpha=1") {
		for _, capacity := range []int{1, 2, 8, 30} {
			t.Run(fmt.Sprint(name, "/", capacity), func(t *testing.T) {
				e := named(t, name, policy.Options{Capacity: capacity, Seed: 3})
				f, ok := e.(policy.Forecaster)
				if !ok {
					t.Skip("it does not say")
				}
				said++
				drawn := name == "haz" && capacity == 30
				evictions := 0
				crowd(e, capacity, 3000, func() {
					next := policytest.Forecast(f, 3)
					all := policytest.Forecast(f, capacity+1)
					victim, ok := e.Victim()
					if !ok || len(next) == 0 || len(all) != capacity+1 || !slices.Equal(next, all[:len(next)]) || f.Why(next[0]) == "" {
						t.Fatalf("after %d evictions: next %v, of all %v, victim %d, why %q", evictions, next, all, victim, f.Why(next[0]))
					}
					if at := slices.Index(all, victim); at < 0 || at > 0 && !drawn {
						t.Fatalf("after %d evictions: next %v, victim %d", evictions, next, victim)
					}
					evictions++
				})
				if evictions < 100 || f.Why(1<<40) != "" {
					t.Errorf("%d evictions; why of an unknown entry: %q", evictions, f.Why(1<<40))
				}
			})
		}
	}
	if said < 36 {
		t.Errorf("%d policies and capacities have a forecast", said)
	}
}

// TestForecastIsTheOrder: with more residents than a call looks at, the forecast is the order in which they go while there is no request.
func TestForecastIsTheOrder(t *testing.T) {
	const capacity, most = 3 * policy.ForecastStep, 50
	for _, name := range Names() {
		e := named(t, name, policy.Options{Capacity: capacity, Seed: 3})
		f, ok := e.(policy.Forecaster)
		if !ok || slices.Contains(draws, name) || slices.Contains(votes, name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			crowd(e, capacity, 3*capacity, func() { e.Victim() })
			next := policytest.Forecast(f, most)
			for i, want := range next {
				got, _ := e.Victim()
				if got != want {
					t.Fatalf("victim %d is %d, the forecast has %v", i, got, next)
				}
				e.Remove(got, policy.Evicted)
			}
			if len(next) != most {
				t.Errorf("%d of %d", len(next), most)
			}
		})
	}
}

// crowd plays requests for skewed identities. full is called when one entry is too many, before the victim goes.
func crowd(e policy.Evictor, capacity, requests int, full func()) {
	r := rand.New(rand.NewPCG(9, uint64(capacity)))
	resident, keys := map[uint64]policy.ID{}, map[policy.ID]uint64{}
	id := policy.ID(0)
	for seq := range int64(requests) {
		at := policy.Tick{Seq: seq + 1, At: float64(seq)}
		key := uint64(1 + min(r.IntN(3*capacity+3), r.IntN(3*capacity+3), r.IntN(9*capacity+9)))
		it := policy.Item{Key: key, Topic: policy.TopicID(key % 7), Size: int64(1 + key%50), Cost: float64(1 + key%9), Offset: int(key % 4), Category: uint32(key % 3), Prob: r.Float64(), Parent: resident[key-1]}
		if old, ok := resident[key]; ok {
			if x, ok := e.(policy.Expirer); !ok || !x.Expired(old, at) {
				e.Hit(old, at)
				continue
			}
			e.Remove(old, policy.Expired)
			delete(resident, key)
			delete(keys, old)
		}
		id++
		it.ID = id
		policytest.Op{Kind: policytest.OpArrive, Topic: it.Topic}.Apply(e, at)
		e.Insert(it, at)
		resident[key], keys[id] = id, key
		if len(resident) > capacity {
			full()
			victim, _ := e.Victim()
			e.Remove(victim, policy.Evicted)
			delete(resident, keys[victim])
			delete(keys, victim)
		}
	}
}
