package policy

import "errors"

// ErrSnapshot is the error of Restore for data that is not a Snapshot of the same policy.
var ErrSnapshot = errors.New("snapshot of a policy")

// Panel is a policy that is made of experts. Only Restore changes anything.
type Panel interface {
	// Stats are the present figures of the experts.
	Stats() PanelStats
	// Snapshot is the learned state, without any entry: some 10 kB.
	Snapshot() []byte
	// Restore brings back a snapshot of the same experts, at any capacity. Call it after the entries are inserted. An
	// error is ErrSnapshot, and then nothing has changed.
	Restore(snapshot []byte) error
}

// PanelStats are the figures of a panel.
type PanelStats struct {
	Experts []ExpertStats // in a fixed order
	Leader  int           // which of them leads
	Changed int64         // how often the leader has changed
	Changes []Change      // the latest of these, the oldest first, at most MostChanges
	// Asked and Hits are of the cache itself, counted as those of the experts, so that their quotients can be compared. They only grow,
	// except at Restore, and where a shadow sees a sample they are of that sample.
	Asked, Hits float64
	Bytes       int64 // an estimate of the memory in use
}

// MostChanges is how many changes of the leader a panel remembers.
const MostChanges = 32

// Change is one change of the expert that leads a panel.
type Change struct {
	Seq    int64   `json:"seq"` // number of the request
	At     float64 `json:"at"`  // its time, as in Tick
	From   string  `json:"from"`
	To     string  `json:"to"`
	Ahead  float64 `json:"ahead"`  // hits that To would have had more than From since the last change, or since it last was behind
	Needed float64 `json:"needed"` // what Ahead had to exceed: the misses that a change costs
}

// ExpertStats are the figures of one expert of a panel.
type ExpertStats struct {
	Name     string
	HitRatio float64 // that its shadow cache would have had since the start; of the tokens where they are the objective
	Entries  int     // in its shadow cache
	// Asked and Hits are the sums whose quotient HitRatio is: each request counts 1, or its tokens by their mean.
	Asked, Hits float64
	Led         float64 // of Asked, that of the requests during which it led; not in a Snapshot
}
