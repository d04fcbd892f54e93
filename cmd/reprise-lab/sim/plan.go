package sim

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
)

// plan is the result of the first reading of the trace: everything needed before the first request is played.
type plan struct {
	ids      identities
	requests int64
	bytes    int64    // of the distinct identities, as they were first requested
	timed    bool     // requests have times
	next     []uint32 // position of the next use, for each request; nil unless needed
	left     []uint32 // how many more uses, likewise
	err      error    // that ended the trace
}

// errTooLong is the limit of a replay: positions and numbers of identities are of 32 bits.
var errTooLong = errors.New("trace has 2^32 requests or more")

// errNoID is the error of a Trace that yields a request without an identity.
var errNoID = errors.New("no id")

// survey reads the trace once. It takes memory for the distinct identities, and for each request only where a policy is
// Clairvoyant.
func survey(ctx context.Context, t Trace, o *Options) (*plan, error) {
	p := &plan{}
	foresee := slices.ContainsFunc(o.Policies, func(name string) bool { return bounds[name] != nil })
	var order []uint32
	for r, err := range t.Requests() {
		if p.requests%batchSize == 0 {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			o.progress(p.requests, 0)
		}
		switch {
		case err != nil:
		case r.ID == 0:
			err = errNoID
		case p.requests == math.MaxUint32:
			err = errTooLong
		}
		if err != nil {
			p.err = fmt.Errorf("read request %d of %s: %w", p.requests+1, t.Name(), err)
			break
		}
		who := p.note(&r)
		if foresee {
			order = append(order, who)
		}
	}
	if foresee {
		p.next = NextUse(order)
		if slices.Contains(o.Policies, "count-oracle") {
			p.left = Remaining(order)
		}
	}
	return p, nil
}

func (p *plan) note(r *Request) (who uint32) {
	known := p.ids.n
	who = p.ids.number(p.ids.of(r.ID, r.Scope))
	if int(who) == known {
		p.bytes += size(r)
	}
	p.requests++
	p.timed = p.timed || r.At != 0
	return who
}

func size(r *Request) int64 { return max(r.Size, 1) }

func cost(r *Request) float64 {
	if r.Cost > 0 {
		return r.Cost
	}
	return 1
}
