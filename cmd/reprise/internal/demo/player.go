// Package demo plays conversations through a proxy as real clients would, shows the progress, and prints a summary.
package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Options of a Player.
type Options struct {
	BaseURL     string // of the proxy, without /v1
	Model       string // requested, where a conversation is not a complete request and its client names none
	Concurrency int    // conversations at once
	Requests    int64  // after which it ends; 0 is no limit
	StreamEvery int64  // one of so many requests asks for a stream; 0 is none
}

// Player plays conversations: the user's turns come from the data, the assistant's are the answers of the proxy, so that the
// history grows as that of a real client. The turns of one conversation follow each other, and several conversations
// run at once.
type Player struct {
	o      Options
	client *http.Client
	sent   atomic.Int64

	mu       sync.Mutex // protects everything below
	latency  map[bool][]time.Duration
	failures int64
	failure  error // the first
}

// NewPlayer returns a player that has sent nothing yet.
func NewPlayer(o Options) *Player {
	transport := &http.Transport{MaxIdleConnsPerHost: o.Concurrency, DisableCompression: true}
	return &Player{o: o, client: &http.Client{Transport: transport}, latency: map[bool][]time.Duration{}}
}

// errEnough ends the play: Options.Requests are sent.
var errEnough = errors.New("enough requests")

// Play plays the conversations of next until io.EOF, the end of ctx, or Options.Requests. It waits for requests that are
// sent, unless ctx ends. An answer that is an error ends its conversation and is counted; Play itself returns only the errors
// of next and ctx.
func (p *Player) Play(ctx context.Context, next func() (Conversation, error)) error {
	defer p.client.CloseIdleConnections()
	var mu sync.Mutex // protects next and end
	var end error
	take := func() (c Conversation, err error) {
		mu.Lock()
		defer mu.Unlock()
		if end == nil {
			c, end = next()
		}
		return c, end
	}
	var workers sync.WaitGroup
	for range p.o.Concurrency {
		workers.Go(func() {
			for {
				c, err := take()
				if err != nil || p.play(ctx, &c) != nil {
					return
				}
			}
		})
	}
	workers.Wait()
	if end == nil || end == io.EOF {
		end = ctx.Err()
	}
	return end
}

// Sent is the number of requests sent so far.
func (p *Player) Sent() int64 { return p.sent.Load() }

// Failures is the number of requests that were answered with an error, and the first of them.
func (p *Player) Failures() (int64, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.failures, p.failure
}

// play plays one conversation. It returns only errors that end the whole play.
func (p *Player) play(ctx context.Context, c *Conversation) error {
	if c.Body != nil {
		_, err := p.ask(ctx, c.From, c.Body, false)
		return p.unlessFailed(err)
	}
	t := newTalk(p.o.Model, c)
	for i := range c.Turns {
		if err := p.turn(ctx, t, i); err != nil {
			return p.unlessFailed(err)
		}
	}
	return nil
}

// unlessFailed lets a failed request end its conversation only.
func (p *Player) unlessFailed(err error) error {
	if _, ok := errors.AsType[*failedError](err); ok {
		return nil
	}
	return err
}

// toolRounds bounds how often one turn may call tools.
const toolRounds = 3

// turn sends one message of the user and, where the model calls tools, their results.
func (p *Player) turn(ctx context.Context, t *talk, i int) error {
	t.user(i)
	for range toolRounds {
		stream := p.o.StreamEvery > 0 && p.sent.Load()%p.o.StreamEvery == p.o.StreamEvery-1 && !t.hasTools()
		body, err := t.body(i, stream)
		if err != nil {
			return err
		}
		got, err := p.ask(ctx, t.c.From, body, stream)
		if err != nil {
			return err
		}
		if t.assistant(i, got); len(got.calls) == 0 {
			return nil
		}
	}
	return nil
}

// failedError is a request whose answer is an error or not an answer of the API.
type failedError struct{ text string }

func (e *failedError) Error() string { return e.text }

// ask sends one request and reads the whole answer.
func (p *Player) ask(ctx context.Context, from Client, body []byte, stream bool) (*reply, error) {
	if n := p.sent.Add(1); p.o.Requests > 0 && n > p.o.Requests {
		p.sent.Add(-1)
		return nil, errEnough
	}
	start := time.Now()
	got, hit, err := p.exchange(ctx, from, body, stream)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil {
		if p.failures++; p.failures == 1 {
			p.failure = err
		}
		return nil, &failedError{err.Error()}
	}
	p.latency[hit] = append(p.latency[hit], time.Since(start))
	return got, nil
}

// maxReply bounds how much is read of one answer.
const maxReply = 16 << 20

func (p *Player) exchange(ctx context.Context, from Client, body []byte, stream bool) (got *reply, hit bool, err error) {
	req, err := newRequest(ctx, p.o.BaseURL, from, body)
	if err != nil {
		return nil, false, err
	}
	resp, err := p.client.Do(req)
	if err != nil {
		return nil, false, err
	}
	defer resp.Body.Close()
	in := io.LimitReader(resp.Body, maxReply)
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(in, 300))
		return nil, false, fmt.Errorf("answer %s: %s", resp.Status, text)
	}
	switch resp.Header.Get("X-Cache") {
	case "exact", "semantic", "stale":
		hit = true
	}
	if stream {
		got, err = readStream(in)
	} else {
		got, err = readWhole(in)
	}
	return got, hit, err
}
