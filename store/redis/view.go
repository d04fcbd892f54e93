package redis

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// View looks at a shared store and only reads: it begins none, joins none and is no member.
type View struct{ of *Shared }

// NewView connects at the first call. The error is store.ErrRefused: the options cannot be used.
func NewView(o Options) (*View, error) {
	s, err := newShared(o)
	if err != nil {
		return nil, err
	}
	return &View{s}, nil
}

// Close closes the connections.
func (v *View) Close() error { return v.of.link.close() }

// Name is where the store is, without credentials.
func (v *View) Name() string { return v.of.Name() }

// Ping sends one command and returns how long its answer took. The errors are those of Open.
func (v *View) Ping(ctx context.Context) (time.Duration, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	began := time.Now()
	if err := v.of.link.client().Exists(ctx, v.of.link.keys.head).Err(); err != nil {
		return 0, v.of.link.to.diagnose(err)
	}
	return time.Since(began), nil
}

// Server returns why the server cannot hold a store: its version, or what it is a part of.
func (v *View) Server(ctx context.Context) error {
	ctx, cancel := bounded(ctx)
	defer cancel()
	return v.of.link.checkServer(ctx)
}

// Info asks the server that has the store: of a cluster the node of its slot.
func (v *View) Info(ctx context.Context) (Info, error) { return v.of.Info(ctx) }

// Head reports whether a store has begun, and why this process could not share it: store.ErrVersion or store.ErrSecret.
func (v *View) Head(ctx context.Context) (begun bool, err error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	head, err := v.of.link.client().HMGet(ctx, v.of.link.keys.head, "schema", "space", "check", "secret", "log").Result()
	if err != nil {
		return false, classify(err)
	}
	if head[0] == nil {
		return false, nil
	}
	return true, v.of.checkHead(append(head, ""))
}

// Persistence is what of the data a server finds again after a restart.
type Persistence struct {
	Log, Snapshots bool
	Unknown        bool   // the server does not show whether it makes snapshots
	Failing        string // what of it failed the last time; "": nothing
}

// Persistence asks the server for it.
func (v *View) Persistence(ctx context.Context) (p Persistence, err error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	info, err := v.of.link.info(ctx, "persistence")
	if err != nil {
		return p, err
	}
	p.Log = info["aof_enabled"] == "1"
	for _, name := range []string{"rdb_last_bgsave_status", "aof_last_write_status", "aof_last_bgrewrite_status"} {
		if status := info[name]; status != "" && status != "ok" && (p.Log || !strings.HasPrefix(name, "aof")) {
			p.Failing = name + ":" + status
		}
	}
	saves, err := v.of.link.setting(ctx, "save")
	p.Snapshots, p.Unknown = saves != "", err != nil
	return p, nil
}

// setting is a setting of the server. Many do not show them to a user with few rights, and servers of providers to none.
func (l *link) setting(ctx context.Context, name string) (string, error) {
	node, err := l.node(ctx)
	if err != nil {
		return "", err
	}
	values, err := node.ConfigGet(ctx, name).Result()
	if v, ok := values[name]; ok || err != nil {
		return v, err
	}
	return "", fmt.Errorf("read setting %s: %w", name, errors.ErrUnsupported)
}
