//go:build !windows

package topics

import (
	"fmt"
	"math"
	"math/rand"
	"syscall"
	"testing"

	"reprise/embed"
)

// BenchmarkGraph builds the graph of a scope in which every entry is an anchor, checks it with fresh texts, and compares its searches for
// others with the scan's; route-and-search is all of Topics.Search, with the graph. The texts are those of BenchmarkSearch. All times but
// those of reading and writing are CPU. Each size is a run of its own; 1,000,000 take 5 to 15 minutes:
//
//	REPRISE_DATA=DIR go test ./topics -run '^$' -bench 'Graph/1000000$' -benchtime 1x -timeout 1h -v
func BenchmarkGraph(b *testing.B) {
	for _, size := range []int{20_000, 50_000, 100_000, 300_000, 1_000_000} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			for b.Loop() {
				benchGraph(b, size)
			}
		})
	}
}

func benchGraph(b *testing.B, size int) {
	next, gates := texts(b), embed.NewBuiltin().Thresholds()
	t, err := New(Options{Dim: 384, Hit: gates.Hit, Route: gates.Route, Edge: gates.Edge})
	if err != nil {
		b.Fatal(err)
	}
	defer t.Close()
	t.graphs.min, t.graphs.share = 1000, 1e9
	fresh := make([]*query, 2*trialLen)
	for i := range fresh {
		fresh[i] = newQuery(vectorOf(next()))
	}
	for i := range size {
		if _, _, err := t.Add(Member{ID: EntryID(i + 1), Vector: vectorOf(next()), Topic: TopicID(i + 1)}); err != nil {
			b.Fatal(err)
		}
	}
	s := t.scope(ScopeID{})
	g := s.index.(*graph)
	before := heapInUse()
	b.ReportMetric(cpuTime(func() { s.nearest(g, fresh[0]); t.builder.runs.Wait() })/float64(size), "µs/insert")
	b.ReportMetric((heapInUse()-before)/float64(size), "B/node")
	for _, q := range fresh[:trialLen-1] {
		s.nearest(g, q)
	}
	b.ReportMetric(cpuTime(func() { s.nearest(g, fresh[trialLen-1]); t.builder.runs.Wait() })/1e6, "s/check")
	status := s.stats().Index
	b.Logf("%+v", status)
	b.ReportMetric(status.Recall, "recall")
	b.ReportMetric(float64(status.Breadth), "breadth")
	for name, index := range map[string]index{"µs/graph-search": g, "µs/scan": g.flat} {
		b.ReportMetric(cpuTime(func() {
			for _, q := range fresh[trialLen:] {
				s.nearest(index, q)
			}
		})/trialLen, name)
	}
	b.ReportMetric(cpuTime(func() {
		for _, q := range fresh[trialLen:] {
			search(t, Query{Vector: q.vector})
		}
	})/trialLen, "µs/route-and-search")
	b.ReportMetric(benchChurn(b, t, size), "µs/insert-after-search")
}

// nearest searches an index as a request does.
func (s *scope) nearest(index index, q *query) []neighbor {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return index.Search(q, 1, float32(s.options.Route), nil)
}

// cpuTime is the CPU time that f takes, with the builder, in µs.
func cpuTime(f func()) float64 {
	used := func() float64 {
		var u syscall.Rusage
		_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
		return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e3
	}
	before := used()
	f()
	return used() - before
}

// benchChurn searches for new vectors, each of which then takes the place of an entry, and returns what an insertion takes, in µs.
func benchChurn(b *testing.B, t *Topics, size int) (took float64) {
	rng := rand.New(rand.NewSource(1))
	const batches = 16
	for batch := range batches {
		var vectors [][]float32
		for _, v := range unitVectors(rng, minDelta, 384) {
			search(t, Query{Vector: v})
			vectors = append(vectors, v)
		}
		took += cpuTime(func() {
			for i, v := range vectors {
				id := batch*minDelta + i + 1
				t.Forget(EntryID(id))
				if _, _, err := t.Add(Member{ID: EntryID(size + id), Vector: v, Topic: TopicID(size + id)}); err != nil {
					b.Fatal(err)
				}
			}
			t.builder.runs.Wait()
		})
	}
	return took / (batches * minDelta)
}

// BenchmarkCells compares the scan of the nearest cells of a list with that of all: the part of the queries, of those with a row over a
// gate, for which it finds the nearest row, and its CPU time as a part of that of the scan of all.
//
//	REPRISE_DATA=DIR go test ./topics -run '^$' -bench Cells -benchtime 1x
func BenchmarkCells(b *testing.B) {
	for _, size := range []int{150_000, 300_000, 1_000_000} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			for b.Loop() {
				benchCells(b, size)
			}
		})
	}
}

func benchCells(b *testing.B, size int) {
	next, rs, l, at := texts(b), newRows(384), new(list), slots{}
	queries := make([]*query, 1000)
	for i := range queries {
		queries[i] = newQuery(vectorOf(next()))
	}
	for range size {
		v := vectorOf(next())
		s := sketchOf(v)
		l.add(rs, rs.add(v, &s), at)
	}
	for gate, e := range map[float32]effort{0.9: forHits, 0.6: forAnchor} {
		var scores [2][]float32 // of the nearest
		var took [2]float64
		for i, heads := range []int{e.heads, math.MaxInt} {
			e.heads = heads
			took[i] = cpuTime(func() {
				for _, q := range queries {
					top := gate
					newScan(rs, q, e, gate, visit(func(row int32) float32 {
						top = max(top, embed.Dot(q.vector, rs.vector(row)))
						return top
					})).list(l)
					scores[i] = append(scores[i], top)
				}
			})
		}
		found, counted := 0., 0.
		for i, top := range scores[1] {
			if top > gate {
				counted++
				if scores[0][i] == top {
					found++
				}
			}
		}
		b.ReportMetric(found/counted, fmt.Sprintf("recall-%v", gate))
		b.ReportMetric(took[0]/took[1], fmt.Sprintf("CPU/all-%v", gate))
	}
}
