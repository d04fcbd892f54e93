package admin

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"reprise/policy"
	"reprise/store"
)

// TestPurgeNotDurable: a purge that a restart may undo is a 503 that says so, and what to do.
func TestPurgeNotDurable(t *testing.T) {
	r := newRig(t, "lru")
	purge := func() (status int, body string) {
		w := r.call("POST", "http://localhost/admin/purge", `{"all":true,"dry_run":false}`, "Content-Type: application/json")
		return w.Code, w.Body.String()
	}
	if status, body := purge(); status != 200 || !gjson.Get(body, "durable").Bool() || gjson.Get(body, "error").Exists() {
		t.Errorf("%d %s", status, body)
	}
	r.proxy.disk = errors.New("no space left")
	status, body := purge()
	if status != 503 || gjson.Get(body, "durable").Raw != "false" || !gjson.Get(body, "matched").Exists() || !gjson.Get(body, "purged").Exists() {
		t.Errorf("%d %s", status, body)
	}
	if m := gjson.Get(body, "error.message").String(); !strings.Contains(m, "no space left") || !strings.Contains(m, "repeat the purge") {
		t.Errorf("message: %s", m)
	}
	r.proxy.disk = fmt.Errorf("%w: no answer", store.ErrUnconfirmed)
	if _, other := purge(); !strings.Contains(gjson.Get(other, "error.message").String(), "shared store") || strings.Contains(other, "disk") {
		t.Errorf("unconfirmed: %s", other)
	}
	if code := gjson.Get(body, "error.code").String(); code != "purge_not_durable" {
		t.Errorf("code %s", code)
	}
}

// copier copies an entry; what it returns drops the copy.
type copier func(policy.ID) (drop func())

func (c copier) Copy(_ context.Context, id policy.ID) (putBack func(context.Context) (policy.ID, error), drop func(), ok bool, err error) {
	return nil, c(id), true, nil
}

// TestUndoOfNothing: a purge that removes nothing, as one of two at once, has nothing to take back, and its copy is not held.
func TestUndoOfNothing(t *testing.T) {
	held := 0
	r := newRig(t, "lru", func(o *Options) {
		o.Undos = NewUndos(copier(func(id policy.ID) func() {
			held++
			o.Entries.(*store.Store).Remove(policy.Purged, id) // the other purge
			return func() { held-- }
		}))
	})
	e := &store.Entry{Labels: &store.Labels{}, Answer: []byte("x")}
	r.store.Put(e, r.store.Tick())
	body := r.call("POST", "http://localhost/admin/purge", fmt.Sprintf(`{"entry":%d,"dry_run":false,"undo":true}`, e.ID), "Content-Type: application/json").Body.String()
	if gjson.Get(body, "purged").Raw != "0" || gjson.Get(body, "undo").Exists() || held != 0 {
		t.Errorf("%d copies held after %s", held, body)
	}
}
