package rac

import (
	"math"

	"reprise/policy/spec"
)

// Options are the parameters of RAC. RACPaper and RACTuned give the two sets worth starting from.
type Options struct {
	// Alpha is the decay of a topic's prevalence per unit of Clock, >= 0: it halves in 1/Alpha requests. From 1 on the
	// order of topics is that of their last request; 0: no decay.
	Alpha float64
	// Lambda is the weight of dependents against own requests in the structural importance, >= 0.
	Lambda float64
	// Beta is what a dependent of a dependent counts against a direct one, 0 to 1 (paper 002 §7.2 in its closed form): each
	// step down the chain of dependencies multiplies by it. 0 is the paper's one step.
	Beta float64
	// DepCap bounds what dependents can add (D15: they are never subtracted, and a hub would live for ever); 0 is no bound.
	DepCap float64
	// Doubt is taken off the importance, 0 to 1: an entry counts 1-Doubt until its first hit.
	Doubt float64
	// PerVisit divides the importance by the requests to the topic: a share of them, as p(q|s) is, in place of a count.
	PerVisit bool
	// Clock is what time counts for Alpha.
	Clock Clock
	// Ghosts is how many topics without members keep their prevalence (D9), the least prevalent dropped first.
	Ghosts int
	// EntryGhosts is how many evicted entries are remembered. One that returns under its Key has the requests, dependents
	// and parent that it had.
	EntryGhosts int
	// Window is how many of the newest entries cannot be the victim while there are others (D8). Without it RAC refuses what
	// it holds worth less than all residents, and a working set that changes may never get in.
	Window int
	// YoungParents lets Link name a parent that was born after the child. Paper 002, Alg. 3 does not forbid it; D13 does,
	// since such links can form a cycle.
	YoungParents bool
	// NoTP gives all topics one prevalence, NoTSI all entries one importance: the ablations of paper 002 §4.4.
	NoTP, NoTSI bool

	worth spec.Value
}

// Clock is what time counts where a prevalence decays.
type Clock byte

// A run of requests to one topic is an episode. ClockHits is that of ClockRequests, but only hits credit a topic; it starts
// with the credit of the miss that made it.
const (
	ClockRequests Clock = iota
	ClockMisses
	ClockEpisodes
	ClockHits
)

var clocks = []string{"requests", "misses", "episodes", "hits"}

// Paper is the literal reading of paper 002 (§3, Alg. 1-3): every request credits its topic, the new entry may be the
// victim, a topic without members is forgotten, any resident can be a parent. The "decay factor = 1" of §4.2 is read as
// Lambda. No Alpha is given there: 0.001 is one in the capacity of its synthetic traces, at which the policy does best on
// them; from 1 on it would be an LRU of topics.
func Paper() Options {
	return Options{Alpha: 0.001, Lambda: 1, YoungParents: true}
}

// Tuned is the best set found for a cache of capacity entries, over generated conversations (two skews, and with a
// drifting popularity), an LRU stack and a Zipf law whose working set shifts. The half-life of capacity/3 requests is a
// compromise: with 10 times capacity the first two gain a point, and the last two fall from 66 to 16 and from 58 to 40 %
// hits, because the old topics never let a new one in. Window and Ghosts gain little at this decay, much at a slower one.
func Tuned(capacity int) Options {
	capacity = max(capacity, 1)
	return Options{Alpha: 3 / float64(capacity), Lambda: 1, DepCap: 64, Ghosts: capacity, Window: 1}
}

func (o Options) valid() bool {
	for _, v := range []float64{o.Alpha, o.Lambda, o.DepCap, float64(o.Ghosts), float64(o.EntryGhosts), float64(o.Window)} {
		if !(v >= 0) || math.IsInf(v, 1) {
			return false
		}
	}
	return o.Beta >= 0 && o.Beta <= 1 && o.Doubt >= 0 && o.Doubt <= 1 && int(o.Clock) < len(clocks)
}
