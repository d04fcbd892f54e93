package cache

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/sony/gobreaker/v2"

	"reprise/embed"
)

// embedder makes vectors, and leaves an embed.Embedder alone that has failed five times in a row: it is tried again with one
// request a second. So a dead one costs a few requests its deadline, and then none.
type embedder struct {
	embed.Embedder
	local   bool          // it calls no server, so that it needs neither a limit nor the breaker
	remote  embed.Remote  // the same embedder where it has to answer first, else nil
	limit   time.Duration // for one prompt; 0 is none
	breaker *gobreaker.CircuitBreaker[[][]float32]

	ready   atomic.Bool // store and topics take its vectors: its space is known
	fault   atomic.Pointer[embedderFault]
	suspect atomic.Bool // a call has failed since the last check
}

// EmbedderState is what an embedder that calls a server does at the moment.
type EmbedderState string

// The states. In the last two only the hits that need no vector are served, and what is stored gets its vector later.
const (
	EmbedderWorks    EmbedderState = "works"
	EmbedderAway     EmbedderState = "away"            // it does not answer, answers with errors, or too late
	EmbedderOtherDim EmbedderState = "wrong-dimension" // it returns vectors of another length than the one that was set, or that the stored ones have
)

// EmbedderStates are all states.
func EmbedderStates() []EmbedderState {
	return []EmbedderState{EmbedderWorks, EmbedderAway, EmbedderOtherDim}
}

// embedderFault is a state other than EmbedderWorks, and the error of the last check.
type embedderFault struct {
	state EmbedderState
	err   error
}

// errLate is the error of a request before the first answer of the embedder, of which it is not known how long its vectors are.
var errLate = errors.New("the embedder has not answered since the start")

func newEmbedder(e embed.Embedder, limit time.Duration) *embedder {
	_, local := e.(*embed.Builtin)
	made := &embedder{Embedder: e, local: local, limit: limit, breaker: gobreaker.NewCircuitBreaker[[][]float32](gobreaker.Settings{
		Timeout:     time.Second,
		ReadyToTrip: func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= 5 },
		// A caller that has left says nothing about the embedder, neither good nor bad.
		IsExcluded: func(err error) bool { return errors.Is(err, context.Canceled) },
	})}
	made.remote, _ = e.(embed.Remote)
	made.ready.Store(made.remote == nil || e.Space() != "")
	if made.remote != nil && !made.remote.Answered() {
		made.fault.Store(&embedderFault{EmbedderAway, errLate})
	}
	return made
}

// state is that of the last check, "" of an embedder that calls no server.
func (e *embedder) state() (EmbedderState, error) {
	switch f := e.fault.Load(); {
	case e.remote == nil:
		return "", nil
	case f != nil:
		return f.state, f.err
	}
	return EmbedderWorks, nil
}

// note takes the outcome of a call of a request. One that failed is checked soon; see probe.
func (e *embedder) note(err error) {
	switch {
	case e.remote == nil || errors.Is(err, context.Canceled):
	case err != nil:
		e.suspect.Store(true)
	case e.fault.Load() != nil:
		e.fault.Store(nil)
	}
}

// probeTime bounds a check: a server may have to load the model first.
const probeTime = 10 * time.Second

// probe asks the server for one vector. It works if that comes within the limit of a request.
func (e *embedder) probe(ctx context.Context) {
	limited, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	e.suspect.Store(false)
	began := time.Now()
	err := guard("embed", func() error { return e.remote.Dial(limited) })
	took := time.Since(began)
	switch {
	case ctx.Err() != nil:
	case errors.Is(err, embed.ErrDim):
		e.fault.Store(&embedderFault{EmbedderOtherDim, err})
	case err == nil && took > cmp.Or(e.limit, probeTime):
		e.fault.Store(&embedderFault{EmbedderAway, fmt.Errorf("it answers in %v, with a limit of %v", took.Round(time.Millisecond), e.limit)})
	case err != nil:
		e.fault.Store(&embedderFault{EmbedderAway, err})
	default:
		e.fault.Store(nil)
	}
}

// doubtful reports whether a check is due.
func (e *embedder) doubtful() bool {
	return e.remote != nil && (e.fault.Load() != nil || e.suspect.Load())
}

func (e *embedder) open() bool { return e.breaker.State() == gobreaker.StateOpen }

// vector turns a prompt into a vector; nil where nothing in it can be compared, or where the caller has left.
func (e *embedder) vector(ctx context.Context, prompt string) ([]float32, error) {
	if !e.ready.Load() {
		return nil, errLate
	}
	vectors, err := e.embed(ctx, prompt)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, nil
	case err != nil:
		return nil, err
	case len(vectors) != 1:
		return nil, errors.New("the embedder returned no vector")
	}
	return vectors[0], nil
}

func (e *embedder) embed(ctx context.Context, prompt string) ([][]float32, error) {
	if e.local {
		return e.Embed(ctx, []string{prompt})
	}
	return e.breaker.Execute(func() ([][]float32, error) { return e.ask(ctx, prompt) })
}

func (e *embedder) ask(ctx context.Context, prompt string) (vectors [][]float32, err error) {
	defer func() { e.note(err) }()
	if e.limit > 0 {
		limited, cancel := context.WithTimeout(ctx, e.limit)
		defer cancel()
		ctx = limited
	}
	return e.Embed(ctx, []string{prompt})
}
