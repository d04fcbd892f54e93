// Package doctor examines what a proxy needs, before it starts or beside one that runs: settings, listeners, certificates, upstreams, the
// embedder, the store, Redis, the limits of the system, and the instance itself. It uses the code by which the proxy reads and connects, so
// that both agree, and changes nothing unless it is asked to.
package doctor

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// state is the outcome of a check.
type state string

// The outcomes, from the best to the worst.
const (
	stateOK      state = "ok"
	stateSkipped state = "skipped" // what it looks at is not used, or a check that it needs has failed
	stateWarning state = "warning" // the proxy works, and something is worse than it could be
	stateError   state = "error"   // the proxy does not start, or does not do what it is there for
)

// Result is what a check has found.
type Result struct {
	ID      string `json:"id"`                // such as upstream.tls
	Subject string `json:"subject,omitempty"` // which one, where there are several: the name of an upstream
	State   state  `json:"state"`
	Found   string `json:"found"`
	Why     string `json:"why"`              // it matters
	Repair  string `json:"repair,omitempty"` // of a warning or an error
	Fixed   string `json:"fixed,omitempty"`  // what was changed, with --fix; the rest is as found afterwards
}

// finding is the outcome of one look.
type finding struct {
	state         state
	found, repair string
	fix           func() (done string, err error) // a safe change that removes the cause; nil: there is none
}

func ok(format string, args ...any) finding {
	return finding{state: stateOK, found: fmt.Sprintf(format, args...)}
}

func skipped(format string, args ...any) finding {
	return finding{state: stateSkipped, found: fmt.Sprintf(format, args...)}
}

// warning and failure take what helps, and then what was found.
func warning(repair, format string, args ...any) finding {
	return finding{state: stateWarning, found: fmt.Sprintf(format, args...), repair: repair}
}

func failure(repair, format string, args ...any) finding {
	return finding{state: stateError, found: fmt.Sprintf(format, args...), repair: repair}
}

// check is one thing that is looked at.
type check struct {
	id, subject string
	needs       []*check      // checks that must have passed; what they wrote may be read
	limit       time.Duration // of a look
	look        look

	done   chan struct{}
	result Result
}

// look finds the state of one thing. It may go on after ctx, and what it returns is then not used.
type look func(ctx context.Context) finding

const (
	usualLimit = 5 * time.Second
	wholeLimit = 28 * time.Second // of a run
	grace      = time.Second      // for a look that does not end with its context, as in a system call
)

// name is what messages about another check call this one.
func (c *check) name(other *check) string {
	if c.subject == "" || c.subject == other.subject {
		return c.id
	}
	return c.id + " of " + c.subject
}

// plan is a list of checks, each behind those that it needs.
type plan []*check

// add adds a check of the usual limit behind those that it needs.
func (p *plan) add(id string, look look, needs ...*check) *check {
	c := &check{id: id, look: look, needs: needs, limit: usualLimit, done: make(chan struct{})}
	*p = append(*p, c)
	return c
}

// run makes all checks, those that need no others at once, and returns their results in the order of the plan.
func (p plan) run(ctx context.Context, fix bool) (all []Result) {
	ctx, cancel := context.WithTimeout(ctx, wholeLimit)
	defer cancel()
	var wg sync.WaitGroup
	for _, c := range p {
		wg.Go(func() {
			defer close(c.done)
			c.run(ctx, fix)
		})
	}
	wg.Wait()
	for _, c := range p {
		all = append(all, c.result)
	}
	return all
}

func (c *check) run(ctx context.Context, fix bool) {
	c.result = Result{ID: c.id, Subject: c.subject, Why: reasons[c.id]}
	for _, n := range c.needs {
		<-n.done
		switch n.result.State {
		case stateError:
			c.settle(skipped("because %s failed", n.name(c)))
			return
		case stateSkipped:
			c.settle(skipped("%s", n.result.Found))
			return
		}
	}
	f := c.inTime(ctx)
	if fix && f.fix != nil {
		if done, err := f.fix(); err != nil {
			f.repair = fmt.Sprintf("It could not be repaired: %v. %s", err, f.repair)
		} else {
			c.result.Fixed = done
			f = c.inTime(ctx)
		}
	}
	c.settle(f)
}

// inTime looks, and does not wait for a look that does not end.
func (c *check) inTime(ctx context.Context) finding {
	ctx, cancel := context.WithTimeout(ctx, c.limit)
	defer cancel()
	found := make(chan finding, 1)
	go func() { found <- c.look(ctx) }()
	select {
	case f := <-found:
		return f
	case <-ctx.Done():
	}
	select {
	case f := <-found:
		return f
	case <-time.After(grace):
		return failure("See whether the disk or the network that it concerns responds at all.", "the check did not end within %v", c.limit)
	}
}

func (c *check) settle(f finding) {
	c.result.State, c.result.Found, c.result.Repair = f.state, f.found, f.repair
}
