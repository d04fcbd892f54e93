// Package kvevents follows the events by which an engine publishes which KV blocks it stores and removes: the contract of vLLM and SGLang
// over ZeroMQ. It corrects the model of a replica where the engine evicts otherwise than the model, serves others too, or starts again.
package kvevents

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"reprise/proxy/upstream/prefix"
)

// Options configures a Follower.
type Options struct {
	Events string // endpoint of the events, such as tcp://host:5557
	Replay string // endpoint at which missed events can be had again; "": there is none
	Sink   Sink
	Logger *slog.Logger // default: none
}

// Validate returns what is wrong with o.
func (o Options) Validate() error {
	_, err := addressOf(o.Events)
	if err == nil && o.Replay != "" {
		_, err = addressOf(o.Replay)
	}
	return err
}

// Follower follows the events of one replica.
type Follower struct {
	o      Options
	blocks *blocks
	last   uint64 // sequence number of the last batch
	begun  bool   // there was one

	connected                 atomic.Bool
	batches, lost, unreadable atomic.Int64
}

// Stats are counts since New.
type Stats struct {
	Connected  bool
	Batches    int64 // that were followed
	Lost       int64 // times that batches were missed and could not be had again
	Unreadable int64 // batches of an unknown form
	Matched    int64 // prompts whose blocks were found among the engine's
}

// New returns a follower, which Run starts.
func New(o Options) (*Follower, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Follower{o: o, blocks: newBlocks(o.Sink)}, nil
}

// Sent returns the mark of a request that is sent to the replica now.
func (f *Follower) Sent() (mark uint64) { return f.blocks.sent() }

// Answered notes that the replica has answered a request with the chain c, which was sent at mark, and whose prompt has so many tokens as
// the answer reports. c is used during the call only.
func (f *Follower) Answered(mark uint64, c *prefix.Chain, tokens int) {
	f.blocks.answered(mark, c, tokens)
}

// Stats returns the counts.
func (f *Follower) Stats() Stats {
	f.blocks.mu.Lock()
	matched := f.blocks.matched
	f.blocks.mu.Unlock()
	return Stats{Connected: f.connected.Load(), Batches: f.batches.Load(), Lost: f.lost.Load(), Unreadable: f.unreadable.Load(), Matched: matched}
}

// The pause between two connections, doubled with each that fails.
const (
	firstPause = 100 * time.Millisecond
	lastPause  = 10 * time.Second
)

// errUnreadable ends a connection whose batches have an unknown form.
var errUnreadable = errors.New("the events have an unknown form")

// Run follows the events until ctx ends. A connection that ends is made again; events in an unknown form end Run, after a warning: the
// model of the replica then goes on without them.
func (f *Follower) Run(ctx context.Context) {
	pause := firstPause
	for ctx.Err() == nil {
		before := f.batches.Load()
		err := f.follow(ctx)
		if errors.Is(err, errUnreadable) {
			f.o.Logger.Warn("the KV events of an upstream cannot be read and are not followed", "events", f.o.Events, "error", err)
			return
		}
		if f.batches.Load() > before {
			pause = firstPause
		}
		f.o.Logger.Debug("the KV events of an upstream ended", "events", f.o.Events, "error", err)
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
		pause = min(2*pause, lastPause)
	}
}

// follow follows one connection to its end.
func (f *Follower) follow(ctx context.Context) error {
	c, err := dial(ctx, f.o.Events, sub)
	if err != nil {
		return err
	}
	defer c.Close()
	defer context.AfterFunc(ctx, func() { c.Close() })()
	if err := c.subscribe(""); err != nil {
		return err
	}
	f.connected.Store(true)
	defer f.connected.Store(false)
	for first := true; ; first = false {
		parts, err := c.receive()
		if err != nil {
			return err
		}
		if len(parts) != 3 || len(parts[1]) != 8 {
			return fmt.Errorf("%w: a message has %d parts, not a topic, a number of 8 bytes and the events", errUnreadable, len(parts))
		}
		if err := f.batch(ctx, binary.BigEndian.Uint64(parts[1]), parts[2], first); err != nil {
			return err
		}
	}
}

// batch follows one batch. first says that it is the first one of its connection.
func (f *Follower) batch(ctx context.Context, n uint64, payload []byte, first bool) error {
	switch {
	case !f.begun || n == f.last+1:
	case n <= f.last && first: // its numbers begin again with the engine
		f.reset()
	case n <= f.last: // it was replayed
		return nil
	case !f.replay(ctx, n):
		f.lost.Add(1)
		f.reset()
	}
	return f.apply(n, payload)
}

func (f *Follower) apply(n uint64, payload []byte) error {
	events, err := decodeBatch(payload)
	if err != nil {
		f.unreadable.Add(1)
		f.reset()
		return fmt.Errorf("%w: %w", errUnreadable, err)
	}
	f.blocks.apply(events)
	f.last, f.begun = n, true
	f.batches.Add(1)
	return nil
}

// reset forgets what the replica holds.
func (f *Follower) reset() {
	f.blocks.mu.Lock()
	f.blocks.forget()
	f.blocks.mu.Unlock()
	f.o.Sink.Cleared()
}

// replayLimit is how long a replay may take.
const replayLimit = 5 * time.Second

// replayed is the number after the last batch of a replay: -1.
const replayed = ^uint64(0)

// replay follows the batches between the last one and batch n, and reports whether all have come.
func (f *Follower) replay(ctx context.Context, n uint64) bool {
	if f.o.Replay == "" {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, replayLimit)
	defer cancel()
	c, err := dial(ctx, f.o.Replay, dealer)
	if err != nil {
		return false
	}
	defer c.Close()
	defer context.AfterFunc(ctx, func() { c.Close() })()
	if c.send(nil, binary.BigEndian.AppendUint64(nil, f.last+1)) != nil {
		return false
	}
	for f.last+1 < n {
		parts, err := c.receive()
		if err != nil || len(parts) < 3 || len(parts[1]) != 8 {
			return false
		}
		got := binary.BigEndian.Uint64(parts[1])
		if got == replayed || got > f.last+1 {
			return false
		}
		if got == f.last+1 && f.apply(got, parts[2]) != nil {
			return false
		}
	}
	return true
}
