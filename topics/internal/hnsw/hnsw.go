// Package hnsw finds the nearest of many sketches by a graph: HNSW, a hierarchy of navigable small worlds, written from the
// paper (Malkov and Yashunin, "Efficient and robust approximate nearest neighbor search using Hierarchical Navigable Small
// World graphs", 2016; its algorithms are named at the functions).
//
// A node is a sketch of 256 bits and a key; the distance of two nodes is the number of bits that differ. The owner keeps the
// vectors: it scores what Search finds exactly. That finds as much as a graph over the vectors: of 300,000 real sentences the nearest, where
// its cosine is .6 or more, with a probability of .973 at a breadth of 128, .984 at 256 and .988 at 384, and of 1,000,000, most of them variants of
// others, .985 at 256. A distance reads 32 bytes and not
// 1,536, and to build the graph needs no vector.
//
// One goroutine at a time builds and writes, by Insert, Sweep and Release. Searches and Kill run beside it and beside each other, and
// none of them waits: links and keys are read and written atomically, and a search that meets a list while it is written sees
// links of before or after, all of which are nodes.
//
// Memory is some 180 bytes a node, in chunks of 1,024 nodes without pointers, which the garbage collector does not scan.
package hnsw

import (
	"math"
	"math/bits"
	"math/rand"
	"sync"
	"sync/atomic"
)

// The parameters of the paper. More links, or a broader search for them, cost more than a broader search of the
// finished graph that finds as much; 24 links in the base layer lose 1 % of recall.
const (
	newLinks  = 16  // links of a new node in a layer, and of any node in an upper layer (M)
	baseLinks = 32  // links of a node in the base layer (Mmax0)
	breadth   = 200 // nearest nodes among which the links of a new one are chosen (efConstruction)

	chunkLen  = 1024 // nodes, and rows of upper links, that are allocated together
	mostLayer = 12
)

// Bits is the length of a sketch.
const Bits = 256

// Sketch represents a vector: the share of bits in which two sketches differ estimates the angle of their vectors.
type Sketch [Bits / 64]uint64

// distance is the number of bits that differ.
func (s *Sketch) distance(t *Sketch) int {
	return bits.OnesCount64(s[0]^t[0]) + bits.OnesCount64(s[1]^t[1]) + bits.OnesCount64(s[2]^t[2]) + bits.OnesCount64(s[3]^t[3])
}

// Node is a place in a graph; 0 is none.
type Node uint32

// Graph is the index. Make it by New.
type Graph struct {
	rng   *rand.Rand
	span  Node // nodes 1..span-1 exist or are free
	rows  int  // of upper links, that are in use
	free  []Node
	own   *walk // of the builder
	sweep *sweep

	view  atomic.Pointer[view]
	entry atomic.Uint32 // the node at which searches begin, in the highest layer; 0: there is none
	dead  atomic.Int64  // tombstones
	live  atomic.Int64
	walks sync.Pool // of searches
}

// view is the memory of a graph. Chunks are added to a copy of it, so that a search has one that does not change; it leaves out
// nodes that are beyond it.
type view struct {
	chunks []*chunk
	uppers []*upper
}

// chunk holds nodes.
type chunk struct {
	sketches [chunkLen]Sketch
	keys     [chunkLen]atomic.Uint64
	links    [chunkLen * baseLinks]atomic.Uint32 // of each node, in the base layer; the first 0 ends its list
	dead     [chunkLen / 32]atomic.Uint32        // a bit per node: tombstones, and places that are free
	row      [chunkLen]uint32                    // of the links in layer 1; those of the layers above follow
	top      [chunkLen]uint8                     // highest layer of the node
}

// upper holds links in upper layers, a row per node and layer.
type upper [chunkLen * newLinks]atomic.Uint32

// New makes an empty graph. The seed decides the layers of its nodes.
func New(seed int64) *Graph {
	g := &Graph{rng: rand.New(rand.NewSource(seed)), span: 1, own: new(walk)}
	g.view.Store(new(view))
	g.walks.New = func() any { return new(walk) }
	return g
}

// Len is the number of nodes that are not tombstones.
func (g *Graph) Len() int { return int(g.live.Load()) }

// Dead is the number of tombstones. Searches pass through them, and take longer.
func (g *Graph) Dead() int { return int(g.dead.Load()) }

// Kill makes a node a tombstone, which no later search returns. Its key is erased at once, its sketch by Release.
func (g *Graph) Kill(n Node) {
	v := g.view.Load()
	if v.key(n).Swap(0) != 0 {
		v.mark(n)
		g.dead.Add(1)
		g.live.Add(-1)
	}
}

func (g *Graph) setLive(v *view, n Node, key uint64) {
	v.key(n).Store(key)
	v.unmark(n)
	g.live.Add(1)
}

func (v *view) has(n Node) bool                { return int(n/chunkLen) < len(v.chunks) }
func (v *view) sketch(n Node) *Sketch          { return &v.chunks[n/chunkLen].sketches[n%chunkLen] }
func (v *view) key(n Node) *atomic.Uint64      { return &v.chunks[n/chunkLen].keys[n%chunkLen] }
func (v *view) top(n Node) int                 { return int(v.chunks[n/chunkLen].top[n%chunkLen]) }
func (v *view) bits(n Node) *atomic.Uint32     { return &v.chunks[n/chunkLen].dead[n%chunkLen/32] }
func (v *view) isDead(n Node) bool             { return v.bits(n).Load()>>(n%32)&1 != 0 }
func (v *view) mark(n Node)                    { v.bits(n).Or(1 << (n % 32)) }
func (v *view) unmark(n Node)                  { v.bits(n).And(^(uint32(1) << (n % 32))) }
func (v *view) distance(n Node, s *Sketch) int { return s.distance(v.sketch(n)) }

// links is the list of a node in a layer, the nearest first as it was made.
func (v *view) links(n Node, layer int) []atomic.Uint32 {
	c, i := v.chunks[n/chunkLen], int(n%chunkLen)
	if layer == 0 {
		return c.links[i*baseLinks : (i+1)*baseLinks]
	}
	row := int(c.row[i]) + layer - 1
	if row/chunkLen >= len(v.uppers) {
		return nil
	}
	i = row % chunkLen * newLinks
	return v.uppers[row/chunkLen][i : i+newLinks]
}

// add makes a node without links. A place that is used again keeps its layers, whose number is random.
func (g *Graph) add(key uint64, s *Sketch) Node {
	n := g.span
	if last := len(g.free) - 1; last >= 0 {
		n, g.free = g.free[last], g.free[:last]
	} else {
		g.extend(min(int(-math.Log(1-g.rng.Float64())/math.Log(newLinks)), mostLayer))
	}
	v := g.view.Load()
	*v.sketch(n) = *s
	g.setLive(v, n, key)
	return n
}

// extend adds a place for a node in layers 0 to top.
func (g *Graph) extend(top int) {
	v := *g.view.Load()
	if int(g.span/chunkLen) == len(v.chunks) {
		v.chunks = append(v.chunks[:len(v.chunks):len(v.chunks)], new(chunk))
	}
	if g.rows%chunkLen+top > chunkLen { // the rows of a node are in one chunk
		g.rows += chunkLen - g.rows%chunkLen
	}
	if top > 0 && g.rows/chunkLen == len(v.uppers) {
		v.uppers = append(v.uppers[:len(v.uppers):len(v.uppers)], new(upper))
	}
	c, i := v.chunks[g.span/chunkLen], g.span%chunkLen
	c.row[i], c.top[i] = uint32(g.rows), uint8(top)
	v.mark(g.span)
	g.view.Store(&v)
	g.rows += top
	g.span++
}
