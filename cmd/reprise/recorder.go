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

	"reprise/internal/traffic"
	"reprise/proxy"
	"reprise/proxy/cache"
	"reprise/store"
)

// recorder writes the request log (REPRISE_RECORD) in a goroutine of its own. No request waits for the disk: if the queue is
// full, the request is left out of the log and counted.
type recorder struct {
	queue chan traffic.Record
	done  chan error // result of the writer, sent after the queue was closed and emptied

	prompts bool // are written
	lost    atomic.Int64
	faults  *proxy.FaultLog
	log     *slog.Logger

	mu     sync.Mutex // protects closed, and keeps close from closing the queue while queued sends to it
	closed bool
}

// recordQueue is how many requests may wait to be written: a few megabytes of vectors at most.
const recordQueue = 1024

// openRecorder opens the request log at path for appending.
func openRecorder(path string, prompts bool, log *slog.Logger) (*recorder, error) {
	f, err := openRecordFile(path)
	if err != nil {
		return nil, fmt.Errorf("open the request log: %w (REPRISE_RECORD says where it is)", err)
	}
	r := newRecorder(f, log)
	r.prompts = prompts
	return r, nil
}

func newRecorder(f io.WriteCloser, log *slog.Logger) *recorder {
	r := &recorder{queue: make(chan traffic.Record, recordQueue), done: make(chan error, 1), faults: proxy.NewFaultLog(log), log: log}
	go func() {
		out := traffic.NewWriter(f)
		for line := range r.queue {
			if err := out.Append(line); err != nil {
				r.lose(err)
			}
		}
		r.done <- f.Close()
	}()
	return r
}

var errSlowDisk = errors.New("the disk is slower than the requests")

// Read implements cache.Reader: it queues the record of every request that an entry answered, and of every answer that was given to
// the store, whether or not the policy has kept it.
func (r *recorder) Read(ev *cache.Event, by *cache.Cause) {
	if by != nil && (ev.Kind == store.EventInsert || ev.Kind == store.EventUse) {
		r.append(r.recordOf(ev, by))
	}
}

// append queues a record, or counts it as lost.
func (r *recorder) append(line traffic.Record) {
	if !r.queued(line) {
		r.lose(errSlowDisk)
	}
}

// queued reports whether a record was queued, or came after close.
func (r *recorder) queued(line traffic.Record) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return true // the request ended after the service was closed
	}
	select {
	case r.queue <- line:
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

// recordOf describes a request and its entry: all that another policy would need to decide on the same request. A request that was
// answered by meaning has the id of the entry that answered.
func (r *recorder) recordOf(ev *cache.Event, by *cache.Cause) traffic.Record {
	e, conversation := ev.Entry, by.Key
	if len(by.Turns) > 0 {
		conversation = by.Turns[0].Key
	}
	line := traffic.Record{
		ID: label(e.Key.Short()), At: by.At.At, Topic: label(uint64(e.Topic)), Conversation: label(conversation.Short()), Parent: label(by.ParentKey),
		Scope: label(store.Key(e.Scope).Short()), Chain: label(store.Key(e.Chain).Short()), Hit: ev.Kind == store.EventUse,
		Turn: int32(len(by.Turns)), Size: e.Size, Cost: float64(e.InputTokens + e.OutputTokens), Vector: ev.Vector,
	}
	if r.prompts && e.Prompt != "" {
		line.Text = by.Prompt
	}
	return line
}

func label(n uint64) traffic.Label {
	if n == 0 {
		return ""
	}
	return traffic.Label(strconv.FormatUint(n, 10))
}
