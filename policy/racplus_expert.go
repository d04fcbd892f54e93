package policy

import (
	"math"
	"slices"
)

// seat is an expert's place in a panel.
type seat struct {
	name   string // in the figures
	spec   *spec  // by reference, since New knows rac+ too
	params string // key=value,key=value
}

// panels are what the parameter of that name chooses from. At most 8 experts sit in one.
var panels = map[string][]seat{
	"seven": {
		{"rac-literal", &racSpec, "alpha=0.3/C"},
		{"rac-normed", &racSpec, "alpha=1/C"},
		{"rac-retained", &racSpec, "alpha=10/C"},
		{"haz", &hazSpec, ""},
		{"w-tinylfu", &tinyLFUSpec, ""},
		{"s3fifo", &s3fifoSpec, ""},
		{"lru", &lruSpec, ""},
	},
	"four": {
		{"rac-literal", &racSpec, "alpha=0.3/C"},
		{"haz", &hazSpec, ""},
		{"w-tinylfu", &tinyLFUSpec, ""},
		{"lru", &lruSpec, ""},
	},
}

func panelNames() (names []string) {
	for name := range panels {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// expert is a policy with its shadow cache, which the panel's entries tell of: here are only its sums.
type expert struct {
	name    string
	evictor Evictor
	arriver Arriver // the evictor, where it is one
	linker  Linker  // the same
	entries int
	bytes   int64
	score   float64
	hits    float64 // all that it would have had
	asked   float64 // all requests
}

func newExpert(s seat, o Options, number uint64) expert {
	o.Params = nil
	o.Seed += number
	a, err := s.spec.args(o, s.params)
	if err != nil {
		panic(err) // the panels are ours
	}
	e := s.spec.make(a)
	x := expert{name: s.name, evictor: e}
	x.arriver, _ = e.(Arriver)
	x.linker, _ = e.(Linker)
	return x
}

func (x *expert) arrive(topic TopicID, at Tick) {
	if x.arriver != nil {
		x.arriver.Arrive(topic, at)
	}
}

func (x *expert) hit(e *panelEntry, at Tick, gain float64) {
	x.evictor.Hit(ID(e.item.Key), at)
	x.score += gain
	x.hits += gain
}

func (x *expert) insert(e *panelEntry, at Tick) {
	it := e.item
	it.ID = ID(it.Key)
	x.evictor.Insert(it, at)
	x.entries++
	x.bytes += it.Size
}

func (x *expert) remove(e *panelEntry) {
	x.evictor.Remove(ID(e.item.Key))
	x.entries--
	x.bytes -= e.item.Size
}

func (x *expert) over(l Limit) bool {
	return l.Entries > 0 && x.entries > l.Entries || l.Bytes > 0 && x.bytes > l.Bytes
}

// scoreDecay is what is left of a score after one request.
func scoreDecay(halfLife float64) float64 { return math.Exp2(-1 / halfLife) }

// gains counts what hits bring: 1 each, or the tokens that they save relative to the mean of all requests, so that
// scores stay of one size.
type gains struct {
	tokens bool
	n, sum float64
}

func (g *gains) of(it Item) float64 {
	if !g.tokens {
		return 1
	}
	tokens := worth(worthTokens, it)
	g.n++
	g.sum += tokens
	return tokens * g.n / g.sum
}
