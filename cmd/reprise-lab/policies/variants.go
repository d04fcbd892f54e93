package policies

import (
	"reprise/cmd/reprise-lab/policies/kv"
	"reprise/policy"
	"reprise/policy/classic"
	"reprise/policy/rac"
)

// LFU-DA, LFU with dynamic aging (Arlitt et al., "Evaluating content management techniques for Web proxy caches", 2000), is
// GDSF where every entry has the same worth: K = L + uses.
var lfudaSpec = policy.Spec{
	Name: "lfu-da", Says: "LFU over a floor that rises with each eviction",
	New: func(policy.Args) policy.Evictor { return kv.NewGDSF(policy.Hits) },
}

// The ablations of paper 002 §4.4.
var (
	noTPSpec = policy.Spec{
		Name: "rac-no-tp", Says: "rac without prevalence: least structural importance", Params: rac.Spec.Params,
		New: func(a policy.Args) policy.Evictor {
			o := rac.OptionsOf(a)
			o.NoTP = true
			return rac.New(o)
		},
	}
	noTSISpec = policy.Spec{
		Name: "rac-no-tsi", Says: "rac without importance: the least recent of the least prevalent topic", Params: rac.Spec.Params,
		New: func(a policy.Args) policy.Evictor {
			o := rac.OptionsOf(a)
			o.NoTSI = true
			return rac.New(o)
		},
	}
)

var ttlSlidingSpec = policy.Spec{
	Name: "ttl-sliding", Says: "each entry expires a fixed time after its last use; overflow as LRU",
	Params: classic.TTLSpec.Params,
	New:    func(a policy.Args) policy.Evictor { return &ttlSliding{classic.TTLSpec.New(a).(*classic.TTL)} },
}

// ttlSliding is TTL with lives that begin again at each use. Overflow evicts the least recently used, and where ttl is longer than most
// entries stay it is LRU.
type ttlSliding struct{ *classic.TTL }

// Hit begins the life of id again.
func (l *ttlSliding) Hit(id policy.ID, at policy.Tick) { l.Replace(policy.Item{ID: id}, at) }
