package upstream

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"syscall"
	"time"
)

// checks is the loop of the health checks. Its zero value makes none.
type checks struct {
	c      *Client
	cancel context.CancelFunc
	now    chan struct{} // holds one: a round is wanted at once
	done   chan struct{} // closed when the loop has ended
}

// soon begins the next round at once.
func (s *checks) soon() {
	select {
	case s.now <- struct{}{}: // never, where there are no checks
	default:
	}
}

func (s *checks) close() {
	if s.cancel != nil {
		s.cancel()
		<-s.done
	}
}

// checkWait is how long a replica may take to answer a check.
const checkWait = 5 * time.Second

// begin checks the replicas of c now and then, on one goroutine until close.
func (s *checks) begin(c *Client, interval time.Duration) {
	ctx, cancel := context.WithCancel(context.Background())
	*s = checks{c: c, cancel: cancel, now: make(chan struct{}, 1), done: make(chan struct{})}
	go func() {
		defer close(s.done)
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		var since time.Time
		for ctx.Err() == nil {
			began := c.now()
			s.round(ctx, since)
			since = began
			select {
			case <-ticker.C:
			case <-s.now:
			case <-ctx.Done():
			}
		}
	}()
}

// round checks the replicas at once, except for those that have answered a request since the last round. A fallback is not checked
// unless it has a path for that: it may be an API that counts requests.
func (s *checks) round(ctx context.Context, since time.Time) {
	var wg sync.WaitGroup
	c := s.c
	for i, r := range c.replicas {
		if r.target.Fallback && r.target.Health == "" || c.board.isAlive(i, since) {
			continue
		}
		wg.Go(func() {
			fault, gone := s.fault(ctx, r)
			if ctx.Err() != nil {
				return
			}
			if gone {
				c.gone(r)
			}
			switch changed := c.board.checked(c.now(), i, fault == nil); {
			case changed && fault != nil:
				c.log.Warn("an upstream is down, and gets no requests until it passes a health check", "upstream", r.Name(), "error", fault)
			case changed:
				c.log.Info("an upstream is back", "upstream", r.Name())
			}
		})
	}
	wg.Wait()
}

// fault asks a replica whether it works and returns what is wrong with it; gone: no process listens there.
func (s *checks) fault(ctx context.Context, r *Replica) (fault error, gone bool) {
	ctx, cancel := context.WithTimeout(ctx, checkWait)
	defer cancel()
	u := r.url(&url.URL{Path: "/v1/models"})
	if path := r.target.Health; path != "" {
		u = &url.URL{Scheme: r.base.Scheme, User: r.base.User, Host: r.base.Host, Path: path}
	}
	resp, err := s.c.get(ctx, u, r.requestHeader(http.Header{}))
	if err != nil {
		return err, errors.Is(err, syscall.ECONNREFUSED)
	}
	discard(resp)
	status := resp.StatusCode
	if status/100 == 2 || r.target.Health == "" && status < http.StatusInternalServerError {
		return nil, false
	}
	return fmt.Errorf("GET %s: status %d", u.Path, status), false
}
