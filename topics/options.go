package topics

import (
	"errors"
	"fmt"
)

// errOptions is wrapped by every error of New.
var errOptions = errors.New("bad options")

// Options are the settings of Topics. Zero means the default where one is named; the gates have none.
type Options struct {
	// Dim is the length of every vector, at least 2; 0 where it is not known yet, see SetDim.
	Dim int
	// Hit, Route and Edge are cosine gates in (0, 1]: an answer is shared from Hit on, a request belongs to a topic from
	// Route to its anchor on, and may depend on an earlier request from Edge on. Hit must be above Route.
	Hit, Route, Edge float64
	// Lookback is the number of accesses of a scope among which a parent is searched for; default 64.
	Lookback int
	// PaperAnchors moves an anchor only when a member with a higher importance joins, as paper 002, Alg. 5, is printed
	// (D10). Otherwise an anchor also moves when the importance of a member exceeds twice its own.
	PaperAnchors bool
}

// withDefaults returns o with every default filled in, or an error that names a bad one.
func (o Options) withDefaults() (Options, error) {
	if o.Lookback == 0 {
		o.Lookback = 64
	}
	return o, o.validate()
}

func (o Options) validate() error {
	for name, gate := range map[string]float64{"Hit": o.Hit, "Route": o.Route, "Edge": o.Edge} {
		if !(gate > 0 && gate <= 1) {
			return fmt.Errorf("%w: %s = %v, want a cosine above 0 and up to 1", errOptions, name, gate)
		}
	}
	switch {
	case o.Dim != 0 && o.Dim < 2:
		return fmt.Errorf("%w: Dim = %d, want at least 2", errOptions, o.Dim)
	case o.Hit <= o.Route:
		return fmt.Errorf("%w: Hit = %v, want above Route = %v, or every topic has one member", errOptions, o.Hit, o.Route)
	case o.Lookback < 1:
		return fmt.Errorf("%w: Lookback = %d, want at least 1", errOptions, o.Lookback)
	}
	return nil
}
