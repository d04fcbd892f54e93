package evidence

import (
	"math"
	"slices"
	"strconv"
)

// First is how many pairs of a kind have to come out the same in a scope, of at least questions, before an answer is served there.
const (
	First     = 5
	questions = 3
)

const (
	// byFamily takes the place of First in a scope of a family of which First scopes have shown such a pair, and none the contrary since.
	byFamily = 1
	// mostSame is how many pairs a scope remembers: what it has shown lately counts. Each 100 more that came out the same make up for one
	// that did not.
	mostSame = 200
	makesUp  = 100
	// spare unknown comparisons, and one for so many that came out the same, are taken for noise. Beyond that nobody knows whether the
	// answers are right, and they count as wrong.
	spare   = 3
	unknown = 3
)

// shown is what one scope has shown of one kind. Processes that share it may count in another order, which makes little difference.
type shown struct {
	same, wrong, unknown uint32
	asked                [questions]uint32 // those of the first pairs that came out the same, until there are First
}

// count adds a sample, and reports whether it counts: that which would earn trust does not where it is of too few questions.
func (x *shown) count(s *Sample) bool {
	switch s.Outcome {
	case Unknown:
		x.unknown = min(x.unknown+1, mostSame)
	case Different:
		x.wrong = min(x.wrong+1, mostSame)
	case Same:
		question := uint32(s.Question ^ s.Question>>32)
		if question != 0 && x.same < First && !x.enough(question) && x.same == First-1 {
			return false
		}
		if x.same++; x.same == First {
			x.asked = [questions]uint32{}
		}
		if x.same > mostSame {
			x.same = mostSame
			if x.wrong > 0 {
				x.same, x.wrong = mostSame-makesUp, x.wrong-1
			}
			if x.unknown > 0 {
				x.unknown-- // it is of long ago
			}
		}
	}
	return true
}

// doubted is up to how many pairs that came out the same half of the hits are compared: see Trust.Explore.
const doubted = 28

// doubt takes note of a client's verdict. Anybody with the tenant's key can give it, and many: that answers were right earns nothing, and that one was
// wrong ends nothing, but has the comparisons begin again, which find out.
func (x *shown) doubt(o Outcome) {
	if o == Different {
		x.same = min(x.same, doubted+makesUp*x.wrong)
	}
}

// enough notes a question, and reports whether there are enough of them.
func (x *shown) enough(question uint32) bool {
	for i := range x.asked {
		switch x.asked[i] {
		case 0:
			x.asked[i] = question
			return i == len(x.asked)-1
		case question:
			return x.asked[len(x.asked)-1] != 0
		}
	}
	return true
}

// needed is how many pairs must have come out the same where answers may be wrong at a rate: the first ones, for each that was wrong as many as
// keep the rate, and as many as bring the estimate down to it.
func (x *shown) needed(first int, rate float64) int {
	rate = max(rate, 1e-6)
	if x.wrong > 0 {
		first = First + int(math.Ceil(float64(x.wrong)/rate))
	}
	return max(first, int(math.Ceil((firstError+float64(x.wrong))/rate-1e-9))-weight-int(x.wrong))
}

// undecided reports whether too many comparisons have said nothing.
func (x *shown) undecided() bool { return x.unknown > spare+x.same/unknown }

// Trust is how far a scope trusts a kind of evidence.
type Trust struct {
	Kind                 Kind
	Same, Wrong, Unknown int
	Needed               int  // of Same
	Undecided            bool // too many comparisons have said nothing
	family               int  // pairs that came out the same in scopes of its family, where that gives credit
}

// Holds reports whether answers are served by it.
func (t *Trust) Holds() bool { return t.Same >= t.Needed && !t.Undecided }

// String is how many comparisons came out the same, of how many that are needed: 2/5.
func (t *Trust) String() string {
	return strconv.Itoa(min(t.Same, t.Needed)) + "/" + strconv.Itoa(t.Needed)
}

// Explore is the share of hits whose answer is compared with the upstream's. Half are at first, so that what is wrong here is found before
// many are served: as many as there are hits for each comparison, less one, whatever the share of wrong answers. It falls to one in a hundred,
// where nothing was wrong. What its family has shown lowers it to one in four, and no further: who has the tenant's key makes families.
func (t *Trust) Explore() float64 {
	const often = 20 // after twice as many one in four, after four times one in 16
	x := often * float64(1+t.Wrong) / float64(max(t.Same, min(t.family, 2*often), 1))
	return max(LeastExplored, min(1.0/2, x*x))
}

// LeastExplored is the share of hits whose answer is compared in the end.
const LeastExplored = 1.0 / 100

// Trust is how far the scope of a case trusts its kind, where answers may be wrong at a rate.
func (r *Rates) Trust(c *Case, rate float64) Trust {
	if r == nil {
		return Trust{Kind: c.Kind(), Needed: First}
	}
	one := r.scopes.find(scopeID(c))
	x, first, seen := &one.shown[c.Kind()], First, 0
	if c.Family != 0 && x.wrong == 0 {
		f := r.families.find(familyID(c))
		if credit := f.shown[c.Kind()]; credit.same >= First {
			first, seen = byFamily, int(credit.same+credit.unknown)
		}
	}
	return Trust{Kind: c.Kind(), Same: int(x.same), Wrong: int(x.wrong), Unknown: int(x.unknown), Needed: x.needed(first, rate), Undecided: x.undecided(), family: seen}
}

// Noise is what two answers to an equal prompt differ by in one scope: counts of their closeness in tenths, and behind them of the rules by which they
// differ, as in compare.Noise.
type Noise [21]uint16

// enoughNoise is how many such pairs tell something, and mostNoise how many tell enough.
const (
	enoughNoise = 4
	mostNoise   = 24
)

func (n *Noise) add(closeness float64, rule uint8) {
	if !(closeness >= 0 && closeness <= 1) || int(rule) > len(n)-11 || n.sum() == mostNoise {
		return
	}
	n[int(closeness*10+1e-9)]++
	if rule > 0 {
		n[10+rule]++
	}
}

func (n *Noise) sum() (sum int) {
	for _, x := range n[:11] {
		sum += int(x)
	}
	return sum
}

// Noise is what two answers to an equal prompt differ by in the scope of a case.
func (r *Rates) Noise(c *Case) Noise {
	if r == nil {
		return Noise{}
	}
	return r.scopes.find(scopeID(c)).noise
}

// WantsNoise is the share of the answers to prompts that were asked before that are compared with new ones in a scope: all where comparisons say too
// little there, and it is not known what equal prompts differ by, and few until that is well known.
func (r *Rates) WantsNoise(tenant, scope uint64) float64 {
	if r == nil {
		return 0
	}
	one := r.scopes.find(Mix(tenant, scope))
	switch {
	case !one.wantsNoise():
		return 0
	case one.noise.sum() < enoughNoise:
		return 1
	}
	return LeastExplored
}

func (r *row) wantsNoise() bool {
	return r.noise.sum() < mostNoise && slices.ContainsFunc(r.shown[:], func(x shown) bool { return x.unknown > 0 })
}

// Curious reports whether WantsNoise may be true of some scope.
func (r *Rates) Curious() bool { return r != nil && r.curious > 0 }

// Scope is what a scope has shown, for an operator.
type Scope struct {
	Tenant, ID uint64 // ID as in Case.Scope, joined with the tenant
	Trust      [kinds]Trust
	Noise      int // comparisons of answers to equal prompts
}

// Scopes lists what all scopes have shown, where answers may be wrong at a rate.
func (r *Rates) Scopes(rate float64) (all []Scope) {
	if r == nil {
		return nil
	}
	for _, rows := range r.scopes.shards {
		for i := range rows {
			s := Scope{Tenant: rows[i].tenant, ID: rows[i].id, Noise: rows[i].noise.sum()}
			for k := range s.Trust {
				x := &rows[i].shown[k]
				s.Trust[k] = Trust{Kind: Kind(k), Same: int(x.same), Wrong: int(x.wrong), Unknown: int(x.unknown), Needed: x.needed(First, rate), Undecided: x.undecided()}
			}
			all = append(all, s)
		}
	}
	return all
}

// ScopeID is the ID of Scope of a case.
func (c *Case) ScopeID() uint64 { return scopeID(c) }
