package panel

import (
	"reprise/policy"
	"reprise/policy/classic"
	"reprise/policy/haz"
)

// member describes an expert of a panel.
type member struct {
	name   string // in the figures
	spec   *policy.Spec
	params string // key=value,key=value
	large  string // instead, where it leads a large cache
}

// members are the experts of the panel. The first one leads at the start, and learns which entries the second one holds.
//
// HAZ learns nearly everything given time, RAC's order included, and leads most often. LIRS freezes on loops, and HAZ sees what it holds.
// CACHEUS and LRU beside them cost more than they brought: on the recorded traces of the tuning half, minus the best baseline of each, four
// experts had -.31 in the mean and -2.4 in the worst cell, these two -.01 and -1.8.
var members = [2]member{
	{"haz", &haz.Spec, "ghosts=4C", "ghosts=1C"},
	{"lirs", &classic.LIRSSpec, "", ""},
}

// expert is a policy with its shadow cache. Which entries it holds is in the entries of the panel; here are only its sums.
type expert struct {
	name    string
	evictor policy.Evictor
	arriver policy.Arriver // the evictor, where it is one
	linker  policy.Linker  // the same
	entries int
	bytes   int64
	hits    float64 // all that it would have had
	asked   float64 // all requests
}

// expertOptions returns the options of the experts: the objective of the panel, and the parameters of their members.
func expertOptions(a policy.Args) policy.Options {
	o, name := a.Options, policy.ValueParam.Name
	o.Params = map[string]string{name: a.Choice(name)}
	return o
}

func newExpert(s member, o policy.Options, number uint64) expert {
	o.Seed += number
	a, err := s.spec.Args(o, s.params)
	if err != nil {
		panic(err) // the members are ours
	}
	e := s.spec.New(a)
	x := expert{name: s.name, evictor: e}
	x.arriver, _ = e.(policy.Arriver)
	x.linker, _ = e.(policy.Linker)
	return x
}

func (x *expert) arrive(topic policy.TopicID, at policy.Tick) {
	if x.arriver != nil && topic != 0 {
		x.arriver.Arrive(topic, at)
	}
}

func (x *expert) hit(it policy.Item, at policy.Tick, gain float64, replaced bool) {
	if replaced {
		x.replace(it, at)
	} else {
		x.evictor.Hit(it.ID, at)
	}
	x.hits += gain
}

func (x *expert) insert(it policy.Item, at policy.Tick) {
	x.evictor.Insert(it, at)
	x.entries++
	x.bytes += it.Size
}

// replace counts a hit with a new size and cost.
func (x *expert) replace(it policy.Item, at policy.Tick) {
	if r, ok := x.evictor.(policy.Replacer); ok {
		r.Replace(it, at)
	} else {
		x.evictor.Hit(it.ID, at)
	}
}

func (x *expert) remove(key uint64, size int64, why policy.Reason) {
	x.evictor.Remove(policy.ID(key), why)
	x.entries--
	x.bytes -= size
}

func (x *expert) link(child, parent uint64) {
	if x.linker != nil {
		x.linker.Link(policy.ID(child), policy.ID(parent))
	}
}

func (x *expert) over(l policy.Limit) bool {
	return l.Entries > 0 && x.entries > l.Entries || l.Bytes > 0 && x.bytes > l.Bytes
}

// marker is a policy that reads what another one holds.
type marker interface{ Mark(key uint64, held bool) }

func (x *expert) mark(key uint64, held bool) {
	if m, ok := x.evictor.(marker); ok {
		m.Mark(key, held)
	}
}

// gains counts what hits bring: 1 each, or the tokens that they save relative to the mean of all requests, so that
// sums stay of one size.
type gains struct {
	tokens bool
	n, sum float64
}

func (g *gains) of(e *entry) float64 {
	if !g.tokens {
		return 1
	}
	tokens := 1.0
	if e.cost > 0 {
		tokens = float64(e.cost)
	}
	g.n++
	g.sum += tokens
	return tokens * g.n / g.sum
}
