package upstream

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"reprise/proxy/upstream/kvevents"
	"reprise/proxy/upstream/prefix"
)

// learning is what goes on beside requests: engines publish events of their KV blocks, and the size of their cache.
type learning struct {
	c      *Client
	cancel context.CancelFunc // nil: nothing goes on
	wg     sync.WaitGroup
}

func (l *learning) close() {
	if l.cancel != nil {
		l.cancel()
		l.wg.Wait()
	}
}

// learn begins to follow the replicas of c that publish anything, until close.
func (l *learning) learn(c *Client) error {
	ctx, cancel := context.WithCancel(context.Background())
	l.c, l.cancel = c, cancel
	for _, r := range c.replicas {
		if t := &r.target; t.Events != "" {
			var err error
			r.events, err = kvevents.New(kvevents.Options{Events: t.Events, Replay: t.Replay, Sink: member{c.fleet, r.place}, Logger: c.log})
			if err != nil {
				cancel()
				return fmt.Errorf("upstream %s: %w", t.name(), err)
			}
			l.wg.Go(func() { r.events.Run(ctx) })
		}
		if r.target.Metrics != "" && r.target.Capacity == 0 {
			l.wg.Go(func() { l.readCapacity(ctx, r) })
		}
	}
	return nil
}

// member corrects what the fleet has of one member.
type member struct {
	fleet *prefix.Fleet
	place int
}

func (s member) Removed(blocks []prefix.Block) { s.fleet.Removed(s.place, blocks) }
func (s member) Cleared()                      { s.fleet.Cleared(s.place) }

// The times between two readings of a replica's metrics: until the first success, and then. The size of a cache changes with a restart.
const (
	capacityRetry = 5 * time.Second
	capacityEvery = time.Minute
)

// readCapacity reads the size of a replica's cache from its metrics now and then.
func (l *learning) readCapacity(ctx context.Context, r *Replica) {
	warned := false
	for ctx.Err() == nil {
		wait := capacityEvery
		tokens, err := l.capacity(ctx, r)
		switch {
		case err == nil:
			l.c.fleet.SetCapacity(r.place, tokens)
		case ctx.Err() == nil && !warned:
			l.c.log.Warn("the size of an upstream's KV cache cannot be read", "upstream", r.Name(), "error", err)
			warned = true
			fallthrough
		default:
			wait = capacityRetry
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
	}
}

// mostMetrics is how much of a replica's metrics is read.
const mostMetrics = 8 << 20

// capacity reads the size of a replica's KV cache in tokens. The replica's credential is not sent to another host.
func (l *learning) capacity(ctx context.Context, r *Replica) (tokens int, err error) {
	ctx, cancel := context.WithTimeout(ctx, checkWait)
	defer cancel()
	u, err := url.Parse(r.target.Metrics)
	if err != nil {
		return 0, err
	}
	h := http.Header{}
	if u.Host == "" || u.Scheme == r.base.Scheme && u.Host == r.base.Host {
		h = r.requestHeader(h)
	}
	u.Scheme, u.Host = cmp.Or(u.Scheme, r.base.Scheme), cmp.Or(u.Host, r.base.Host)
	resp, err := l.c.get(ctx, u, h)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, mostMetrics))
	if err != nil {
		return 0, err
	}
	tokens, ok := kvevents.Capacity(text)
	if resp.StatusCode != http.StatusOK || !ok {
		return 0, fmt.Errorf("%s (status %d) has neither vllm:cache_config_info nor sglang:max_total_num_tokens", u.Redacted(), resp.StatusCode)
	}
	return tokens, nil
}

// validateSources returns what is wrong with the addresses at which the target publishes anything.
func (t *Target) validateSources() error {
	if t.Events != "" {
		if err := (kvevents.Options{Events: t.Events, Replay: t.Replay}).Validate(); err != nil {
			return fmt.Errorf("upstream %s: events: %w", t.name(), err)
		}
	} else if t.Replay != "" {
		return fmt.Errorf("upstream %s: replay %q has no effect without events", t.name(), t.Replay)
	}
	if t.Metrics == "" || strings.HasPrefix(t.Metrics, "/") {
		return nil
	}
	if u, err := url.Parse(t.Metrics); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return fmt.Errorf("upstream %s: metrics %q is neither a path such as /metrics nor a URL", t.name(), t.Metrics)
	}
	return nil
}
