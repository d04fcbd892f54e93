package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"reprise/cmd/reprise/internal/config"
	"reprise/embed"
	"reprise/policy"
	"reprise/policy/registry"
	"reprise/proxy"
	"reprise/proxy/admin"
	"reprise/proxy/cache"
	"reprise/proxy/cache/shared"
	"reprise/store"
	"reprise/store/redis"
)

// sharing is the part of a service that connects it with the processes that share its store.
type sharing struct {
	*shared.Shared
	link   *redis.Shared
	name   string // among the members
	kept   *store.Store
	ended  chan struct{} // closed by part
	log    *slog.Logger
	report func(step string, err error) // of faults
}

const (
	// joinTimeout bounds the first calls of a shared store, and loadTimeout the load of its entries.
	joinTimeout, loadTimeout = 15 * time.Second, 5 * time.Minute
	// followTimeout is how long the start waits for the log; the first beat takes some milliseconds.
	followTimeout = 2 * time.Second
	// partTimeout is how long a stop waits for events to be appended to the log.
	partTimeout = 5 * time.Second
)

// join opens a store that several processes share, with their entries. Without its server the service starts all the same, with a secret
// and a process number of its own, and takes part once the server is there. purged is called after each purge of another process.
func join(ctx context.Context, cfg *config.Config, e embed.Embedder, purged func(store.Filter), log *slog.Logger) (*sharing, error) {
	faults := proxy.NewFaultLog(log)
	s := &sharing{name: memberName(cfg), log: log, ended: make(chan struct{}), report: func(step string, err error) { faults.Report(context.Background(), faultOf(step, err), err) }}
	away, err := s.open(ctx, cfg, e.Space())
	if err != nil {
		return nil, unusable(cfg, err)
	}
	for {
		err := s.load(ctx, cfg, e, away, purged)
		switch {
		case err == nil:
			return s, nil
		case away || !isAway(err):
			return nil, errors.Join(unusable(cfg, err), s.link.Close())
		}
		s.log.Warn("the entries of the shared store could not be loaded: this proxy starts without them, and tries again", "store", s.link.Name(), "error", err)
		away = true
	}
}

// open connects with the server, and agrees with the others. away: the server cannot be reached.
func (s *sharing) open(ctx context.Context, cfg *config.Config, space string) (away bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, joinTimeout)
	defer cancel()
	o := cfg.Redis()
	o.Space, o.Name = space, s.name
	s.link, err = redis.Open(ctx, o)
	if err != nil && !isAway(err) {
		return false, err
	}
	if err != nil {
		s.log.Warn("the shared store cannot be reached: this proxy starts alone, keeps answers to itself, and shares them once the store is there",
			"store", s.link.Name(), "error", err)
		return true, nil
	}
	if info, err := s.link.Info(ctx); err == nil && info.MaxMemory > 0 {
		s.check(info, cfg.CapacityBytes)
	}
	return false, nil
}

// check warns of a server whose settings do not fit the store.
func (s *sharing) check(info redis.Info, capacity int64) {
	if strings.HasPrefix(info.Policy, "allkeys") {
		s.log.Warn("the server of the shared store may evict any key when it is full, also those that all entries need: set maxmemory-policy noeviction",
			"store", s.link.Name(), "maxmemory_policy", info.Policy)
	}
	if capacity == 0 || capacity > info.MaxMemory {
		s.log.Warn("the server of the shared store is full before REPRISE_CAPACITY_BYTES is reached: lower it, or raise maxmemory to half as much again",
			"store", s.link.Name(), "maxmemory", info.MaxMemory, "capacity", capacity)
	}
}

// faultOf is the message for a fault. One that lasts until a setting is changed has a message of its own.
func faultOf(step string, err error) string {
	for _, lasting := range []error{store.ErrRefused, store.ErrSecret, store.ErrVersion} {
		if errors.Is(err, lasting) {
			return "the shared store does not accept this proxy, which goes on alone"
		}
	}
	return "shared store: " + step
}

func isAway(err error) bool {
	return errors.Is(err, redis.ErrUnreachable) || errors.Is(err, context.DeadlineExceeded)
}

// load makes this process's part of the store, with the entries of all unless the server is away.
func (s *sharing) load(ctx context.Context, cfg *config.Config, e embed.Embedder, away bool, purged func(store.Filter)) (err error) {
	ctx, cancel := context.WithTimeout(ctx, loadTimeout)
	defer cancel()
	o := cfg.Shared
	s.Shared, err = shared.New(shared.Options{
		Link:  shared.Link{Log: s.link, Group: s.link, Answers: s.link, Leases: s.link, Records: s.link.Backing()},
		Away:  !s.link.Agreed(),
		Limit: capacity(cfg), Fit: s.fit(cfg), NearBytes: o.NearBytes, QueueBytes: queueBytes(cfg), Purged: purged, OnFault: s.report,
	})
	if err != nil {
		return err
	}
	evictor, err := registry.New(cfg.Policy, cfg.PolicyOptions())
	if err != nil {
		return err
	}
	var records store.Backing = written{s.link.Backing()}
	if !away {
		if err := s.Begin(ctx); err != nil {
			return err
		}
		records = s.link.Backing()
	}
	space, dim, _ := vectors(e) // where it is not known yet, the records are read again then: see adopted
	s.kept, err = store.Open(store.Options{Evictor: evictor, Space: space, Dim: dim, Outside: true, Keeper: s, Process: s.link.Process(), Secret: s.link.Secret(),
		Backing: records, Now: s.Now, OnFault: s.report})
	return err
}

// fit lowers the capacity where what the entries take of memory, prompts and vectors above all, exceeds what the budget of the proxy leaves
// for it: otherwise new requests would be refused. It is called after the store is open.
func (s *sharing) fit(cfg *config.Config) func(policy.Limit) policy.Limit {
	most := proxy.MostEntries(cfg.MemoryLimit) - cfg.Shared.NearBytes
	return func(l policy.Limit) policy.Limit {
		if used := s.kept.Bytes(); cfg.MemoryLimit > 0 && used > most {
			l.Entries = min(l.Entries, max(int(float64(s.kept.Stats().Entries)*float64(most)/float64(used)), 1)) // 0 would be no limit
		}
		return l
	}
}

// queueBytes bounds what waits for the shared store: an eighth of the memory limit, which the budget of the proxy leaves free for such things.
func queueBytes(cfg *config.Config) int64 {
	const most = 64 << 20
	if cfg.MemoryLimit > 0 {
		return min(most, cfg.MemoryLimit/8)
	}
	return most
}

// written is a backing that is only written: its entries are loaded later.
type written struct{ store.Backing }

// Load implements store.Backing.
func (written) Load(func(store.Record) error) (store.Report, error) { return store.Report{}, nil }

// unusable is an error of the start, with the setting to change.
func unusable(cfg *config.Config, err error) error {
	for _, v := range cfg.Effective() {
		if v.Name == config.Prefix+"STORE" {
			return config.Bad("%s=%s (%s): %v", v.Name, v.Value, v.Source, err)
		}
	}
	return fmt.Errorf("%w: %w", config.ErrBad, err)
}

// begin takes part in the work of the others, and logs when that changes. Where the store was reached it waits for a moment until the log is
// followed: before that, answers of others are not served.
func (s *sharing) begin(c *cache.Cache) {
	s.Start(c)
	for end := time.Now().Add(followTimeout); s.link.Agreed() && !s.Stats().Live && time.Now().Before(end); {
		time.Sleep(5 * time.Millisecond)
	}
	go s.watch()
}

// watch logs each new state that has lasted for a second, and loads: a server that was emptied or has lost a part is seen by them alone.
func (s *sharing) watch() {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	logged, before, differ := "", "", ""
	loads, entries := int64(0), 0
	for {
		st := s.state()
		now := st.State()
		had := entries
		if entries = s.kept.Stats().Entries; st.Loads != loads {
			loads = st.Loads
			s.log.Info("shared store: the entries are loaded anew", "store", st.Store, "entries", entries, "before", had)
		}
		if settings := strings.Join(differing(s.name, st.Members), ", "); settings != differ {
			differ = settings
			s.warnUnlike(settings)
		}
		if now == before && now != logged {
			s.log.Log(context.Background(), severity(now, logged), "shared store: "+meanings[now], "store", st.Store, "members", len(st.Members))
			logged = now
		}
		before = now
		select {
		case <-tick.C:
		case <-s.ended:
			return
		}
	}
}

// warnUnlike warns of settings that differ.
func (s *sharing) warnUnlike(settings string) {
	if settings != "" {
		s.log.Warn(unlike, "settings", settings)
	}
}

// meanings are the states in words.
var meanings = map[string]string{
	"shared": "answers are shared", "loading": "the entries are being loaded", "away": "the server cannot be reached: this proxy goes on alone",
	"behind": "the log is not followed: answers of other proxies are not served",
}

func severity(state, before string) slog.Level {
	if state == "shared" || state == "loading" || before == "" {
		return slog.LevelInfo // the start has a warning of its own
	}
	return slog.LevelWarn
}

// part appends what waits, for some seconds at most, and not at all where this process has never joined. What could not be appended is lost
// to the others, which is no fault of the stop: with a server that is away it is what is to be expected. The log is not followed any more.
func (s *sharing) part(limit time.Duration) {
	close(s.ended)
	if !s.Stats().Joined {
		limit = 0
	}
	ctx, cancel := context.WithTimeout(context.Background(), min(limit, partTimeout))
	defer cancel()
	if err := s.Close(ctx); err != nil {
		s.log.Warn("stopped before everything was in the shared store", "events", s.Stats().Queued, "error", err)
	}
}

// state is what the admin API shows.
func (s *sharing) state() admin.Shared {
	return admin.Shared{Process: s.link.Process(), Store: s.link.Name(), Foreign: s.link.Foreign(), Stats: s.Stats()}
}
