package policies

import (
	"math/bits"
	"math/rand/v2"

	"reprise/policy"
)

// lhdSpec describes lhd and its parameters.
var lhdSpec = policy.Spec{
	Name: "lhd", Says: "least hit density: the fewest hits to be expected per space and time, learned from ages",
	Params: []policy.Param{{
		Name: "form", Says: "scaled learns every 10 capacities, stock every 2^20 requests as published",
		Default: "scaled", Choices: []string{"scaled", "stock"},
	}},
	New: func(a policy.Args) policy.Evictor {
		return newLHD(a.Capacity, a.Choice("form") == "stock", a.Bytes, a.Seed)
	},
}

// LHD evicts the entry of the least hit density among a sample and the last new entries of low density. The density is the
// expected number of hits over the expected time until the next hit or the eviction, given the age of the entry and its
// class, per byte if the limit is in bytes. Both expectations come from counts of hits and evictions at each age, which
// fade by 0.9 at each reconfiguration; until the first one the density is class/age, about GDSF. Ages are counted in steps
// of a power of two requests, and the class of an entry is the logarithm of the sum of its last two ages at a hit.
//
// One in 32 requests makes an explorer, which is kept whatever its density, so that ages occur that otherwise no entry
// reaches; explorers take 1 % of the capacity at most, and there are none after 50 reconfigurations.
//
// The parameter form is stock (reconfigured every 2^20 requests, 8 samples during the first 50 times and 32 later, first
// step 1024) or scaled (every 10 capacities but at least 1000 requests, 32 samples, first step capacity/200). In a trace
// shorter than 2^20 stock learns nothing, and is not worse for that: its ages are so coarse that its initial density is mostly a
// count of hits, while scaled has few hits in a period to learn from. Over the 48 traces of package workload's Study
// and Long, seed 1, scaled hits 34.0 % and stock 35.1, at 100 entries 11.6 and 13.1; at 100 entries of a Zipf law of 10,000
// they miss 88 and 82 %, at 1,000 entries 60 and 61. A comparison with LHD should play both.
//
// An eviction costs up to 40 look-ups, a hit O(1), a reconfiguration about a millisecond. Memory: 3.8 MB for the counts
// and some 70 bytes per resident.
//
// Source: Beckmann, Chen, Cidon, LHD: Improving Cache Hit Rate by Maximizing Hit Density, NSDI 2018.
type LHD struct {
	rand    *rand.Rand
	perByte bool
	model   densities
	period  int64 // requests between reconfigurations
	samples int   // during the first 50 of them

	tags   []lhdTag // of the residents, in no order, so that one can be drawn
	index  map[policy.ID]uint32
	staged lhdTag // the newest entry: not in tags until the next Insert or Hit; id 0 is none

	clock       int64 // requests
	budget      int   // explorers that may still be made
	suspects    [lhdAdmissions]policy.ID
	suspected   int
	victimWorth float32 // density of victims, an average that fades

	named  policy.ID // by the last Victim
	stands bool
}

// lhdTag is the state of a resident.
type lhdTag struct {
	id        policy.ID
	last      int64   // request of the last use, in clock
	hitAge    int32   // at the last hit
	priorAge  int32   // at the one before
	size      float32 // that divides the density
	exploring bool
}

const (
	lhdAdmissions = 8
	lhdSamples    = 32
	lhdWarmUp     = 50 // reconfigurations
	lhdStockStep  = 10
)

var (
	_ policy.Evictor  = (*LHD)(nil)
	_ policy.Replacer = (*LHD)(nil)
)

// newLHD starts empty, for a capacity in entries. perByte divides densities by Item.Size.
func newLHD(capacity int, stock, perByte bool, seed uint64) *LHD {
	l := &LHD{
		index: map[policy.ID]uint32{},
		rand:  rand.New(rand.NewPCG(seed, 0x14d)), perByte: perByte,
		budget: capacity / 100, period: 1 << 20, samples: 8, model: newDensities(lhdStockStep),
	}
	if !stock {
		l.period, l.samples = max(1000, 10*int64(capacity)), lhdSamples
		l.model = newDensities(bits.Len(uint(max(capacity/200, 1))) - 1)
	}
	return l
}

// Insert holds it apart.
func (l *LHD) Insert(it policy.Item, _ policy.Tick) {
	if l.has(it.ID) {
		return
	}
	l.begin()
	l.staged = lhdTag{id: it.ID, priorAge: lhdAges, size: l.divisor(it)}
}

// Hit counts a hit at the age of id, which starts a new age.
func (l *LHD) Hit(id policy.ID, _ policy.Tick) {
	if !l.has(id) {
		return
	}
	l.begin()
	i := l.index[id]
	tag := &l.tags[i]
	age := l.age(tag)
	l.model.class(tag).hits[age]++
	l.stopExploring(tag)
	tag.priorAge, tag.hitAge = tag.hitAge, age
	tag.last = l.clock
	l.explore(tag)
	l.tick()
}

// Replace counts a hit, and divides the density by the new size.
func (l *LHD) Replace(it policy.Item, at policy.Tick) {
	l.Hit(it.ID, at)
	if i, ok := l.index[it.ID]; ok {
		l.tags[i].size = l.divisor(it)
	}
}

// Victim draws the sample.
func (l *LHD) Victim() (policy.ID, bool) {
	if !l.stands {
		l.choose()
	}
	return l.named, l.stands
}

// Remove drops id, and counts an eviction at its age if that is why.
func (l *LHD) Remove(id policy.ID, why policy.Reason) {
	i, ok := l.index[id]
	switch {
	case ok:
		tag := &l.tags[i]
		if why == policy.Evicted {
			l.model.class(tag).evictions[l.age(tag)]++
		}
		l.stopExploring(tag)
		l.drop(i)
	case id == l.staged.id && id != 0:
		l.staged = lhdTag{}
	default:
		return
	}
	l.stands = false
	if id == l.named {
		l.named = 0
	}
}

func (l *LHD) divisor(it policy.Item) float32 {
	if l.perByte {
		return float32(max(it.Size, 1))
	}
	return 1
}

func (l *LHD) has(id policy.ID) bool {
	_, ok := l.index[id]
	return ok || id == l.staged.id && id != 0
}

// begin lets the entry that was held apart compete. It is suspect if its density is below that of the usual victim.
func (l *LHD) begin() {
	l.stands = false
	if l.staged.id == 0 {
		return
	}
	i := len(l.tags)
	l.index[l.staged.id] = uint32(i)
	l.tags = append(l.tags, l.staged)
	l.staged = lhdTag{}
	tag := &l.tags[i]
	tag.last = l.clock
	if drawn := l.explore(tag); !drawn && l.density(tag) < l.victimWorth {
		l.suspects[l.suspected] = tag.id
		l.suspected = (l.suspected + 1) % lhdAdmissions
	}
	l.tick()
}

// explore draws whether tag becomes an explorer; a draw that finds no budget counts as one.
func (l *LHD) explore(tag *lhdTag) (drawn bool) {
	drawn = l.rand.IntN(32) == 0
	if drawn && l.budget > 0 && l.model.updates < lhdWarmUp {
		tag.exploring = true
		l.budget--
	}
	return drawn
}

func (l *LHD) stopExploring(tag *lhdTag) {
	if tag.exploring {
		tag.exploring = false
		l.budget++
	}
}

// tick counts a request.
func (l *LHD) tick() {
	l.clock++
	if l.clock%l.period == 0 {
		l.model.update(len(l.tags))
	}
}

func (l *LHD) choose() {
	n := len(l.tags)
	if n == 0 {
		l.named, l.stands = l.staged.id, l.staged.id != 0
		return
	}
	samples := l.samples
	if l.model.updates > lhdWarmUp {
		samples = lhdSamples
	}
	least := l.rand.IntN(n)
	worth := l.density(&l.tags[least])
	consider := func(i int) {
		if w := l.density(&l.tags[i]); w < worth {
			least, worth = i, w
		}
	}
	for range samples - 1 {
		consider(l.rand.IntN(n))
	}
	for _, id := range l.suspects {
		if i, ok := l.index[id]; ok {
			consider(int(i))
		}
	}
	l.victimWorth = lhdFade*l.victimWorth + (1-lhdFade)*max(worth, 0)
	l.named, l.stands = l.tags[least].id, true
}

func (l *LHD) age(tag *lhdTag) int32 { return l.model.age(l.clock - tag.last) }

// density is below 0 where the age is off the scale: such an entry goes first.
func (l *LHD) density(tag *lhdTag) float32 {
	age := l.age(tag)
	if age == lhdAges-1 {
		return -1
	}
	d := l.model.class(tag).density[age] / tag.size
	if tag.exploring {
		d++
	}
	return d
}

// drop takes tag i out; the last one moves to its place.
func (l *LHD) drop(i uint32) {
	delete(l.index, l.tags[i].id)
	last := len(l.tags) - 1
	if int(i) < last {
		l.tags[i] = l.tags[last]
		l.index[l.tags[i].id] = i
	}
	l.tags = l.tags[:last]
}
