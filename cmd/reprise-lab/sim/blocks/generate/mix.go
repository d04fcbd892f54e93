package generate

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"reprise/cmd/reprise-lab/sim/blocks"
)

// Mix interleaves the requests of traces by their times, each from the start of its first request: the workload of a server that all of
// them use, as the heterogeneous one of paper 003. They have blocks of one size. Blocks, sessions and users of different traces are
// different; kinds of one name are one kind, because a server has no more than the name. At equal times an earlier trace is first. The
// traces are not changed, and the mix has its own chains.
func Mix(name string, traces ...*blocks.Trace) (*blocks.Trace, error) {
	if len(traces) == 0 {
		return nil, errors.New("mix: no traces: want at least 1")
	}
	m := &mix{all: &blocks.Trace{Name: name, Tokens: traces[0].Tokens}}
	for _, t := range traces {
		if err := t.Check(); err != nil {
			return nil, fmt.Errorf("mix: %w", err)
		}
		if t.Tokens != m.all.Tokens {
			return nil, fmt.Errorf("mix: %s has blocks of %d tokens and %s of %d: want equal ones", traces[0].Name, m.all.Tokens, t.Name, t.Tokens)
		}
		if int64(m.all.Distinct)+int64(t.Distinct) > math.MaxUint32 {
			return nil, fmt.Errorf("mix: more than %d blocks", uint32(math.MaxUint32))
		}
		if err := m.add(t); err != nil {
			return nil, fmt.Errorf("mix: %w", err)
		}
	}
	m.all.Requests = blocks.ByTime(m.all.Requests)
	m.all.Generated, m.all.Note = origin(traces)
	return m.all, nil
}

// mix is a mix under construction.
type mix struct {
	all             *blocks.Trace
	sessions, users uint32 // the highest so far
}

// add appends the requests of a trace. Their After is the number in the mix before it is sorted.
func (m *mix) add(t *blocks.Trace) error {
	kinds, err := m.kinds(t)
	if err != nil {
		return err
	}
	before, first := int32(len(m.all.Requests)), uint32(m.all.Distinct)
	chains := newMover(func(f func(*blocks.Request)) {
		for i := range t.Requests {
			f(&t.Requests[i])
		}
	})
	sessions, users := m.sessions, m.users
	for i := range t.Requests {
		r := t.Requests[i]
		chains.request(&r, func(b uint32) uint32 { return b + first })
		r.At -= t.Requests[0].At
		r.Kind = kinds[r.Kind]
		if r.After > 0 {
			r.After += before
		}
		if r.Session > 0 {
			r.Session += sessions
			m.sessions = max(m.sessions, r.Session)
		}
		if r.User > 0 {
			r.User += users
			m.users = max(m.users, r.User)
		}
		m.all.Requests = append(m.all.Requests, r)
	}
	m.all.Distinct += t.Distinct
	return nil
}

// kinds is the kind in the mix for each one of a trace.
func (m *mix) kinds(t *blocks.Trace) ([]uint16, error) {
	all := make([]uint16, len(t.Kinds))
	for i, name := range t.Kinds {
		k := slices.Index(m.all.Kinds, name)
		if k < 0 {
			if k = len(m.all.Kinds); k > math.MaxUint16 {
				return nil, fmt.Errorf("more than %d kinds of requests", math.MaxUint16+1)
			}
			m.all.Kinds = append(m.all.Kinds, name)
		}
		all[i] = uint16(k)
	}
	return all, nil
}

// origin says what of a mix is generated.
func origin(traces []*blocks.Trace) (generated bool, note string) {
	var parts []string
	whole := true
	for _, t := range traces {
		switch {
		case t.Generated && t.Note == "":
			parts = append(parts, t.Name+" is generated")
		case t.Generated:
			parts = append(parts, t.Name+": "+t.Note)
			whole = false
		default:
			whole = false
		}
	}
	if whole {
		return true, ""
	}
	return len(parts) > 0, strings.Join(parts, "; ")
}
