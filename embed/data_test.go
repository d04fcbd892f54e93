package embed

import (
	"cmp"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reprise/internal/dataset"
	"slices"
	"testing"
)

type utterance struct{ Text, Intent string }

// TestRoutesIntents finds for each of 1,500 utterances of BANKING77 the nearest other one; the share that has the same
// intent is the precision of a router.
func TestRoutesIntents(t *testing.T) {
	dir := os.Getenv("REPRISE_DATA")
	if dir == "" {
		t.Skip("REPRISE_DATA is not set: the quality of the embedder is not measured")
	}
	var all []utterance
	for one, err := range dataset.Rows[utterance](filepath.Join(dir, "intent/banking77.jsonl.gz")) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, one)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	vectors := make([][]float32, len(all))
	for i, u := range all {
		vectors[i] = embedOne(t, u.Text)
	}
	type route struct {
		cos   float32
		right bool
	}
	var routes []route
	for i := range 1500 {
		best := route{cos: -1}
		for j := range all {
			if c := Dot(vectors[i], vectors[j]); j != i && c > best.cos {
				best = route{c, all[i].Intent == all[j].Intent}
			}
		}
		routes = append(routes, best)
	}
	slices.SortFunc(routes, func(a, b route) int { return cmp.Compare(b.cos, a.cos) })
	share := func(rs []route) float64 {
		n := 0
		for _, r := range rs {
			if r.right {
				n++
			}
		}
		return float64(n) / float64(len(rs))
	}
	half := routes[:len(routes)/2]
	t.Logf("BANKING77: 1-NN right %.3f; of the half with higher cosines (cosine >= %.2f) %.3f", share(routes), half[len(half)-1].cos, share(half))
	for _, gate := range []float32{0.5, 0.55, 0.6, 0.65, 0.7, 0.8} {
		k, _ := slices.BinarySearchFunc(routes, gate, func(r route, g float32) int { return cmp.Compare(g, r.cos) })
		t.Logf("  gate %.2f: routed %.3f, right %.3f", gate, float64(k)/float64(len(routes)), share(routes[:k]))
	}
	if share(routes) < 0.82 {
		t.Errorf("1-NN right %.3f, want 0.82 or more", share(routes))
	}
}
