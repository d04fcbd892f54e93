package workload

// Regime is one workload with the capacity that it is studied at. Seeds are given to Generate.
type Regime struct {
	Name     string // as tables head it: "syn .5"
	Spec     string
	Capacity int
	Says     string
	// Weights are the readings of what is repeated, values of the parameter weight, that the study plays; none where the
	// workload repeats no sessions.
	Weights []string
}

// With is the regime's spec in one of its readings.
func (r Regime) With(weight string) string {
	if weight == "" {
		return r.Spec
	}
	return extend(r.Spec, "weight="+weight)
}

var readings = []string{"W", "U"}

// Study is every regime of the published comparison, and more.
func Study() []Regime {
	return []Regime{
		{"syn .5", "syn", 1000, "half of the reuses are long", readings},
		{"syn .7", "syn:long=0.7", 1000, "most reuses are long", readings},
		{"syn .9", "syn:long=0.9", 1000, "nearly all reuses are long", readings},
		{"gamma 1.2", "syn:gamma=1.2", 1000, "few topics are most of the traffic", readings},
		{"drift", "drift", 1000, "topics change their ranks", readings},
		{"irm .8", "irm", 500, "independent draws", nil},
	}
}

// Long is the same regimes with 40 to 60 thousand requests, at least 40 times the capacity.
func Long() []Regime {
	return []Regime{
		{"syn", "syn:long=0,n=50000", 1000, "half of the reuses are long", readings},
	}
}
