package workload

// dims is the length of the vectors.
const dims = 32

// query is one turn of a session of the pool. Items are numbered from 0; parent is -1 where there is none.
type query struct{ item, parent int }

// answer is the size and cost of an item.
type answer struct{ size, cost int }

// pool is all sessions that a trace can draw, by topic.
type pool struct {
	sessions [][][]query
	vectors  [][]float32 // by item
	answers  []answer    // by item
}

// shape is how the sessions of a pool are related.
type shape struct {
	topics, groups, variants, anchors int

	shared  float64 // probability that a leaf is one of the group's original session
	oneRoot bool    // the groups of a topic have their first anchor in common
}

// builder draws a pool. The order of its draws is part of the definition.
type builder struct {
	shape
	*random
	pool
	topic, theme []float32 // directions of the present topic and group
	root         int       // the topic's first anchor, where it has one
	original     []query   // leaves of the group's original session
	heads        []int     // its anchors
}

const (
	originals = 12 // leaves of an original session
	leavesMax = 16
	leavesMin = 2
	chained   = 0.3 // probability that a leaf depends on the query before it, not on an anchor
	late      = 0.2 // probability that the context is set after the first query
)

func newPool(r *random, s shape) *pool {
	b := builder{shape: s, random: r}
	for range s.topics {
		b.topic = r.unit()
		b.sessions = append(b.sessions, nil)
		if s.oneRoot {
			b.theme = r.unit()
			b.root = b.anchor()
		}
		for range s.groups {
			b.group()
		}
	}
	return &b.pool
}

// group draws an original session, of which only the items are used, and its variants.
func (b *builder) group() {
	b.theme = b.unit()
	b.heads, b.original = nil, nil
	if b.oneRoot {
		b.heads = append(b.heads, b.root)
	}
	for len(b.heads) < b.anchors {
		b.heads = append(b.heads, b.anchor())
	}
	for i := range originals {
		parent := b.heads[b.below(b.anchors)]
		if i > 0 && b.float() < chained {
			parent = b.original[i-1].item
		}
		b.original = append(b.original, query{b.leaf(), parent})
	}
	last := len(b.sessions) - 1
	for range b.variants {
		b.sessions[last] = append(b.sessions[last], b.session())
	}
}

func (b *builder) anchor() int { return b.item(.35) }
func (b *builder) leaf() int   { return b.item(.15) }

func (b *builder) item(theme float64) int {
	b.vectors = append(b.vectors, b.blend(b.topic, .45, b.theme, theme))
	b.answers = append(b.answers, answer{})
	return len(b.vectors) - 1
}

// session draws a variant: the anchors in their order, and leaves of the original session or new ones.
func (b *builder) session() []query {
	leaves := leavesMin
	for leaves < leavesMax && b.float() > 1./5 {
		leaves++
	}
	before := 0 // leaves that come before the second anchor
	if b.float() < late {
		before = 1
	}
	s, placed := b.put(nil, query{b.heads[0], -1}), 1
	for leaf := 0; leaf < leaves; {
		if leaf >= before && placed < b.anchors {
			s = b.put(s, query{b.heads[placed], b.heads[0]})
			placed++
			continue
		}
		s = b.put(s, b.next(s, leaf, placed))
		leaf++
	}
	return s
}

func (b *builder) next(s []query, leaf, placed int) query {
	if b.float() < b.shared && leaf < originals {
		return b.original[leaf]
	}
	parent := b.heads[b.below(placed)]
	if leaf > 0 && b.float() < chained {
		parent = s[len(s)-1].item
	}
	return query{b.leaf(), parent}
}

// put draws a size and a cost for every query, but an item keeps the first ones: equal identities have one answer.
func (b *builder) put(s []query, q query) []query {
	a := answer{400 + b.below(3600), 50 + b.below(950)}
	if b.answers[q.item].size == 0 {
		b.answers[q.item] = a
	}
	return append(s, q)
}
