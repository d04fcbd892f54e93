package topics

import (
	"errors"
	"fmt"
)

// ErrOptions is wrapped by every error of New.
var ErrOptions = errors.New("bad options")

// Kind names the Index that finds the anchors of a scope.
type Kind string

const (
	// KindAuto is a scan, and above 300,000 anchors a graph that passed its self-check, also for speed.
	KindAuto Kind = "auto"
	// KindFlat is a scan at any size.
	KindFlat Kind = "flat"
	// KindGraph is a graph from 1,000 anchors on, if its recall passes the self-check.
	KindGraph Kind = "graph"
)

// Options are the settings of Topics. Zero means the default where one is named; the gates have none.
type Options struct {
	// Dim is the length of every vector, at least 2; 0 where it is not known yet, see SetDim.
	Dim int
	// Hit, Route and Edge are cosine gates in (0, 1]: an answer is shared from Hit on, a request belongs to a topic from
	// Route to its anchor on, and may depend on an earlier request from Edge on. Hit must be above Route.
	Hit, Route, Edge float64
	// Lookback is the number of accesses of a scope among which a parent is searched for; default 64.
	Lookback int
	// Index finds anchors; default KindAuto.
	Index Kind
	// PaperAnchors moves an anchor only when a member with a higher importance joins, as paper 002, Alg. 5, is printed
	// (D10). Otherwise an anchor also moves when the importance of a member exceeds twice its own.
	PaperAnchors bool
}

// withDefaults returns o with every default filled in, or an error that names a bad one.
func (o Options) withDefaults() (Options, error) {
	if o.Lookback == 0 {
		o.Lookback = 64
	}
	if o.Index == "" {
		o.Index = KindAuto
	}
	return o, o.validate()
}

func (o Options) validate() error {
	for name, gate := range map[string]float64{"Hit": o.Hit, "Route": o.Route, "Edge": o.Edge} {
		if !(gate > 0 && gate <= 1) {
			return fmt.Errorf("%w: %s = %v, want a cosine above 0 and up to 1", ErrOptions, name, gate)
		}
	}
	switch {
	case o.Dim != 0 && o.Dim < 2:
		return fmt.Errorf("%w: Dim = %d, want at least 2", ErrOptions, o.Dim)
	case o.Hit <= o.Route:
		return fmt.Errorf("%w: Hit = %v, want above Route = %v, or every topic has one member", ErrOptions, o.Hit, o.Route)
	case o.Lookback < 1:
		return fmt.Errorf("%w: Lookback = %d, want at least 1", ErrOptions, o.Lookback)
	case o.Index != KindAuto && o.Index != KindFlat && o.Index != KindGraph:
		return fmt.Errorf("%w: Index = %q, want auto, flat or graph", ErrOptions, o.Index)
	}
	return nil
}

// Anchors from which on a graph is tried. With the scan in AVX-512, its search takes as long as a scan at 100,000 anchors, 0.6 of that at
// 300,000 and 0.25 at 1,000,000; an insertion, which a scan does not need, takes a quarter of a search. To build it costs as much CPU as an eighth to a
// third as many scans as there are anchors.
const (
	autoFrom  = 300_000
	graphFrom = 1000
)

// graphOptions are those of the graph of a scope.
func (o *Options) graphOptions() graphOptions {
	g := graphOptions{min: autoFrom, route: o.Route}
	if o.Index == KindGraph {
		g.min, g.forced = graphFrom, true
	}
	return g
}
