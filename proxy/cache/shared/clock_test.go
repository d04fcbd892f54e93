package shared

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"reprise/store"
)

// skewed is a server whose clock is ahead of those of the members, or behind.
type skewed struct {
	Group
	by *atomic.Int64
}

func (g skewed) Beat(ctx context.Context, applied store.Position, keep bool) (store.Pulse, error) {
	p, err := g.Group.Beat(ctx, applied, keep)
	p.Time = p.Time.Add(time.Duration(g.by.Load()))
	return p, err
}

// TestClockSkew: the clocks of members differ from that of the store by five minutes, and then by five minutes in the other direction. All
// times are those of the store: what one member stores for an hour the others serve for an hour, and none has it longer.
func TestClockSkew(t *testing.T) {
	for _, skew := range []time.Duration{5 * time.Minute, -5 * time.Minute} {
		t.Run(skew.String(), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				var by atomic.Int64
				by.Store(int64(skew))
				all := members(t, newServer(), 3, func(o *Options) { o.Link.Group = skewed{o.Link.Group, &by} })
				agree := func(want time.Duration) {
					t.Helper()
					for i, m := range all {
						if off := time.Until(m.Now()) - want; off.Abs() > time.Second {
							t.Errorf("the clock of member %d is %v off that of the store", i, off)
						}
					}
				}
				agree(skew)
				all[0].put("a", "first")
				settle()
				for _, m := range all {
					m.wants("a", "first")
				}
				time.Sleep(54 * time.Minute)
				for _, m := range all {
					m.wants("a", "first")
				}
				time.Sleep(7 * time.Minute)
				for _, m := range all {
					m.wants("a", "")
				}
				by.Store(int64(-skew)) // as by a failover to another machine
				settle()
				agree(-skew)
				all[1].put("b", "second")
				settle()
				for _, m := range all {
					m.wants("b", "second")
				}
			})
		})
	}
}
