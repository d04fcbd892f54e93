//go:build !windows

package hnsw

import (
	"bufio"
	"encoding/binary"
	"math"
	"sync/atomic"
)

// A graph is written in the form of Export in github.com/coder/hnsw, so that its Import reads it and the library's search serves as the
// oracle of ours: a Graph[uint32] whose vectors are sketches, 32 bits in the place of each number. distanceName is the name under which
// the distance of sketches is registered with the library.
const (
	distanceName  = "reprise-bits"
	exportVersion = 1
	exportWords   = Bits / 32
)

// alive returns all nodes that are no tombstones, in ascending order.
func alive(g *Graph) (all []Node) {
	v := g.view.Load()
	for n := Node(1); n < g.span; n++ {
		if !v.isDead(n) {
			all = append(all, n)
		}
	}
	return all
}

// export writes some nodes, in ascending order, with the links between them. A node is written as its index in nodes.
func export(w *bufio.Writer, g *Graph, nodes []Node) error {
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
	e.varint(len(distanceName))
	e.bytes([]byte(distanceName))
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
