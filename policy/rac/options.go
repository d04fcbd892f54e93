package rac

import "reprise/policy"

// Options are the parameters of RAC. Tuned returns those of Spec, paper those of PaperSpec.
type Options struct {
	// Alpha is the decay of a topic's prevalence per request, >= 0: it halves in 1/Alpha requests. From 1 on the order of
	// topics is that of their last request; 0: no decay.
	Alpha float64
	// Lambda is the weight of dependents against own requests in the structural importance, >= 0.
	Lambda float64
	// DepCap bounds what dependents can add (D15: they are never subtracted, and a hub would live for ever); 0 is no bound.
	DepCap float64
	// Ghosts is how many topics without members keep their prevalence (D9), the least prevalent dropped first.
	Ghosts int
	// Protect keeps the newest entry from being the victim while there are others (D8). Without it RAC refuses what it holds
	// worth less than all residents, and a working set that changes may never get in.
	Protect bool
	// YoungParents lets Link name a parent that was born after the child. Paper 002, Alg. 3 does not forbid it; D13 does,
	// since such links can form a cycle.
	YoungParents bool
	// NoTP gives all topics one prevalence, NoTSI all entries one importance: the ablations of paper 002 §4.4.
	NoTP, NoTSI bool

	worth policy.Value
}

// paper is the literal reading of paper 002 (§3, Alg. 1-3): every request credits its topic, the new entry may be the
// victim, a topic without members is forgotten, any resident can be a parent. The "decay factor = 1" of §4.2 is read as
// Lambda. No Alpha is given there: 0.001 is one in the capacity of its synthetic traces, at which the policy does best on
// them; from 1 on it would be an LRU of topics.
func paper() Options {
	return Options{Alpha: 0.001, Lambda: 1, YoungParents: true}
}

// Tuned is the best set found for a cache of capacity entries, over generated conversations (two skews, and with a
// drifting popularity), an LRU stack and a Zipf law whose working set shifts. The half-life of capacity/3 requests is a
// compromise: with 10 times capacity the first two gain a point, and the last two fall from 66 to 16 and from 58 to 40 %
// hits, because the old topics never let a new one in. Protect and Ghosts gain little at this decay, much at a slower one.
func Tuned(capacity int) Options {
	capacity = max(capacity, 1)
	return Options{Alpha: 3 / float64(capacity), Lambda: 1, DepCap: 64, Ghosts: capacity, Protect: true}
}
