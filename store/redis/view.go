package redis

import (
	"context"
	"strings"
	"time"
)

// What follows looks at a store and only reads. After New it begins none, joins none and is no member.

// Ping sends one command and returns how long its answer took. The errors are those of Open.
func (s *Shared) Ping(ctx context.Context) (time.Duration, error) {
	began := time.Now()
	if err := s.link.client().Exists(ctx, s.link.keys.head).Err(); err != nil {
		return 0, s.link.to.diagnose(err)
	}
	return time.Since(began), nil
}

// Head reports whether a store has begun, and why this process could not share it: store.ErrVersion or store.ErrSecret.
func (s *Shared) Head(ctx context.Context) (begun bool, err error) {
	head, err := s.link.client().HMGet(ctx, s.link.keys.head, "schema", "space", "check", "secret", "log").Result()
	if err != nil {
		return false, classify(err)
	}
	if head[0] == nil {
		return false, nil
	}
	return true, s.checkHead(append(head, ""))
}

// Persistence is what of the data a server finds again after a restart.
type Persistence struct {
	Log, Snapshots bool
	Unknown        bool   // the server does not show whether it makes snapshots
	Failing        string // what of it failed the last time; "": nothing
}

// Persistence asks the server for it.
func (s *Shared) Persistence(ctx context.Context) (p Persistence, err error) {
	info, err := s.link.info(ctx, "persistence")
	if err != nil {
		return p, err
	}
	p.Log = info["aof_enabled"] == "1"
	for _, name := range []string{"rdb_last_bgsave_status", "aof_last_write_status", "aof_last_bgrewrite_status"} {
		if status := info[name]; status != "" && status != "ok" && (p.Log || !strings.HasPrefix(name, "aof")) {
			p.Failing = name + ":" + status
		}
	}
	node, err := s.link.node(ctx)
	if err != nil {
		return p, err
	}
	saves, err := node.ConfigGet(ctx, "save").Result() // many do not show it to a user with few rights, and servers of providers to none
	p.Snapshots, p.Unknown = saves["save"] != "", err != nil || len(saves) == 0
	return p, nil
}
