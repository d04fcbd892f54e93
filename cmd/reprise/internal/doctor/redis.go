package doctor

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"reprise/cmd/internal/cli"
	"reprise/proxy/cache/shared"
	"reprise/store"
	"reprise/store/redis"
)

// pings is how often Redis is asked for its latency.
const pings = 15

// sharedStore is the Redis of the store, and what the checks have found of it.
type sharedStore struct {
	x    *exam
	view *redis.Shared
	info redis.Info
}

// redis plans the checks of a store that several proxies share.
func (x *exam) redis(values *check) {
	s := &sharedStore{x: x}
	x.ends = append(x.ends, func() {
		if s.view != nil {
			s.view.Close()
		}
	})
	connection := x.plan.add("redis.connection", s.connection, values)
	version := x.plan.add("redis.version", s.version, connection)
	x.plan.add("redis.schema", s.schema, version)
	x.plan.add("redis.latency", s.latency, version)
	x.plan.add("redis.memory", s.memory, version)
	x.plan.add("redis.persistence", s.persistence, version)
}

func (s *sharedStore) connection(ctx context.Context) finding {
	if s.x.cfg.Store.Shared() == "" {
		return skipped("REPRISE_STORE is not a Redis")
	}
	var err error
	if s.view, err = redis.New(s.x.cfg.Redis()); err != nil {
		return failure("Correct the settings of Redis.", "%v", err)
	}
	took, err := s.view.Ping(ctx)
	if err != nil {
		return failure("See whether the server runs, whether this machine may reach it, and whether it accepts the credential.", "%s: %v", s.view.Name(), err)
	}
	return ok("%s, in %v", s.view.Name(), rounded(took))
}

func (s *sharedStore) version(ctx context.Context) finding {
	var err error
	if s.info, err = s.view.Info(ctx); err != nil {
		return failure("Run Redis 6.2 or later, or Valkey 7.2 or later.", "%v", err)
	}
	return ok("%s", s.info.Version)
}

// schema looks whether this proxy can share what is there.
func (s *sharedStore) schema(ctx context.Context) finding {
	begun, err := s.view.Head(ctx)
	switch {
	case errors.Is(err, store.ErrVersion), errors.Is(err, store.ErrSecret):
		return failure("Give all proxies of the cache one version of the program and one REPRISE_SECRET, or this one another REPRISE_REDIS_PREFIX.", "%v", err)
	case err != nil:
		return failure("See the rights of the user, and the state of the server.", "%v", err)
	case !begun:
		return ok("no store there yet")
	}
	return ok("that of this program")
}

func (s *sharedStore) latency(ctx context.Context) finding {
	var times []time.Duration
	for began := time.Now(); len(times) < pings && time.Since(began) < 2*time.Second; {
		took, err := s.view.Ping(ctx)
		if err != nil {
			return failure("See the network between this machine and the server.", "%v", err)
		}
		times = append(times, took)
	}
	slices.Sort(times)
	const limit = shared.FetchTimeout
	const repair = "Bring Redis nearer to the proxy: requests wait for its answers."
	median := times[len(times)/2]
	switch {
	case median > limit:
		return failure(repair, "an answer takes %v, more than the %v after which the request is a miss", rounded(median), limit)
	case median > limit/2:
		return warning(repair, "an answer takes %v, more than half of the %v after which a request is a miss", rounded(median), limit)
	}
	return ok("%v for an answer", rounded(median))
}

// memory looks at who evicts, and whether the capacity fits.
func (s *sharedStore) memory(context.Context) finding {
	i, capacity := s.info, s.x.cfg.CapacityBytes
	switch {
	case i.MaxMemory == 0:
		return ok("no limit")
	case strings.HasPrefix(i.Policy, "allkeys"):
		return warning("Set maxmemory-policy noeviction: the proxies decide what is evicted.", "its maxmemory-policy is %s, and it may evict any key", i.Policy)
	case capacity > i.MaxMemory:
		return warning("Lower REPRISE_CAPACITY_BYTES, or raise maxmemory to half as much again.",
			"its maxmemory is %s, and REPRISE_CAPACITY_BYTES %s", cli.Bytes(i.MaxMemory), cli.Bytes(capacity))
	}
	return ok("%s, %s", cli.Bytes(i.MaxMemory), i.Policy)
}

func (s *sharedStore) persistence(ctx context.Context) finding {
	p, err := s.view.Persistence(ctx)
	switch {
	case err != nil:
		return skipped("the server does not show it: %v", err)
	case p.Failing != "":
		return failure("See the log of the server: a disk that is full, or a folder that it may not write.", "its last write to the disk failed (%s)", p.Failing)
	case p.Log:
		return ok("an append-only file")
	case p.Unknown:
		return ok("no append-only file; whether it makes snapshots it does not show")
	case p.Snapshots:
		return ok("snapshots")
	}
	return warning("Set appendonly yes, or save, where the cache is to survive a restart of Redis.", "it writes nothing to its disk")
}
