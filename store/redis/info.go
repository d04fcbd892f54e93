package redis

import (
	"context"
	"strconv"
	"strings"

	redis "github.com/redis/go-redis/v9"
)

// Info is what a server says about itself.
type Info struct {
	Version   string
	MaxMemory int64  // bytes; 0 is no limit
	Policy    string // of eviction by the server itself
	Used      int64  // bytes
}

// Info asks the server that has the store: of a cluster the node of its slot. store.ErrRefused says why that cannot hold a store.
func (s *Shared) Info(ctx context.Context) (i Info, err error) {
	server, err := s.link.info(ctx, "server")
	if err != nil {
		return i, s.link.seen(err)
	}
	if err := s.link.fits(server); err != nil {
		return i, err
	}
	memory, err := s.link.info(ctx, "memory")
	if err != nil {
		return i, s.link.seen(err)
	}
	i.Version, i.Policy = server["redis_version"], memory["maxmemory_policy"]
	if v := server["valkey_version"]; v != "" {
		i.Version = "Valkey " + v
	}
	i.MaxMemory, _ = strconv.ParseInt(memory["maxmemory"], 10, 64)
	i.Used, _ = strconv.ParseInt(memory["used_memory"], 10, 64)
	return i, nil
}

// node is the connection to the server that has the store: of a cluster the node of its slot.
func (l *link) node(ctx context.Context) (redis.Cmdable, error) {
	if c, ok := l.client().(*redis.ClusterClient); ok {
		return c.MasterForKey(ctx, l.keys.head)
	}
	return l.client(), nil
}

// info is one section of INFO.
func (l *link) info(ctx context.Context, section string) (map[string]string, error) {
	node, err := l.node(ctx)
	if err != nil {
		return nil, err
	}
	text, err := node.Info(ctx, section).Result()
	values := map[string]string{}
	for line := range strings.SplitSeq(text, "\n") {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			values[name] = value
		}
	}
	return values, err
}
