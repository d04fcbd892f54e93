package kv

import (
	"reprise/policy"
)

// GDFSSpec has the name and the order of papers/001 §4.2 for KV blocks. There Clock is described as the time of the last access, which in the
// original is the floor L, as here; with the time it would be aging-lfu.
var GDFSSpec = policy.Spec{
	Name: "gdfs", Says: "gdsf for KV blocks: among equals the deepest of a prefix first",
	Params: []policy.Param{policy.ValueParam},
	New: func(a policy.Args) policy.Evictor {
		g := NewGDSF(a.Value())
		g.ByOffset()
		return g
	},
}
