package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strconv"
	"sync"

	"reprise/policy/sim/trace"
	"reprise/proxy"
)

// recorder writes the request log (REPRISE_RECORD) behind the requests. What a slow disk cannot take is left out of the log
// and counted; no request waits for it.
type recorder struct {
	queue chan proxy.Observation
	done  chan error // of the writer, when the queue is closed and empty

	mu     sync.Mutex // protects the rest
	closed bool
	lost   int
	faults *proxy.FaultLog
}

// recordQueue is how many requests may wait to be written: some megabytes of vectors at the most.
const recordQueue = 1024

// openRecorder appends to the file at path, which only its owner may read: a vector tells much of its prompt.
func openRecorder(path string, log *slog.Logger) (*recorder, error) {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the request log: %w (REPRISE_RECORD says where it is)", err)
	}
	return newRecorder(f, log), nil
}

func newRecorder(f io.WriteCloser, log *slog.Logger) *recorder {
	r := &recorder{queue: make(chan proxy.Observation, recordQueue), done: make(chan error, 1), faults: proxy.NewFaultLog(log)}
	go func() {
		out := trace.NewWriter(f)
		for o := range r.queue {
			if err := out.Append(recordOf(o)); err != nil {
				r.lose(err)
			}
		}
		r.done <- f.Close()
	}()
	return r
}

// note queues o.
func (r *recorder) note(o proxy.Observation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	select {
	case r.queue <- o:
	default:
		r.loseLocked(errors.New("the disk is slower than the requests"))
	}
}

func (r *recorder) lose(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.loseLocked(err)
}

func (r *recorder) loseLocked(err error) {
	r.lost++
	r.faults.Tell(context.Background(), "the request log lacks requests", fmt.Errorf("%w; %d in all", err, r.lost))
}

// close writes what is queued.
func (r *recorder) close() error {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return nil
	}
	r.closed = true
	close(r.queue)
	r.mu.Unlock()
	if err := <-r.done; err != nil {
		return fmt.Errorf("close the request log: %w", err)
	}
	return nil
}

func recordOf(o proxy.Observation) trace.Record {
	label := func(n uint64) trace.Label {
		if n == 0 {
			return ""
		}
		return trace.Label(strconv.FormatUint(n, 10))
	}
	return trace.Record{
		ID: label(o.ID), At: o.At, Topic: label(uint64(o.Topic)), Conversation: label(o.Conversation), Parent: label(o.Parent),
		Scope: label(o.Scope), Chain: label(o.Chain), Hit: o.Hit, Turn: int32(o.Turn), Size: o.Size, Cost: float64(o.Tokens),
		Vector: o.Vector, Text: o.Prompt,
	}
}
