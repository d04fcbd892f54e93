package upstream

import "sync/atomic"

// Chooser names the replica that a request goes to. It is safe for concurrent use.
type Chooser interface {
	// Choose returns one of replicas: at least one, the same in every call. r has no body if it is passed through.
	Choose(replicas []*Replica, r Request) *Replica
}

var (
	_ Chooser = First{}
	_ Chooser = (*RoundRobin)(nil)
)

// First chooses the first replica for every request.
type First struct{}

// Choose returns the first of replicas.
func (First) Choose(replicas []*Replica, _ Request) *Replica { return replicas[0] }

// RoundRobin chooses each replica in turn.
type RoundRobin struct{ next atomic.Uint64 }

// Choose returns the replica after that of the call before.
func (c *RoundRobin) Choose(replicas []*Replica, _ Request) *Replica {
	return replicas[(c.next.Add(1)-1)%uint64(len(replicas))]
}
