package policy

import (
	"math"
	"slices"
)

// seat is an expert's place in a panel.
type seat struct {
	name   string  // in the figures
	spec   *spec   // by reference, since New knows rac+ too
	params string  // key=value,key=value
	large  string  // instead, where it leads a large cache
	memory float64 // half-life of its topics, in capacities; 0: it has none
}

// panels are what the parameter of that name chooses from. At most 8 experts sit in one. The first is trusted where nothing
// is known yet: it has the prior, and leads a large cache.
var panels = map[string][]seat{
	"six":   {hazSeat, tinySeat, tinyWideSeat, s3Seat, lirsSeat, lruSeat},
	"study": {tinySeat, racLiteral, racNormed, racFast, hazSeat, s3Seat, lruSeat},
}

// What an expert is for: haz learns nearly everything given time, RAC's order included, and leads most often. W-TinyLFU
// goes by frequency, LIRS freezes on loops, the wide W-TinyLFU and S3-FIFO serve small caches of bursts, and LRU what was used
// last. A RAC beside haz leads early where it freezes on what does not last, and costs a point. Those of the study keep three
// forms of it.
var (
	racLiteral   = seat{"rac-literal", &racSpec, "alpha=0.3/C,dep-cap=0,admission=paper,ghosts=0", "", 1 / 0.3}
	racNormed    = seat{"rac-normed", &racSpec, "alpha=1/C,norm=visits," + retained, "", 1}
	racFast      = seat{"rac-fast", &racSpec, "alpha=10/C," + retained, "", 0.1}
	hazSeat      = seat{"haz", &hazSpec, "", "ghosts=1C", 2}
	tinySeat     = seat{"w-tinylfu", &tinyLFUSpec, "form=exact,climb=off", "", 0}
	tinyWideSeat = seat{"w-tinylfu-wide", &tinyLFUSpec, "form=exact,climb=off,window=0.2C", "", 0}
	s3Seat       = seat{"s3fifo", &s3fifoSpec, "", "", 0}
	lirsSeat     = seat{"lirs", &lirsSpec, "", "", 0}
	lruSeat      = seat{"lru", &lruSpec, "", "", 0}
)

const retained = "dep-cap=0,admission=paper,ghosts=1C,entry-ghosts=1C"

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
	memory  float64 // as its seat has it
	entries int
	bytes   int64
	score   float64
	hits    float64 // all that it would have had
	asked   float64 // all requests
}

// large is the panel as it leads a large cache: with less memory for each entry.
func large(seats []seat) []seat {
	seats = slices.Clone(seats)
	for i := range seats {
		if seats[i].large != "" {
			seats[i].params = seats[i].large
		}
	}
	return seats
}

func newExpert(s seat, o Options, number uint64) expert {
	o.Params = nil
	o.Seed += number
	a, err := s.spec.args(o, s.params)
	if err != nil {
		panic(err) // the panels are ours
	}
	e := s.spec.make(a)
	x := expert{name: s.name, evictor: e, memory: s.memory}
	x.arriver, _ = e.(Arriver)
	x.linker, _ = e.(Linker)
	return x
}

func (x *expert) arrive(topic TopicID, at Tick) {
	if x.arriver != nil && topic != 0 {
		x.arriver.Arrive(topic, at)
	}
}

func (x *expert) hit(e *panelEntry, at Tick, gain float64, replaced bool) {
	if replaced {
		x.replace(e, at)
	} else {
		x.evictor.Hit(ID(e.key), at)
	}
	x.score += gain
	x.hits += gain
}

func (x *expert) insert(e *panelEntry, at Tick) {
	x.evictor.Insert(e.item(), at)
	x.entries++
	x.bytes += e.size
}

func (x *expert) replace(e *panelEntry, at Tick) {
	if r, ok := x.evictor.(Replacer); ok {
		r.Replace(e.item(), at)
	} else {
		x.evictor.Hit(ID(e.key), at)
	}
}

func (x *expert) remove(e *panelEntry, why Reason) {
	x.evictor.Remove(ID(e.key), why)
	x.entries--
	x.bytes -= e.size
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

func (g *gains) of(e *panelEntry) float64 {
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
