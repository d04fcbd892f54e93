package shared

import (
	"testing"
	"time"
)

// runs sets the clock of a server.
func (s *server) runs(ahead time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ahead = ahead
}

// TestClock: all times are those of the store, whose clock differs from that of the members by minutes, and is set: what one member stores for an hour
// the others serve for an hour, and none has it longer. A slow call does not move the clock.
func TestClock(t *testing.T) {
	for _, skew := range []time.Duration{5 * time.Minute, -5 * time.Minute} {
		among(t, 3, func(t *testing.T, s *server, all []*member) {
			wants := func(name, answer string) {
				t.Helper()
				for _, m := range all {
					m.wants(name, answer)
				}
			}
			agree := func(want, most time.Duration) {
				t.Helper()
				for i, m := range all {
					if off := time.Until(m.Now()) - want; off.Abs() > most {
						t.Errorf("the clock of member %d is %v off that of the store", i, off)
					}
				}
			}
			s.runs(skew)
			time.Sleep(time.Second)
			agree(skew, 100*time.Millisecond)
			all[0].link.set("", 80*time.Millisecond)
			time.Sleep(time.Minute)
			agree(skew, 100*time.Millisecond)
			all[0].link.set("", 0)
			all[0].put("a", "first")
			settle()
			wants("a", "first")
			time.Sleep(54 * time.Minute)
			wants("a", "first")
			time.Sleep(7 * time.Minute)
			wants("a", "")
			s.runs(-skew) // as by a failover to another machine
			time.Sleep(time.Second)
			agree(-skew, 100*time.Millisecond)
			all[1].put("b", "second")
			settle()
			wants("b", "second")
		})
	}
}
