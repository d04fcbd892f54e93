package topics

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math/rand"
	"sync"
	"testing"

	"reprise/embed"
)

const (
	savedDim   = 48
	firstTopic = TopicID(0x15b6c7d8e0) // no other number in saved graphs has these bytes
)

// graphed is a Topics with one scope whose graph is whole, and the vectors of its anchors by entry.
func graphed(t testing.TB, n int) (*Topics, map[EntryID][]float32) {
	topics := empty(t)
	entries := map[EntryID][]float32{}
	for i, v := range prompts(rand.New(rand.NewSource(1)), n, savedDim) {
		entries[EntryID(i+1)] = v
	}
	fillTopics(t, topics, entries)
	build(topics)
	return topics, entries
}

// build searches once, which begins the build of a graph, and waits for its end.
func build(topics *Topics) {
	topics.Search(Query{Vector: unitVectors(rand.New(rand.NewSource(9)), 1, savedDim)[0]})
	topics.builder.runs.Wait()
}

func empty(t testing.TB) *Topics {
	topics, err := New(Options{Dim: savedDim, Hit: 0.97, Route: 0.65, Edge: 0.6, Index: KindGraph})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(topics.Close)
	return topics
}

// fillTopics adds each entry with a topic of its own, in any order.
func fillTopics(t testing.TB, topics *Topics, entries map[EntryID][]float32) {
	for id, v := range entries {
		if _, _, err := topics.Add(Member{ID: id, Vector: v, Topic: firstTopic + TopicID(id)}); err != nil {
			t.Fatal(err)
		}
	}
}

func written(t testing.TB, topics *Topics) []byte {
	var b bytes.Buffer
	if err := SaveGraphs(topics, func(write func(io.Writer) error) error { return write(&b) }); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// status is that of the graph of the only scope.
func status(topics *Topics) IndexStatus { return topics.Stats().Scopes[0].Index }

// serve lets the graph serve without a self-check.
func serve(topics *Topics) {
	s := topics.scope(ScopeID{})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.parts().breadth = 128
}

// routed is the share of entries whose vectors, with noise, are routed to their own topics.
func routed(topics *Topics, entries map[EntryID][]float32) float64 {
	rng := rand.New(rand.NewSource(2))
	found, asked := 0, 0
	for id, v := range entries {
		r := search(topics, Query{Vector: near(rng, v, 0.9)})
		if r.Topic == firstTopic+TopicID(id) {
			found++
		}
		if asked++; asked == 500 {
			break
		}
	}
	return float64(found) / float64(asked)
}

// TestRestartKeepsTheGraph writes a graph, and reads it in a Topics where some entries have left, some are new, and some have other vectors.
func TestRestartKeepsTheGraph(t *testing.T) {
	const n = 1500
	topics, entries := graphed(t, n)
	if nodes, changed := UnsavedGraphs(topics); nodes != n || changed != n {
		t.Errorf("%d nodes, %d changed before a write, want %d of both", nodes, changed, n)
	}
	saved := written(t, topics)
	if nodes, changed := UnsavedGraphs(topics); nodes != n || changed != 0 {
		t.Errorf("%d nodes, %d changed after a write, want %d and 0", nodes, changed, n)
	}
	rng := rand.New(rand.NewSource(3))
	for id := EntryID(1); id <= 30; id++ {
		delete(entries, id)
		entries[id+30] = unitVectors(rng, 1, savedDim)[0]
		entries[id+n] = unitVectors(rng, 1, savedDim)[0]
	}
	again := empty(t)
	fillTopics(t, again, entries)
	if err := ReadGraphs(again, saved); err != nil {
		t.Fatal(err)
	}
	serve(again)
	if share := routed(again, entries); share < 0.98 {
		t.Errorf("%.3f of the queries are routed to their topics", share)
	}
	again.builder.runs.Wait()
	if s := status(again); s.Rebuilds != 0 || s.Nodes != n-60 || s.Pending != 60 || s.Faults != 0 {
		t.Errorf("status %+v, want %d nodes from the saved graph and 60 rows beside it", s, n-60)
	}
	if !bytes.Equal(written(t, topics), saved) {
		t.Error("the same graph is written differently")
	}
}

// TestFailedSaveIsNotForgotten: what was written counts as saved only if it is safe, and changes meanwhile are not saved with it.
func TestFailedSaveIsNotForgotten(t *testing.T) {
	const n = 1100
	topics, _ := graphed(t, n)
	full := errors.New("the disk is full")
	for _, c := range []struct {
		fail error
		want int // changes that are not saved
	}{{full, n + 1}, {full, n + 2}, {nil, 1}, {full, 2}} {
		err := SaveGraphs(topics, func(write func(io.Writer) error) error {
			if err := write(io.Discard); err != nil {
				t.Error(err)
			}
			topics.Forget(EntryID(status(topics).Nodes)) // any that is left
			return c.fail
		})
		if _, changed := UnsavedGraphs(topics); err != c.fail || changed != c.want {
			t.Errorf("%v: %d changes are not saved, want %d", err, changed, c.want)
		}
	}
}

// TestDamagedGraphsAreDropped: with any damage nothing is taken in, and the next search builds a graph.
func TestDamagedGraphsAreDropped(t *testing.T) {
	topics, entries := graphed(t, 1100)
	saved := written(t, topics)
	again := empty(t)
	fillTopics(t, again, entries)
	rng := rand.New(rand.NewSource(4))
	for i := range 300 {
		bad := bytes.Clone(saved)
		if i%2 == 0 {
			bad = bad[:rng.Intn(len(bad))]
		} else {
			bad[rng.Intn(len(bad))] ^= 1 << rng.Intn(8)
		}
		if err := ReadGraphs(again, bad); !errors.Is(err, ErrGraphs) {
			t.Fatalf("damage %d: %v", i, err)
		}
	}
	if s := status(again); s.Nodes != 0 {
		t.Errorf("status %+v, want no graph", s)
	}
	build(again)
	if s := status(again); s.Nodes != len(entries) || s.Rebuilds != 1 {
		t.Errorf("status %+v, want a graph that was built", s)
	}
	other, err := New(Options{Dim: savedDim + 1, Hit: 0.97, Route: 0.65, Edge: 0.6, Index: KindGraph})
	if err != nil {
		t.Fatal(err)
	}
	if err := ReadGraphs(other, saved); !errors.Is(err, ErrGraphs) {
		t.Errorf("graphs of another dimension: %v", err)
	}
}

// TestGraphOfOtherEntries: saved nodes whose entries are gone are no reason to keep the graph.
func TestGraphOfOtherEntries(t *testing.T) {
	topics, _ := graphed(t, 1100)
	again := empty(t)
	others := map[EntryID][]float32{}
	for i, v := range unitVectors(rand.New(rand.NewSource(5)), 1100, savedDim) {
		others[EntryID(i+1)] = v
	}
	fillTopics(t, again, others)
	if err := ReadGraphs(again, written(t, topics)); err != nil {
		t.Fatal(err)
	}
	if s := status(again); s.Nodes != 0 {
		t.Errorf("status %+v, want no graph", s)
	}
}

// TestForgottenIsNotWritten: after Forget no byte that is written names the topic or its sketch.
func TestForgottenIsNotWritten(t *testing.T) {
	topics, entries := graphed(t, 1100)
	const id = EntryID(77)
	s := sketchOf(entries[id])
	traces := [][]byte{binary.LittleEndian.AppendUint64(nil, uint64(firstTopic)+uint64(id)), binary.LittleEndian.AppendUint64(nil, s[1])}
	for _, trace := range traces {
		if !bytes.Contains(written(t, topics), trace) {
			t.Fatalf("%x is not written, so that the test proves nothing", trace)
		}
	}
	topics.Forget(id)
	for _, trace := range traces {
		if bytes.Contains(written(t, topics), trace) {
			t.Errorf("%x is still written", trace)
		}
	}
}

// TestWriteBesideChanges writes and reads graphs while entries come and go. The race detector checks it.
func TestWriteBesideChanges(t *testing.T) {
	topics, entries := graphed(t, 1100)
	serve(topics)
	var changes sync.WaitGroup
	changes.Go(func() {
		rng := rand.New(rand.NewSource(6))
		for i := range 600 {
			topics.Forget(EntryID(i + 1))
			v := unitVectors(rng, 1, savedDim)[0]
			search(topics, Query{Vector: v})
			if _, _, err := topics.Add(Member{ID: EntryID(i + 5000), Vector: v, Topic: firstTopic + TopicID(i+5000)}); err != nil {
				t.Error(err)
			}
		}
	})
	for range 4 {
		again := empty(t)
		fillTopics(t, again, entries)
		if err := ReadGraphs(again, written(t, topics)); err != nil {
			t.Error(err)
		}
	}
	changes.Wait()
	if _, changed := UnsavedGraphs(topics); changed > 1200 {
		t.Errorf("%d changes are not written", changed)
	}
}

// FuzzReadGraphs: bytes of any kind, with the right checksum, are an error or a graph that answers.
func FuzzReadGraphs(f *testing.F) {
	topics, entries := graphed(f, 1100)
	saved := written(f, topics)
	f.Add(saved[:len(saved)-4])
	f.Add(savedHead(savedDim))
	f.Fuzz(func(t *testing.T, body []byte) {
		again := empty(t)
		fillTopics(t, again, entries)
		sum := binary.LittleEndian.AppendUint32(bytes.Clone(body), checksum(body))
		if ReadGraphs(again, sum) == nil && again.scope(ScopeID{}).parts() != nil {
			serve(again)
		}
		rng := rand.New(rand.NewSource(7))
		for id := EntryID(1); id < 20; id++ {
			q := near(rng, entries[id], 0.9)
			r := search(again, Query{Vector: q})
			if v := entries[EntryID(r.Topic-firstTopic)]; r.Topic != 0 && !close32(embed.Dot(q, v), float32(r.Score)) {
				t.Fatalf("routed to %+v", r)
			}
		}
	})
}
