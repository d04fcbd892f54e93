package config

import (
	"fmt"
	"net"
	"path"
	"strings"

	"reprise/embed"
	"reprise/embed/model2vec"
	"reprise/embed/openai"
	"reprise/proxy"
	"reprise/proxy/upstream"
	"reprise/store/redis"
)

// NewEmbedder returns the embedder. One that calls a server has sent nothing yet: see embed.Remote.
func (c *Config) NewEmbedder() (embed.Embedder, error) {
	switch c.Embedder {
	case "builtin":
		return embed.NewBuiltin(), nil
	case "model2vec":
		static, err := model2vec.Open(c.EmbedderDir)
		if err != nil {
			return nil, Bad("REPRISE_EMBEDDER=model2vec:%s: %v", c.EmbedderDir, err)
		}
		return static, nil
	}
	remote, err := openai.New(openai.Options{BaseURL: c.EmbedderURL, Key: c.EmbedderKey, Model: c.EmbedderModel, Prefix: prefixOf(c.EmbedderModel),
		Timeout: proxy.EmbedTimeout})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBad, err)
	}
	return remote, nil
}

// prefixOf returns what the cards of two families of models ask to be put before each text: without it their vectors are worse.
func prefixOf(model string) string {
	switch name := path.Base(strings.ToLower(model)); {
	case strings.HasPrefix(name, "nomic-embed-text"):
		return "search_query: "
	case strings.HasPrefix(name, "e5-"), strings.HasPrefix(name, "multilingual-e5-") && !strings.Contains(name, "instruct"):
		return "query: "
	}
	return ""
}

// Redis returns the options of the shared store, without the space of vectors and the name of this process.
func (c *Config) Redis() redis.Options {
	o := c.Shared
	return redis.Options{URL: c.Store.Shared(), Password: o.Password, SentinelPassword: o.SentinelPassword,
		CA: o.CA, Cert: o.Cert, Key: o.Key, Prefix: o.Prefix, Secret: o.Secret}
}

// Targets returns the upstreams.
func (c *Config) Targets() (all []upstream.Target) {
	for _, u := range c.Upstreams {
		u.Salt = u.Salt || c.Routing.Hint("salt")
		all = append(all, u.Target)
	}
	return all
}

// Limits returns how long an upstream may take.
func (c *Config) Limits() upstream.Limits {
	return upstream.Limits{FirstByte: c.UpstreamTimeout, BetweenBytes: c.UpstreamTimeout}
}

// Local is the address, HOST:PORT, at which this machine reaches a listener: one on all addresses is on loopback too.
func Local(listen string) string {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return listen // the settings are refused for it
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
		if ip != nil && ip.To4() == nil {
			host = "::1"
		}
	}
	return net.JoinHostPort(host, port)
}
