package workload

// Regime is one workload with the capacity at which it is studied.
type Regime struct {
	Name     string // in the head of tables: "syn .5"
	Spec     string // for Generate, without the seed
	Capacity int
	Says     string
	// Weights are the interpretations of "repeat a prior session" that the study plays, for With, the published one first;
	// none where nothing is repeated.
	Weights []string
}

// With is the spec of the regime in one of its interpretations.
func (r Regime) With(weight string) string { return extend(r.Spec, "weight="+weight) }

// Specs are all specs of the regime that the study plays: one for each interpretation, or its spec.
func (r Regime) Specs() []string {
	if len(r.Weights) == 0 {
		return []string{r.Spec}
	}
	var all []string
	for _, w := range r.Weights {
		all = append(all, r.With(w))
	}
	return all
}

var (
	byTopic = []string{"W"}
	evenly  = []string{"U"}
	within  = []string{"T"}
	both    = []string{"W", "U"}
	evenToo = []string{"U", "W"} // published as U
)

// Study is every regime of the published comparison: 10 to 20 thousand requests each. No trace occurs twice.
func Study() []Regime {
	return []Regime{
		{"syn .5", "syn", 1000, "half of the reuses are long", byTopic},
		{"syn .7", "syn:long=0.7", 1000, "most of the reuses are long", both},
		{"syn .9", "syn:long=0.9", 1000, "nearly all reuses are long", both},
		{"gamma 1.2", "syn:gamma=1.2", 1000, "few topics have most of the requests", both},
		{"drift", "drift", 1000, "topics change their ranks", both},
		{"20k@5%", "syn:n=20000,capacity=500", 500, "half the cache, twice the requests", both},
		{"irm .8", "irm", 500, "independent draws", nil},
		{"irm 1.0", "irm:s=1,items=3000,together=1", 300, "independent draws, each item a topic", nil},
		{"lru", "lru", 500, "what was used last returns first", nil},
		{"lru2", "lru:median=300,new=0.25", 500, "the same, deeper", nil},
		{"loop", "loop", 500, "a cycle larger than the cache", nil},
		{"zscan", "zscan", 500, "scans of what never returns", nil},
		{"phase", "phase", 300, "half of the working set is replaced at once", nil},
		{"U .5", "syn", 1000, "any prior session is repeated as likely as another", evenly},
		{"T .5", "syn", 1000, "a topic is repeated, and any of its sessions", within},
		{"troot", "troot", 1000, "all sessions of a topic begin alike", evenToo},
		{"G1", "g1", 1000, "all sessions of a topic are variants of one", evenToo},
		{"NA4", "na4", 1000, "four anchors in a session", evenToo},
	}
}

// Long is the same in traces of at least 40 times the capacity, 40 to 60 thousand requests. Regimes that differ in Study only
// by the share of long reuses are one here: p and rho have their defaults.
func Long() []Regime {
	return []Regime{
		{"syn", "syn:long=0,n=50000", 1000, "sessions as they come", both},
		{"T", "syn:long=0,n=50000", 1000, "a topic is repeated, and any of its sessions", within},
		{"gamma 1.2", "syn:long=0,gamma=1.2,n=50000", 1000, "few topics have most of the requests", both},
		{"drift", "drift:long=0,n=50000", 1000, "topics change their ranks", both},
		{"5%", "syn:long=0,n=40000,capacity=500", 500, "half the cache", both},
		{"irm .8", "irm:n=40000", 500, "independent draws", nil},
		{"irm 1.0", "irm:s=1,items=3000,together=1,n=40000", 300, "independent draws, each item a topic", nil},
		{"lru", "lru:n=40000", 500, "what was used last returns first", nil},
		{"lru2", "lru:median=300,new=0.25,n=40000", 500, "the same, deeper", nil},
		{"loop", "loop:n=40000", 500, "a cycle larger than the cache", nil},
		{"zscan", "zscan:n=40000", 500, "scans of what never returns", nil},
		{"phase", "phase:n=40000", 300, "half of the working set is replaced at once", nil},
		{"troot", "troot:long=0,n=50000", 1000, "all sessions of a topic begin alike", evenToo},
		{"G1", "g1:long=0,n=50000", 1000, "all sessions of a topic are variants of one", evenToo},
		{"NA4", "na4:long=0,n=50000", 1000, "four anchors in a session", evenToo},
	}
}
