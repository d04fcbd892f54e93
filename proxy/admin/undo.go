package admin

import (
	"context"
	"crypto/rand"
	"net/http"
	"sync"
	"time"

	"reprise/policy"
	"reprise/proxy/internal/apierror"
)

// undoTime is how long a purge of one entry may be taken back where its caller has asked for that.
const undoTime = 10 * time.Second

// Copier copies an entry that is about to be purged; ok is false if there is no such entry. The caller calls one of the two functions once:
// putBack stores the entry again under a new id and returns an error that is shown as it is; drop frees the copy.
type Copier interface {
	Copy(ctx context.Context, id policy.ID) (putBack func(context.Context) (policy.ID, error), drop func(), ok bool, err error)
}

// copied is a copy of an entry.
type copied struct {
	putBack func(context.Context) (policy.ID, error)
	drop    func()
}

// mostCopies are kept at once: each has a whole answer in memory.
const mostCopies = 64

// Undos are copies of entries that were purged, and can be put back for a moment. The purge has been made: nothing serves them. They belong to the
// cache, and stay where another handler takes the place of the one that has made the purge. All methods are safe for concurrent use.
type Undos struct {
	of Copier

	mu  sync.Mutex // protects all
	all map[string]copied
}

// NewUndos keeps what c copies.
func NewUndos(c Copier) *Undos { return &Undos{of: c, all: map[string]copied{}} }

// keep copies an entry before its purge, and returns the name under which it can be put back; "" where there is no such entry.
func (c *Undos) keep(ctx context.Context, id policy.ID) (name string, err error) {
	if c == nil {
		return "", apierror.BadRequest("invalid_undo", `A purge cannot be taken back here: leave out "undo".`)
	}
	var one copied
	var ok bool
	one.putBack, one.drop, ok, err = c.of.Copy(ctx, id)
	if err != nil || !ok {
		return "", err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.all) >= mostCopies {
		one.drop()
		return "", &apierror.Error{Status: http.StatusServiceUnavailable, Type: apierror.TypeCache, Code: "too_many_undos",
			Message: `Too many purges of the last ten seconds can be taken back: leave out "undo", or try again in a moment. Nothing was purged.`}
	}
	name = rand.Text()
	c.all[name] = one
	time.AfterFunc(undoTime, func() { c.drop(name) })
	return name, nil
}

// drop forgets a copy, if it is still there.
func (c *Undos) drop(name string) {
	if one, ok := c.take(name); ok {
		one.drop()
	}
}

// take returns a copy, once; false where it is too late.
func (c *Undos) take(name string) (one copied, ok bool) {
	if c == nil {
		return one, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	one, ok = c.all[name]
	delete(c.all, name)
	return one, ok
}

// undoPurge puts back an entry that was purged, within undoTime.
func (c *Undos) undoPurge(r *http.Request) (any, error) {
	var req struct {
		Undo string `json:"undo"`
	}
	if err := readObject(r, "an undo", []string{"undo"}, &req, `Give an object with undo, as the purge has returned it.`); err != nil {
		return nil, err
	}
	one, ok := c.take(req.Undo)
	if !ok {
		return nil, &apierror.Error{Status: http.StatusNotFound, Type: apierror.TypeInvalidRequest, Code: "too_late",
			Message: "There is no purge to take back under this name: that is possible once, for ten seconds."}
	}
	id, err := one.putBack(r.Context())
	if err != nil {
		return nil, err
	}
	return map[string]any{"entry": id, "restored": true}, nil
}
