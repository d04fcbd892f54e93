package hnsw

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"sync/atomic"
)

// The form in which a graph is written is that of Export in github.com/coder/hnsw, so that its Import reads it too: a Graph[uint32]
// whose vectors are sketches, 32 bits in the place of each number. DistanceName is the name under which a program registers their
// distance before it imports a graph.
const (
	DistanceName  = "reprise-bits"
	exportVersion = 1
	exportWords   = Bits / 32
)

// ErrForm is wrapped by the errors of Import that the bytes caused.
var ErrForm = errors.New("not a graph as Export writes it")

// Nodes appends all nodes that are alive to dst.
func (g *Graph) Nodes(dst []Node) []Node {
	v := g.view.Load()
	for n := Node(1); n < g.span; n++ {
		if !v.isDead(n) {
			dst = append(dst, n)
		}
	}
	return dst
}

// Layers is the number of layers of a node above the base layer.
func (g *Graph) Layers(n Node) int { return g.view.Load().top(n) }

// Export writes some nodes, in ascending order, with the links between them. A node is written as its index in nodes.
func (g *Graph) Export(w *bufio.Writer, nodes []Node) error {
	v, e := g.view.Load(), exporter{w: w, index: make([]uint32, g.span)}
	layers := 1
	for i, n := range nodes {
		e.index[n] = uint32(i) + 1
		layers = max(layers, v.top(n)+1)
	}
	e.varint(exportVersion)
	e.varint(newLinks)
	e.bytes(binary.LittleEndian.AppendUint64(nil, math.Float64bits(1/math.Log(newLinks))))
	e.varint(breadth)
	e.varint(len(DistanceName))
	e.bytes([]byte(DistanceName))
	e.varint(layers)
	for layer := range layers {
		e.layer(v, nodes, layer)
	}
	return w.Flush()
}

// exporter writes to a bufio.Writer, which keeps the first error.
type exporter struct {
	w     *bufio.Writer
	index []uint32 // of each node in the nodes that are written, + 1
	links []byte
}

func (e *exporter) bytes(b []byte) { _, _ = e.w.Write(b) }

func (e *exporter) varint(n int) { e.bytes(binary.AppendVarint(e.w.AvailableBuffer(), int64(n))) }

func (e *exporter) layer(v *view, nodes []Node, layer int) {
	count := 0
	for _, n := range nodes {
		if v.top(n) >= layer {
			count++
		}
	}
	e.varint(count)
	for _, n := range nodes {
		if v.top(n) >= layer {
			e.node(n, v.sketch(n), v.links(n, layer))
		}
	}
}

func (e *exporter) node(n Node, s *Sketch, list []atomic.Uint32) {
	b := binary.LittleEndian.AppendUint32(e.w.AvailableBuffer(), e.index[n]-1)
	b = binary.AppendVarint(b, exportWords)
	for _, word := range s {
		b = binary.LittleEndian.AppendUint64(b, word)
	}
	e.bytes(b)
	e.links = e.links[:0]
	for i := range list {
		if to := list[i].Load(); to != 0 && e.index[to] != 0 {
			e.links = binary.LittleEndian.AppendUint32(e.links, e.index[to]-1)
		}
	}
	e.varint(len(e.links) / 4)
	e.bytes(e.links)
}

// Import reads a graph that Export wrote: all its nodes are tombstones, from 1 on, until Claim. layers has Layers of each. After an
// error the reader is anywhere. A graph that was damaged on its way may be read without one and then finds less.
func Import(r *bufio.Reader, layers []uint8, seed int64) (*Graph, error) {
	g, i := New(seed), importer{r: r}
	highest := 0
	for n, top := range layers {
		if top > mostLayer {
			return nil, fmt.Errorf("%w: a node in %d layers", ErrForm, top)
		}
		g.extend(int(top))
		if int(top) > highest || n == 0 {
			highest = int(top)
			g.entry.Store(uint32(n) + 1)
		}
	}
	g.dead.Store(int64(len(layers)))
	i.head(highest + 1)
	for layer := 0; layer <= highest && i.err == nil; layer++ {
		i.layer(g, layers, layer)
	}
	if i.err != nil {
		return nil, i.err
	}
	return g, nil
}

// Claim makes the tombstone n of an imported graph the node of a key, if it was that of this sketch.
func (g *Graph) Claim(n Node, key uint64, s *Sketch) bool {
	v := g.view.Load()
	if *v.sketch(n) != *s || !v.isDead(n) {
		return false
	}
	g.setLive(v, n, key)
	g.dead.Add(-1)
	return true
}

// importer keeps the first error, and reads zeros after it.
type importer struct {
	r   *bufio.Reader
	err error
	buf [4 * baseLinks]byte
}

func (i *importer) bytes(n int) []byte {
	b := i.buf[:n]
	if i.err == nil {
		_, i.err = io.ReadFull(i.r, b)
	}
	if i.err != nil {
		clear(b)
	}
	return b
}

// varint reads a number that must be from least to most.
func (i *importer) varint(what string, least, most int) int {
	if i.err != nil {
		return least
	}
	n, err := binary.ReadVarint(i.r)
	if i.err = err; err == nil && (n < int64(least) || n > int64(most)) {
		i.err = fmt.Errorf("%w: %s %d", ErrForm, what, n)
	}
	if i.err != nil {
		return least
	}
	return int(n)
}

func (i *importer) word() uint32 { return binary.LittleEndian.Uint32(i.bytes(4)) }

func (i *importer) head(layers int) {
	i.varint("version", exportVersion, exportVersion)
	i.varint("links", newLinks, newLinks)
	i.bytes(8)
	i.varint("breadth", 1, math.MaxInt32)
	n := i.varint("length of a name", len(DistanceName), len(DistanceName))
	if name := string(i.bytes(n)); i.err == nil && name != DistanceName {
		i.err = fmt.Errorf("%w: distance %q", ErrForm, name)
	}
	i.varint("layers", layers, layers)
}

// layer reads the nodes of a layer, which must be those that have it.
func (i *importer) layer(g *Graph, layers []uint8, layer int) {
	count := 0
	for _, top := range layers {
		if int(top) >= layer {
			count++
		}
	}
	i.varint("nodes", count, count)
	v := g.view.Load()
	for index, top := range layers {
		if int(top) < layer {
			continue
		}
		i.node(v, Node(index)+1, layers, layer)
		if i.err != nil {
			return
		}
	}
}

func (i *importer) node(v *view, n Node, layers []uint8, layer int) {
	if key := i.word(); key != uint32(n)-1 && i.err == nil {
		i.err = fmt.Errorf("%w: node %d in the place of node %d", ErrForm, key, n-1)
	}
	i.varint("length of a sketch", exportWords, exportWords)
	b, s := i.bytes(Bits/8), v.sketch(n)
	for w := range s {
		s[w] = binary.LittleEndian.Uint64(b[8*w:])
	}
	list := v.links(n, layer)
	count := i.varint("number of links", 0, len(list))
	b = i.bytes(4 * count)
	for j := range count {
		to := binary.LittleEndian.Uint32(b[4*j:])
		if int(to) >= len(layers) || int(layers[to]) < layer {
			i.err = fmt.Errorf("%w: node %d is linked to %d", ErrForm, n-1, to)
			return
		}
		list[j].Store(to + 1)
	}
}
