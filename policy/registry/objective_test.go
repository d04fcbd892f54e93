package registry

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"reprise/policy"
)

// situations are a limit, whether the policy is made for one in bytes, and which of the values maximise hits there, and tokens. The
// third is that of the proxy: two limits, of which the one in bytes is reached first.
var situations = []struct {
	name         string
	limit        policy.Limit
	bytes        bool
	hits, tokens []string
	others       []string // neither
}{
	{"entries", policy.Limit{Entries: 200}, false, []string{"auto", "hits"}, []string{"tokens"}, nil},
	{"bytes", policy.Limit{Bytes: 200 * 1000}, true, []string{"hits", "hits/byte"}, []string{"auto", "tokens", "tokens/byte"}, nil},
	{"both", policy.Limit{Entries: 1000, Bytes: 200 * 1000}, false, []string{"hits/byte"}, []string{"tokens/byte"}, []string{"auto", "hits", "tokens"}},
}

// TestObjectives plays requests, generated with sizes and costs that are independent and heavy-tailed, through every policy that has
// objectives. Each value is judged by its own measure, in which no other value is better by more than the seeds differ.
func TestObjectives(t *testing.T) {
	for _, info := range List() {
		if !slices.ContainsFunc(info.Params, func(p policy.Param) bool { return p.Name == "value" }) {
			continue
		}
		for _, s := range situations {
			t.Run(info.Name+" "+s.name, func(t *testing.T) {
				t.Parallel()
				hits, tokens := map[string][]float64{}, map[string][]float64{}
				all := slices.Concat(s.hits, s.tokens, s.others)
				for _, value := range all {
					for seed := range uint64(5) {
						o := policy.Options{Capacity: max(200, s.limit.Entries), Bytes: s.bytes, Seed: seed}
						h, c := playObjective(t, info.Name+":value="+value, o, s.limit)
						hits[value], tokens[value] = append(hits[value], h), append(tokens[value], c)
					}
				}
				wantBest(t, "hit ratio", hits, s.hits, all)
				wantBest(t, "tokens saved", tokens, s.tokens, all)
			})
		}
	}
}

// wantBest fails unless figures of the values that maximise a measure are the best, by more than noise where the ranking differs.
func wantBest(t *testing.T, measure string, figures map[string][]float64, best, all []string) {
	t.Helper()
	for _, value := range all {
		mean, noise := difference(figures[best[0]], figures[value])
		switch {
		case slices.Contains(best, value):
			if mean != 0 {
				t.Errorf("%s: value=%s and value=%s, which are one objective here, differ by %.4f", measure, best[0], value, mean)
			}
		case mean <= noise:
			t.Errorf("%s: value=%s is better than value=%s by %.4f ± %.4f; want more than the noise", measure, best[0], value, mean, noise)
		}
	}
}

// difference is the mean of x-y and twice its standard error.
func difference(x, y []float64) (mean, noise float64) {
	n := float64(len(x))
	for i := range x {
		mean += (x[i] - y[i]) / n
	}
	for i := range x {
		d := x[i] - y[i] - mean
		noise += d * d
	}
	return mean, 2 * math.Sqrt(noise/(n-1)/n)
}

// playObjective returns the hit ratio and the tokens saved as a share of the tokens of all requests: 2,000 identities by a Zipf law, in
// 100 topics.
func playObjective(t *testing.T, name string, o policy.Options, limit policy.Limit) (hits, tokens float64) {
	e, err := New(name, o)
	if err != nil {
		t.Fatal(err)
	}
	const identities, requests = 2000, 8000
	r := rand.New(rand.NewPCG(o.Seed, 11))
	items := make([]policy.Item, identities)
	for i := range items {
		items[i] = policy.Item{
			Key: uint64(i + 1), Topic: policy.TopicID(1 + r.IntN(100)),
			Size: int64(1 + 1000*math.Exp(r.NormFloat64()-0.5)), Cost: 1 + 100*math.Exp(r.NormFloat64()-0.5), // mean 1000 and 100
		}
	}
	zipf := rand.NewZipf(r, 1.1, 20, identities-1)
	ledger := policy.NewLedger(e, limit)
	resident := make([]policy.ID, identities)
	all := 0.0
	for seq := int64(1); seq <= requests; seq++ {
		i, at := zipf.Uint64(), policy.Tick{Seq: seq}
		it := items[i]
		all += it.Cost
		if resident[i] != 0 {
			hits, tokens = hits+1, tokens+it.Cost
			ledger.Hit(resident[i], at)
			continue
		}
		if a, ok := e.(policy.Arriver); ok {
			a.Arrive(it.Topic, at)
		}
		it.ID = policy.ID(seq<<16) | policy.ID(i+1)
		resident[i] = it.ID
		for _, gone := range ledger.Insert(it, at, nil) {
			resident[gone&0xffff-1] = 0
		}
	}
	if ledger.Faults() != 0 {
		t.Fatalf("%s: %d faults", name, ledger.Faults())
	}
	return hits / requests, tokens / all
}
