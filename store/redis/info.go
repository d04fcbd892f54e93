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

// Info asks the server that has the store: of a cluster the node of its slot.
func (s *Shared) Info(ctx context.Context) (i Info, err error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	server, err := s.info(ctx, "server")
	if err != nil {
		return i, s.seen(err)
	}
	memory, err := s.info(ctx, "memory")
	if err != nil {
		return i, s.seen(err)
	}
	i.Version, i.Policy = server["redis_version"], memory["maxmemory_policy"]
	if v := server["valkey_version"]; v != "" {
		i.Version = "Valkey " + v
	}
	i.MaxMemory, _ = strconv.ParseInt(memory["maxmemory"], 10, 64)
	i.Used, _ = strconv.ParseInt(memory["used_memory"], 10, 64)
	return i, nil
}

// info is one section of INFO.
func (l *link) info(ctx context.Context, section string) (map[string]string, error) {
	var text string
	var err error
	if c, ok := l.client().(*redis.ClusterClient); ok {
		var node *redis.Client
		if node, err = c.MasterForKey(ctx, l.keys.head); err == nil {
			text, err = node.Info(ctx, section).Result()
		}
	} else {
		text, err = l.client().Info(ctx, section).Result()
	}
	values := map[string]string{}
	for line := range strings.SplitSeq(text, "\n") {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			values[name] = value
		}
	}
	return values, err
}
