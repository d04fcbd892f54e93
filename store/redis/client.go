package redis

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	redis "github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// link is the connection to the servers.
type link struct {
	to               target
	sentinelPassword string
	keys             keys
	foreign          atomic.Int64
	renewed          atomic.Int64 // when the clients were last made new, in nanoseconds since 1970

	mu      sync.RWMutex // protects the rest
	clients clients
}

// clients are the connections: one pool for all commands, and one connection to read the log.
type clients struct{ do, read redis.UniversalClient }

func (c clients) close() error {
	err := c.do.Close()
	if other := c.read.Close(); err == nil {
		err = other
	}
	return err
}

func newLink(to target, sentinelPassword, prefix string) *link {
	l := &link{to: to, sentinelPassword: sentinelPassword, keys: newKeys(prefix)}
	l.clients = l.newClients()
	return l
}

func (l *link) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.clients.close()
}

// newClients makes both clients. They connect at their first command.
func (l *link) newClients() clients {
	logging.Disable() // every fault is returned
	return clients{do: l.newClient(0), read: l.newClient(1)}
}

// longest bounds each answer of a server where the context of the call has no deadline.
const longest = 10 * time.Second

// newClient makes a client with so many connections to each server; 0 is the usual number. Every command obeys the deadline of its context
// and is sent once: what may be repeated is for the caller to decide.
func (l *link) newClient(size int) redis.UniversalClient {
	const dial = 2 * time.Second
	o := redis.UniversalOptions{
		Addrs: l.to.addrs, DB: l.to.db, MasterName: l.to.master, Username: l.to.user, Password: l.to.password, SentinelPassword: l.sentinelPassword,
		TLSConfig: l.to.secure, Protocol: 2, MaxRetries: -1, DialTimeout: dial, DialerRetries: 1, ReadTimeout: longest, WriteTimeout: longest,
		ContextTimeoutEnabled: true, PoolSize: size, DisableIdentity: true, IsClusterMode: l.to.mode == cluster,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	}
	switch l.to.mode {
	case cluster:
		c := o.Cluster()
		c.DisableRoutingPolicies = true // all keys are in one slot
		return redis.NewClusterClient(c)
	case sentinel:
		return redis.NewFailoverClient(o.Failover())
	}
	return redis.NewClient(o.Simple())
}

// client is the one for commands.
func (l *link) client() redis.UniversalClient {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.clients.do
}

func (l *link) reader() redis.UniversalClient {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.clients.read
}

// seen looks at the error of a command and returns it.
func (l *link) seen(err error) error {
	var answered redis.Error
	if errors.As(err, &answered) && strings.Contains(err.Error(), readOnlyReply) {
		l.renew()
	}
	return err
}

// readOnlyReply is in what a server answers that has become a replica, in any of the wordings of versions and scripts.
const readOnlyReply = "READONLY"

// renew makes both clients again, once a second at most: the server has become a replica, and its open connections stay there while the name of
// the host may lead to the new primary already.
func (l *link) renew() {
	now, last := time.Now().UnixNano(), l.renewed.Load()
	if now-last < int64(time.Second) || !l.renewed.CompareAndSwap(last, now) {
		return
	}
	fresh := l.newClients()
	l.mu.Lock()
	old := l.clients
	l.clients = fresh
	l.mu.Unlock()
	old.close()
}

// run runs a script by its digest, and sends its text where the server does not have it.
func (l *link) run(ctx context.Context, script *redis.Script, keys []string, args ...any) (any, error) {
	v, err := script.Run(ctx, l.client(), keys, args...).Result()
	return v, l.seen(err)
}

// countForeign adds what a script has counted.
func (l *link) countForeign(n string) {
	if n, err := strconv.ParseInt(n, 10, 64); err == nil {
		l.foreign.Add(n)
	}
}
