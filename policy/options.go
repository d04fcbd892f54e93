package policy

import "errors"

// ErrUnknown is the error of New for a name that is not in Names.
var ErrUnknown = errors.New("unknown policy")

// Options are the options of every policy.
type Options struct {
	// Capacity is the number of entries that will be resident, at least 1; an estimate where the limit is in bytes.
	// Parameters are measured in it. It is not a limit: the Ledger has that.
	Capacity int
	// Bytes is true if the limit is in bytes: policies that have objectives then rank entries by size too, and maximise the tokens saved by
	// default.
	Bytes bool
	// Seed starts the random numbers of those policies that draw any.
	Seed uint64
	// Params are values for the parameters of these names. A policy that lacks one ignores it; a value in the name given
	// to New overrides it.
	Params map[string]string
}

// Param is a parameter of a policy. Its value is one of Choices or, where there are none or Max exceeds 0, a number from Min to Max; a number
// may be written in capacities: "2C" is twice the capacity, "0.1/C" a tenth divided by it.
type Param struct {
	Name, Says string
	Default    string
	Choices    []string
	Min, Max   float64
}
