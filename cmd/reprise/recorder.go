package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"reprise/policy/sim/trace"
	"reprise/proxy"
)

// recorder writes the request log (REPRISE_RECORD) behind the requests. What a slow disk cannot take is left out of the log
// and counted; no request waits for it.
type recorder struct {
	queue chan proxy.Observation
	done  chan error // of the writer, when the queue is closed and empty

	lost   atomic.Int64
	faults *proxy.FaultLog
	log    *slog.Logger

	mu     sync.Mutex // protects closed, and the queue from being closed under a sender
	closed bool
}

// recordQueue is how many requests may wait to be written: some megabytes of vectors at the most.
const recordQueue = 1024

// openRecorder appends to the file at path.
func openRecorder(path string, log *slog.Logger) (*recorder, error) {
	f, err := openRecordFile(path)
	if err != nil {
		return nil, fmt.Errorf("open the request log: %w (REPRISE_RECORD says where it is)", err)
	}
	return newRecorder(f, log), nil
}

func newRecorder(f io.WriteCloser, log *slog.Logger) *recorder {
	r := &recorder{queue: make(chan proxy.Observation, recordQueue), done: make(chan error, 1), faults: proxy.NewFaultLog(log), log: log}
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

var errSlowDisk = errors.New("the disk is slower than the requests")

// note queues o.
func (r *recorder) note(o proxy.Observation) {
	if !r.queued(o) {
		r.lose(errSlowDisk)
	}
}

func (r *recorder) queued(o proxy.Observation) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return true // a request that ends behind the end of the service
	}
	select {
	case r.queue <- o:
		return true
	default:
		return false
	}
}

func (r *recorder) lose(err error) {
	r.faults.Tell(context.Background(), "the request log lacks requests", fmt.Errorf("%w; %d in all", err, r.lost.Add(1)))
}

// lastWrites is how long close waits for a disk, or for who reads a pipe.
const lastWrites = 5 * time.Second

var errStuck = errors.New("the file takes nothing more")

// close writes what is queued, as long as the file takes it.
func (r *recorder) close() error {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return nil
	}
	r.closed = true
	close(r.queue)
	r.mu.Unlock()
	var err error
	select {
	case err = <-r.done:
	case <-time.After(lastWrites):
		err = errStuck
	}
	if lost := r.lost.Load(); lost > 0 {
		r.log.Warn("the request log was left with gaps", "lost", lost)
	}
	if err != nil {
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
