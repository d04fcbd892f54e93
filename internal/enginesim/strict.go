package enginesim

import (
	"slices"

	"reprise/internal/enginesim/strict"
)

// reportsUsage are the upstreams whose streams report their usage without being asked, in the chunk with the finish reason.
var reportsUsage = []string{"fireworks", "mistral"}

// kind returns the kind of upstream that the engine behaves as, nil where it takes every field. An unknown name panics.
func (o *Options) kind() *strict.Upstream {
	if o.Strict == "" {
		return nil
	}
	u, err := strict.New(o.Strict)
	if err != nil {
		panic("enginesim: " + err.Error())
	}
	return &u
}

// receive refuses what the engine's kind of upstream refuses, and drops the headers that it drops.
func (e *Engine) receive(c *call) error {
	if e.kind == nil {
		return nil
	}
	got := e.kind.Check(strict.Request{Path: c.req.URL.Path, Header: c.req.Header, Body: c.body})
	for _, name := range got.Dropped {
		if name != FaultHeader {
			c.req.Header.Del(name)
		}
	}
	c.usage = slices.Contains(reportsUsage, e.o.Strict)
	e.mu.Lock()
	defer e.mu.Unlock()
	if got.Status == 0 {
		return nil
	}
	e.stats.Refused++
	return &apiError{Status: got.Status, Message: "refused", own: got.Body}
}
