package fleet

import (
	"fmt"

	"reprise/proxy/upstream/prefix"
	"reprise/proxy/upstream/usage"
)

// front is what chooses the engine of a request: a proxy, or the oracle.
type front interface {
	// choose returns the engine of a request; none if may excludes all.
	choose(j *job, c *prefix.Chain, may func(member int) float64) (member int, t ticket)
}

// ticket receives what becomes of a request.
type ticket interface {
	held() <-chan bool // closed when the request may be sent; nil: at once
	predicted() int    // tokens of its prompt that should be cached
	answered()
	ended(prompt, cached int)
	failed()
}

// Oracle is the name of the chooser that has the true state of the engines: their blocks and their queues. Its rule is that of prefix.
const Oracle = "oracle"

// newFront returns a proxy with a chooser, or the oracle.
func newFront(o *Options, engines []*engine) (front, error) {
	name := o.Chooser
	if name == Oracle {
		name = "prefix"
	}
	chooser, err := newChooser(name, o.Seed)
	if err != nil {
		return nil, err
	}
	if o.Chooser == Oracle {
		return &oracle{chooser: chooser, engines: engines, seed: o.Seed}, nil
	}
	members := make([]prefix.Member, len(engines))
	for i, e := range engines {
		members[i] = prefix.Member{Name: nameOf(i), Capacity: e.Tokens}
	}
	return &proxy{prefix.NewFleet(members, prefix.FleetOptions{Chooser: chooser, Seed: o.Seed, Leaders: o.Leaders})}, nil
}

func nameOf(member int) string { return fmt.Sprintf("engine-%d", member) }

// proxy is the choice of a replica as in the proxy, which has only the requests that it sent itself and their replies.
type proxy struct{ fleet *prefix.Fleet }

func (p *proxy) choose(_ *job, c *prefix.Chain, may func(int) float64) (int, ticket) {
	t := p.fleet.Choose(c, may)
	if t == nil {
		return none, nil
	}
	return t.Member, proxied{t}
}

type proxied struct{ t *prefix.Ticket }

func (p proxied) held() <-chan bool { return p.t.Wait() }
func (p proxied) predicted() int    { return p.t.Cached }
func (p proxied) answered()         { p.t.Answered() }
func (p proxied) failed()           { p.t.Failed(false) }
func (p proxied) ended(prompt, cached int) {
	p.t.Ended(usage.Usage{Prompt: prompt, Cached: cached, Known: true})
}

// oracle gives the chooser the true loads.
type oracle struct {
	chooser prefix.Chooser
	engines []*engine
	seed    uint64
	loads   []prefix.Load
}

func (o *oracle) choose(j *job, c *prefix.Chain, may func(int) float64) (int, ticket) {
	r := prefix.Request{Tokens: j.req.Prompt, Key: c.Opening, Conversation: c.Opening, Shared: c.Shared / (prefix.BlockBytes / prefix.BlockTokens), Alone: 1}
	if c.Shared >= prefix.BlockBytes {
		r.Key = c.Scaffold
	}
	o.loads = o.loads[:0]
	for i, e := range o.engines {
		share := may(i)
		if share == 0 {
			continue
		}
		used := e.pool.found() * e.block
		o.loads = append(o.loads, prefix.Load{Member: i, ID: o.seed ^ prefix.Seed(nameOf(i)), InFlight: len(e.waiting) + len(e.running), Pending: e.pending(),
			Active: e.active(), Cached: e.cachedTokens(j.req, e.pool.Run(j.prompt(e.block))), Capacity: e.Tokens, Held: used, Share: share})
	}
	if len(o.loads) == 0 {
		return none, nil
	}
	l := &o.loads[o.chooser.Choose(&r, o.loads)]
	return l.Member, foreseen(l.Cached)
}

// foreseen is the ticket of the oracle, which learns nothing.
type foreseen int

func (f foreseen) held() <-chan bool { return nil }
func (f foreseen) predicted() int    { return int(f) }
func (foreseen) answered()           {}
func (foreseen) ended(int, int)      {}
func (foreseen) failed()             {}
