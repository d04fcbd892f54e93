package topics

import (
	"context"
	"fmt"
	"math"
	"math/rand"
	"slices"
	"time"

	"reprise/embed"
)

const (
	samples   = 96   // queries of a self-check
	checkK    = 8    // neighbours per query of a self-check
	minRecall = 0.98 // a graph with lower recall does not serve
)

// checkup is the result of a self-check of a graph against an exact scan of the same vectors.
type checkup struct {
	counted     int     // queries whose nearest vector passed the route gate
	recall      float64 // share of these for which the graph found the nearest vector
	graph, flat time.Duration
}

// examine searches a graph for stored vectors with noise, whose cosine is halfway between the route gate and 1. It ends early when
// ctx does.
func examine(ctx context.Context, graph searcher, ids []uint64, vectors [][]float32, o GraphOptions) (c checkup, err error) {
	if len(ids) == 0 {
		return c, nil
	}
	exact := NewFlat(newRows(len(vectors[0])), func(row int32) uint64 { return uint64(row) })
	for _, v := range vectors {
		if err := ctx.Err(); err != nil {
			return c, err
		}
		sk := sketchOf(v)
		exact.Add(exact.rows.add(v, &sk))
	}
	trial := newSnapshot(renumbered(graph, ids), exact)
	rng := rand.New(rand.NewSource(o.Seed))
	var graphTimes, flatTimes []time.Duration
	found := 0
	for range samples {
		if err := ctx.Err(); err != nil {
			return c, err
		}
		q := newQuery(noisy(rng, vectors[rng.Intn(len(vectors))], (1+o.Route)/2))
		start := time.Now()
		want := exact.Search(q, checkK, anyScore, nil)
		middle := time.Now()
		got, ok, err := trial.search(q, checkK, anyScore, nil)
		graphTimes, flatTimes = append(graphTimes, time.Since(middle)), append(flatTimes, middle.Sub(start))
		if err != nil {
			return c, err
		}
		if want[0].Score < float32(o.Route) {
			continue
		}
		c.counted++
		if ok && got[0].Score >= want[0].Score {
			found++
		}
	}
	c.recall = float64(found) / float64(max(c.counted, 1))
	c.graph, c.flat = median(graphTimes), median(flatTimes)
	return c, nil
}

// renumber is a graph whose rows have other numbers.
type renumber struct {
	searcher
	numbers map[uint64]uint64
}

// renumbered is a graph whose ids are the places of the given ones.
func renumbered(graph searcher, ids []uint64) searcher {
	r := renumber{graph, make(map[uint64]uint64, len(ids))}
	for i, id := range ids {
		r.numbers[id] = uint64(i)
	}
	return r
}

func (r renumber) nearest(q []float32, k int) []uint64 {
	found := r.searcher.nearest(q, k)
	for i, id := range found {
		found[i] = r.numbers[id]
	}
	return found
}

// verdict returns why a graph must not serve, nil if it may.
func (c checkup) verdict() error {
	switch {
	case c.counted < samples/2:
		return fmt.Errorf("only %d of %d sample queries pass the route gate", c.counted, samples)
	case c.recall < minRecall:
		return fmt.Errorf("recall %.3f of the graph is below %.2f", c.recall, minRecall)
	case c.graph >= c.flat:
		return fmt.Errorf("the graph takes %.1f times as long as the scan", float64(c.graph)/float64(c.flat))
	}
	return nil
}

// noisy returns a unit vector with about the given cosine to v.
func noisy(rng *rand.Rand, v []float32, cosine float64) []float32 {
	noise := make([]float32, len(v))
	for i := range noise {
		noise[i] = float32(rng.NormFloat64() * math.Sqrt((1-cosine*cosine)/float64(len(v))))
		noise[i] += float32(cosine) * v[i]
	}
	embed.Normalize(noise)
	return noise
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}
