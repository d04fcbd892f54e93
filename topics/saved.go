package topics

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"

	"reprise/topics/internal/hnsw"
)

// Graphs are written so that a restart does not build them again. All numbers are little-endian:
//
//	magic and version, sketchVersion, Dim          16 + 4 + 4 bytes
//	for each scope with a whole graph:
//	    1, the scope, the number of nodes           1 + 32 + 4
//	    of each node its topic and its layers       8 + 1
//	    the graph, as coder/hnsw's Export writes it
//	0, CRC-32C of all before                        1 + 4
//
// A node is an anchor: its topic and 256 bits of its sketch. Tombstones are left out. Nothing in it is trusted: a node counts only if
// its topic still has an anchor with this sketch, and every score is computed from stored vectors. What it lacks is inserted again.
const (
	savedMagic = "reprise graphs 1"
	savedNode  = 8 + 1 // bytes
)

// ErrGraphs is wrapped by the errors of ReadGraphs.
var ErrGraphs = errors.New("saved graphs cannot be used")

// UnsavedGraphs returns how many nodes the graphs have, and how many rows joined or left them since SaveGraphs or ReadGraphs.
func UnsavedGraphs(t *Topics) (nodes, changed int) {
	for _, s := range t.allScopes() {
		s.mu.RLock()
		if p := s.parts(); p != nil && p.whole {
			nodes, changed = nodes+p.graph.Len(), changed+p.unsaved
		}
		s.mu.RUnlock()
	}
	return nodes, changed
}

// parts is the graph of a scope, nil where there is none.
func (s *scope) parts() *parts {
	if g, ok := s.index.(*Graph); ok {
		return g.parts
	}
	return nil
}

// SaveGraphs lets save call write once, which writes the graphs that are whole: some 120 bytes a node, in a second for a million.
// Everything else works meanwhile, except that a graph does not grow while it is written. With an error of save, which is returned, the
// graphs count as not saved.
func SaveGraphs(t *Topics, save func(write func(to io.Writer) error) error) error {
	var saved []func()
	if err := save(func(to io.Writer) error { return writeGraphs(t, to, &saved) }); err != nil {
		return err
	}
	for _, note := range saved {
		note()
	}
	return nil
}

// writeGraphs appends to saved what is to be called once the graphs are safe.
func writeGraphs(t *Topics, to io.Writer, saved *[]func()) error {
	w := &summing{to: to, sum: crc32.New(castagnoli)}
	b := bufio.NewWriterSize(w, 1<<16)
	b.Write(savedHead(t.dim.get()))
	for _, s := range t.allScopes() {
		if g, ok := s.index.(*Graph); ok {
			note, err := s.writeGraph(b, g)
			if err != nil {
				return fmt.Errorf("write graphs: %w", err)
			}
			*saved = append(*saved, note)
		}
	}
	b.WriteByte(0)
	if err := b.Flush(); err != nil {
		return fmt.Errorf("write graphs: %w", err)
	}
	if _, err := to.Write(binary.LittleEndian.AppendUint32(nil, w.sum.Sum32())); err != nil {
		return fmt.Errorf("write graphs: %w", err)
	}
	return nil
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func checksum(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

// summing adds what it writes to a checksum.
type summing struct {
	to  io.Writer
	sum hash.Hash32
}

func (w *summing) Write(b []byte) (int, error) {
	w.sum.Write(b)
	return w.to.Write(b)
}

// writeGraph writes a graph if it is whole. What it returns notes that the changes so far are saved.
func (s *scope) writeGraph(b *bufio.Writer, g *Graph) (note func(), err error) {
	g.building.Lock() // before the lock of the scope, as in a step
	defer g.building.Unlock()
	s.mu.Lock()
	p := g.parts
	if p == nil || !p.whole {
		s.mu.Unlock()
		return func() {}, nil
	}
	unsaved := p.unsaved
	s.mu.Unlock()
	note = func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		p.unsaved -= unsaved
	}
	nodes, names := s.named(g, p, p.graph.Nodes(nil))
	head := append([]byte{1}, s.id[:]...)
	b.Write(binary.LittleEndian.AppendUint32(head, uint32(len(nodes))))
	for i, n := range nodes {
		b.Write(append(binary.LittleEndian.AppendUint64(b.AvailableBuffer(), names[i]), uint8(p.graph.Layers(n))))
	}
	return note, p.graph.Export(b, nodes)
}

// named returns those of nodes whose rows are still in the set, and the names of these.
func (s *scope) named(g *Graph, p *parts, nodes []hnsw.Node) (kept []hnsw.Node, names []uint64) {
	kept = nodes[:0]
	for len(nodes) > 0 {
		part := nodes[:min(batchLen, len(nodes))]
		nodes = nodes[len(part):]
		s.mu.RLock()
		for _, n := range part {
			if key := p.graph.Key(n); key != 0 && p.nodeOf[rowOfKey(key)] == n {
				kept, names = append(kept, n), append(names, g.flat.name(rowOfKey(key)))
			}
		}
		s.mu.RUnlock()
	}
	return kept, names
}

// ReadGraphs takes in what SaveGraphs wrote, after all entries were added and before the first search: a graph that is being built
// already stays. On an error, which wraps ErrGraphs, nothing has changed, and graphs are built as if none were saved. Before the length of
// the vectors is known there are no entries that a graph could be of.
func ReadGraphs(t *Topics, saved []byte) error {
	if t.dim.get() == 0 {
		return nil
	}
	all, err := readAll(t, saved)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrGraphs, err)
	}
	for _, one := range all {
		if s := t.scope(one.scope); s != nil {
			s.adopt(one)
		}
	}
	return nil
}

// savedGraph is a graph that was read.
type savedGraph struct {
	scope ScopeID
	names []uint64 // of its nodes from 1 on
	graph *hnsw.Graph
}

var errSum = errors.New("the checksum is wrong")

func readAll(t *Topics, saved []byte) (all []savedGraph, err error) {
	end := len(saved) - crc32.Size
	if end < 0 || checksum(saved[:end]) != binary.LittleEndian.Uint32(saved[end:]) {
		return nil, errSum
	}
	body, ok := bytes.CutPrefix(saved[:end], savedHead(t.dim.get()))
	if !ok {
		return nil, errors.New("they are of another version or embedder")
	}
	b := bufio.NewReaderSize(bytes.NewReader(body), 1<<16)
	for {
		switch more, err := b.ReadByte(); {
		case err != nil:
			return nil, err
		case more == 0:
			return all, nil
		}
		one, err := readGraph(b, len(body), t.options.Seed)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
}

// savedHead is how saved graphs begin.
func savedHead(dim int) []byte {
	head := binary.LittleEndian.AppendUint32([]byte(savedMagic), sketchVersion)
	return binary.LittleEndian.AppendUint32(head, uint32(dim))
}

// readGraph reads the graph of one scope, of at most the given number of bytes.
func readGraph(b *bufio.Reader, most int, seed int64) (one savedGraph, err error) {
	var head [len(one.scope) + 4]byte
	if _, err = io.ReadFull(b, head[:]); err != nil {
		return one, err
	}
	one.scope = ScopeID(head[:])
	count := int(binary.LittleEndian.Uint32(head[len(one.scope):]))
	if count > most/savedNode {
		return one, fmt.Errorf("%d nodes in %d bytes", count, most)
	}
	layers := make([]uint8, count)
	one.names = make([]uint64, count)
	for i := range layers {
		var node [savedNode]byte
		if _, err = io.ReadFull(b, node[:]); err != nil {
			return one, err
		}
		one.names[i], layers[i] = binary.LittleEndian.Uint64(node[:]), node[8]
	}
	one.graph, err = hnsw.Import(b, layers, seed)
	return one, err
}

// adopt makes a saved graph that of the scope. A node whose topic has no anchor with its sketch stays a tombstone.
func (s *scope) adopt(saved savedGraph) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g, ok := s.index.(*Graph)
	if !ok || g.parts != nil || !g.dueLocked() {
		return
	}
	p := newParts(saved.graph, g.flat)
	for i, name := range saved.names {
		t := s.topics[TopicID(name)]
		if t == nil || t.anchor == nil || p.nodeOf[t.anchor.row] != 0 {
			continue
		}
		row, n := t.anchor.row, hnsw.Node(i)+1
		full := s.rows.sketch(row)
		if short := shortened(&full); saved.graph.Claim(n, keyOfRow(row), &short) {
			p.nodeOf[row] = n
		}
	}
	if saved.graph.Len() < g.flat.Len()/2 { // to build it again is cheaper than to repair it
		return
	}
	g.complete(p)
	for _, row := range g.flat.rowOf {
		if p.nodeOf[row] == 0 {
			p.delta.Add(row)
		}
	}
	p.unsaved = p.delta.Len() + p.graph.Dead()
	g.parts = p
}
