package hnsw

import (
	"bufio"
	"bytes"
	"math/rand"
	"reflect"
	"testing"
)

// exported is a graph of n nodes, and its written form.
func exported(t testing.TB, n int) (m *model, written []byte, layers []uint8) {
	m = &model{graph: New(1), stored: map[uint64]Sketch{}, nodes: map[uint64]Node{}}
	for i, s := range cloud(rand.New(rand.NewSource(7)), n) {
		m.insert(uint64(i)+1, s, nil)
	}
	for key := uint64(5); key < uint64(n); key += 50 {
		m.kill(key)
	}
	written, layers = export(t, m.graph)
	return m, written, layers
}

func export(t testing.TB, g *Graph) (written []byte, layers []uint8) {
	nodes := g.Nodes(nil)
	for _, n := range nodes {
		layers = append(layers, uint8(g.Layers(n)))
	}
	var b bytes.Buffer
	if err := g.Export(bufio.NewWriter(&b), nodes); err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), layers
}

// TestExport writes a graph with tombstones and reads it again: they are left out, and the rest is found as before.
func TestExport(t *testing.T) {
	m, written, layers := exported(t, 800)
	m.t = t
	again, err := Import(bufio.NewReader(bytes.NewReader(written)), layers, 1)
	if err != nil {
		t.Fatal(err)
	}
	if again.Len() != 0 || again.Dead() != len(m.stored) {
		t.Errorf("%d alive and %d dead before any is claimed, want all %d dead", again.Len(), again.Dead(), len(m.stored))
	}
	wrong := Sketch{1}
	for i, n := range m.graph.Nodes(nil) {
		key, to := m.graph.Key(n), Node(i)+1
		s := m.stored[key]
		if again.Claim(to, key, &wrong) || !again.Claim(to, key, &s) || again.Claim(to, key, &s) {
			t.Fatalf("node %d: claimed by another sketch, not by its own, or twice", to)
		}
		m.nodes[key] = to
	}
	m.graph = again
	m.check(rand.New(rand.NewSource(8)), 100)
	if second, _ := export(t, again); !reflect.DeepEqual(second, written) {
		t.Error("written again, the graph differs")
	}
	for i, s := range cloud(rand.New(rand.NewSource(9)), 100) {
		m.insert(uint64(i)+10_000, s, nil)
	}
	m.check(rand.New(rand.NewSource(8)), 100)
}

// TestImportTruncated: a graph that ends early is an error at every length.
func TestImportTruncated(t *testing.T) {
	_, written, layers := exported(t, 40)
	for n := range written {
		if _, err := Import(bufio.NewReader(bytes.NewReader(written[:n])), layers, 1); err == nil {
			t.Fatalf("%d of %d bytes are read without an error", n, len(written))
		}
	}
}

// FuzzImport: bytes of any kind make an error or a graph that can be searched, swept and extended.
func FuzzImport(f *testing.F) {
	_, written, layers := exported(f, 60)
	f.Add(written, layers)
	f.Add([]byte{}, []byte{})
	f.Fuzz(func(t *testing.T, written, layers []byte) {
		if len(layers) > 1000 {
			return
		}
		g, err := Import(bufio.NewReader(bytes.NewReader(written)), layers, 1)
		if err != nil {
			return
		}
		v := g.view.Load()
		for n := Node(1); n < g.span; n += 2 {
			s := *v.sketch(n)
			g.Claim(n, uint64(n), &s)
		}
		m := &model{t: t, graph: g, stored: map[uint64]Sketch{}, nodes: map[uint64]Node{}}
		q := Sketch{1, 2, 3}
		m.graph.Search(&q, 10, nil)
		m.sweep()
		for _, s := range cloud(rand.New(rand.NewSource(1)), 50) {
			m.graph.Insert(1, &s, nil)
		}
		m.graph.Search(&q, 10, nil)
	})
}
