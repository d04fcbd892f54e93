package generate

import (
	"fmt"
	"math"

	"reprise/cmd/reprise-lab/sim/blocks"
)

// jitter is by how many seconds at most a copy of a session is earlier or later than the session.
const jitter = 60

// mostRequests bounds a scaled trace, so that a typing error does not take all memory.
const mostRequests = 1 << 27

// Scale makes a trace with factor times the arrivals of another one at every time of it: the times are not stretched, so that bursts and
// quiet hours stay (paper 001 §4.3 scales its traces to a testbed in such a way). Below 1 each session is kept with that probability, whole.
// Above 1 each is there once, and copies of it are other users who do the same: up to a minute earlier or later, with the same blocks
// where another session has them too, such as those of a system prompt, and else with blocks of their own.
//
// A session is requests that continue each other or have one Session. The trace is not changed. Blocks are numbered again.
func Scale(t *blocks.Trace, factor float64, seed uint64) (*blocks.Trace, error) {
	if !(factor > 0) || factor*float64(len(t.Requests)) > mostRequests {
		return nil, fmt.Errorf("scale %s: factor %g: want more than 0, and at most %d requests", t.Name, factor, mostRequests)
	}
	if err := t.Check(); err != nil {
		return nil, fmt.Errorf("scale: %w", err)
	}
	s := newScaling(t, factor, seed)
	for g := range s.groups {
		for n := range s.copies() {
			s.add(g, n)
		}
	}
	switch {
	case s.next > math.MaxUint32:
		return nil, fmt.Errorf("scale %s: more than %d blocks", t.Name, uint32(math.MaxUint32))
	case len(s.out) == 0:
		return nil, fmt.Errorf("scale %s: factor %g leaves none of its %d sessions: want a larger one", t.Name, factor, len(s.groups))
	}
	out := *t
	out.Name, out.Generated, out.Note = fmt.Sprintf("%s ×%g", t.Name, factor), true, scaleNote(t, factor)
	out.Distinct, out.Requests = int(s.next), blocks.ByTime(s.out)
	return &out, nil
}

func scaleNote(t *blocks.Trace, factor float64) string {
	if t.Generated && t.Note == "" {
		return ""
	}
	note := "a sample of the sessions"
	if factor > 1 {
		note = "copies of sessions are generated"
	}
	if t.Note != "" {
		note = t.Note + "; " + note
	}
	return note
}

// scaling is a scaled trace under construction.
type scaling struct {
	random
	trace  *blocks.Trace
	factor float64
	groups [][]int32 // sessions: their requests
	shared []bool    // blocks of several groups

	out             []blocks.Request
	sessions, users uint32   // the highest so far, of copies too
	number          []uint32 // by block: its number + 1; of one that is not shared, in the copy of the session under construction
	mine            []int32  // by block: the copy that number is of
	made            int32    // copies of sessions
	next            int64
}

func newScaling(t *blocks.Trace, factor float64, seed uint64) *scaling {
	s := &scaling{random: newRandom(seed, 0x5CA1E), trace: t, factor: factor, shared: make([]bool, t.Distinct),
		number: make([]uint32, t.Distinct), mine: make([]int32, t.Distinct)}
	of, owner := make([]int32, len(t.Requests)), make([]int32, t.Distinct) // group + 1
	bySession := map[uint32]int32{}
	for i := range t.Requests {
		r := &t.Requests[i]
		g := int32(0)
		if r.After > 0 {
			g = of[r.After-1]
		} else if r.Session > 0 {
			g = bySession[r.Session]
		}
		if g == 0 {
			s.groups = append(s.groups, nil)
			g = int32(len(s.groups))
		}
		if r.Session > 0 {
			bySession[r.Session] = g
		}
		of[i] = g
		s.groups[g-1] = append(s.groups[g-1], int32(i))
		s.sessions, s.users = max(s.sessions, r.Session), max(s.users, r.User)
		for _, chain := range [][]uint32{r.Blocks, r.Filled} {
			for _, b := range chain {
				s.shared[b] = s.shared[b] || owner[b] != 0 && owner[b] != g
				owner[b] = g
			}
		}
	}
	return s
}

// copies is how often the next session is in the scaled trace.
func (s *scaling) copies() int {
	whole, part := math.Modf(s.factor)
	if s.Float64() < part {
		whole++
	}
	return int(whole)
}

// add appends a session for the time n. Number 0 is itself, and the others have another time, user and session.
func (s *scaling) add(g, n int) {
	all := s.groups[g]
	s.made++
	chains := newMover(func(f func(*blocks.Request)) {
		for _, i := range all {
			f(&s.trace.Requests[i])
		}
	})
	shift, session, user := 0.0, map[uint32]uint32{}, map[uint32]uint32{}
	if n > 0 {
		shift = s.shift(all)
	}
	place := map[int32]int32{} // number in the trace: number in out
	for _, i := range all {
		r := s.trace.Requests[i]
		chains.request(&r, s.block)
		r.At += shift
		r.After = place[r.After]
		if n > 0 {
			r.Session = another(session, r.Session, &s.sessions)
			r.User = another(user, r.User, &s.users)
		}
		s.out = append(s.out, r)
		place[i+1] = int32(len(s.out))
	}
}

// shift is by how much a copy of requests is later. It stays in the time of the trace.
func (s *scaling) shift(all []int32) float64 {
	at := func(i int32) float64 { return s.trace.Requests[i].At }
	least := at(0) - at(all[0])
	most := at(int32(len(s.trace.Requests)-1)) - at(all[len(all)-1])
	return min(max(least, (2*s.Float64()-1)*jitter), most)
}

// another is the number that a copy has for a session or user, 0 for 0.
func another(of map[uint32]uint32, number uint32, last *uint32) uint32 {
	if number == 0 {
		return 0
	}
	if of[number] == 0 {
		*last++
		of[number] = *last
	}
	return of[number]
}

// block is the number of a block in the copy under construction.
func (s *scaling) block(b uint32) uint32 {
	if s.number[b] == 0 || !s.shared[b] && s.mine[b] != s.made {
		s.number[b] = uint32(s.next + 1)
		s.mine[b] = s.made
		s.next++
	}
	return s.number[b] - 1
}
