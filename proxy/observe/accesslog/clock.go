package accesslog

import (
	"sync/atomic"
	"time"
)

// clock writes times as slog does, to the millisecond. It keeps the text of the last second, which most lines have in common: the calendar
// of a time takes longer than the rest of a line. The zero value is ready.
type clock struct{ last atomic.Pointer[second] }

type second struct {
	unix         int64
	zone         *time.Location
	before, rest string // before and after the fraction
}

func (c *clock) appendTime(b []byte, t time.Time) []byte {
	s := c.last.Load()
	if s == nil || s.unix != t.Unix() || s.zone != t.Location() {
		s = &second{t.Unix(), t.Location(), t.Format("2006-01-02T15:04:05"), t.Format("Z07:00")}
		c.last.Store(s)
	}
	ms := t.Nanosecond() / 1e6
	b = append(b, s.before...)
	b = append(b, '.', byte('0'+ms/100), byte('0'+ms/10%10), byte('0'+ms%10))
	return append(b, s.rest...)
}
