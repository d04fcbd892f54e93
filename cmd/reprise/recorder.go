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

// recorder writes the request log (REPRISE_RECORD) in a goroutine of its own. No request waits for the disk: if the queue is
// full, the request is left out of the log and counted.
type recorder struct {
	queue chan proxy.Observation
	done  chan error // result of the writer, sent after the queue was closed and emptied

	lost   atomic.Int64
	faults *proxy.FaultLog
	log    *slog.Logger

	mu     sync.Mutex // protects closed, and keeps close from closing the queue while queued sends to it
	closed bool
}

// recordQueue is how many requests may wait to be written: a few megabytes of vectors at most.
const recordQueue = 1024

// openRecorder opens the request log at path for appending.
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

// note queues o, or counts it as lost.
func (r *recorder) note(o proxy.Observation) {
	if !r.queued(o) {
		r.lose(errSlowDisk)
	}
}

// queued reports whether o was queued, or came after close.
func (r *recorder) queued(o proxy.Observation) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return true // the request ended after the service was closed
	}
	select {
	case r.queue <- o:
		return true
	default:
		return false
	}
}

// lose counts and logs a request that is missing from the log.
func (r *recorder) lose(err error) {
	r.faults.Report(context.Background(), "the request log lacks requests", fmt.Errorf("%w; %d in all", err, r.lost.Add(1)))
}

// closeTimeout is how long close waits for the disk, or for the reader of a pipe.
const closeTimeout = 5 * time.Second

var errStuck = errors.New("the file takes nothing more")

// close writes the queued requests and closes the file. It gives up after closeTimeout.
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
	case <-time.After(closeTimeout):
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

// recordOf returns the line of the request log for o.
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
