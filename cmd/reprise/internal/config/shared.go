package config

import (
	"crypto/x509"
	"os"
	"strings"
	"time"
)

// Shared is what concerns a store that several processes share. Without such a store it has no effect.
type Shared struct {
	Username, Password string // beside those in the URL
	SentinelPassword   string
	CA, Cert, Key      string // files; empty: the system's authorities, no certificate of our own
	ServerName         string // empty: the host's
	Prefix             string // of every key
	Timeout            time.Duration
	Secret             string // empty: the first process draws one
	NearBytes          int64
	Grace              time.Duration
	Flights            bool
}

// leastSecret is the least length of a secret with which tenants are digested.
const leastSecret = 16

func (c *Shared) settings() []Setting {
	return []Setting{
		{Name: "REDIS_USERNAME", Serve: true, Allowed: "a name without white space", Help: "ACL user of the Redis server, where REPRISE_STORE has none", parse: secret(&c.Username, 1)},
		{Name: "REDIS_PASSWORD", Serve: true, Secret: true, Allowed: "a password without white space", Help: "its password, where REPRISE_STORE has none", parse: secret(&c.Password, 1)},
		{Name: "REDIS_SENTINEL_PASSWORD", Serve: true, Secret: true, Allowed: "a password without white space", Help: "password of the sentinels", parse: secret(&c.SentinelPassword, 1)},
		{Name: "REDIS_CA", Serve: true, Allowed: "a readable PEM file of certificates", Help: "authorities that vouch for the Redis server; unset, the system's", parse: authorities(&c.CA)},
		{Name: "REDIS_CERT", Serve: true, Allowed: "a readable PEM file, together with REPRISE_REDIS_KEY", Help: "certificate chain that the Redis server asks for", parse: file(&c.Cert)},
		{Name: "REDIS_KEY", Serve: true, Allowed: "a readable PEM file, together with REPRISE_REDIS_CERT", Help: "private key of that certificate", parse: file(&c.Key)},
		{Name: "REDIS_SERVER_NAME", Serve: true, Allowed: "a host's name", Help: "name in the certificate of the Redis server; unset, the host in REPRISE_STORE", parse: secret(&c.ServerName, 1)},
		{Name: "REDIS_PREFIX", Serve: true, Default: "reprise", Allowed: "1 to 64 letters, digits and -_.:", Help: "beginning of every key, so that several caches can use one Redis server; proxies with one prefix share one cache", parse: prefix(&c.Prefix)},
		{Name: "REDIS_TIMEOUT", Serve: true, Default: "20ms", Allowed: "a duration from 1ms to 1s", Help: "time for one answer to come from Redis, after which the request is a miss", parse: within(&c.Timeout, time.Millisecond, time.Second)},
		{Name: "SECRET", Serve: true, Secret: true, Allowed: "16 characters or more", Help: "key with which tenants are digested and named to upstreams, equal in all proxies of one cache or in front of the same upstreams; unset, the first one draws it and keeps it in the store", parse: secret(&c.Secret, leastSecret)},
		{Name: "NEAR_BYTES", Serve: true, Default: "64MiB", Allowed: "a size of 1MiB or more, at most a quarter of REPRISE_MEMORY_LIMIT, to which the default is lowered", Help: "memory for answers that Redis has too", parse: size(&c.NearBytes, 1<<20)},
		{Name: "SHARED_GRACE", Serve: true, Default: "1s", Allowed: "a duration from 500ms to 1m", Help: "silence of Redis after which stored answers of other proxies are not served, because a purge could have been missed; equal in all proxies of one cache", parse: within(&c.Grace, 500*time.Millisecond, time.Minute)},
		{Name: "SHARED_FLIGHTS", Serve: true, Default: "false", Toggle: true, Allowed: "true or false", Help: "equal requests at several proxies wait for one upstream call", parse: boolean(&c.Flights)},
	}
}

// prefix reads the beginning of the keys. Braces would choose the slot of a cluster, which all keys of a cache share.
func prefix(to *string) func(string) error {
	return func(v string) error {
		odd := func(r rune) bool {
			return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("-_.:", r))
		}
		if v == "" || len(v) > 64 || strings.ContainsFunc(v, odd) {
			return errNotAllowed
		}
		*to = v
		return nil
	}
}

// within is a duration between two others, both allowed.
func within(to *time.Duration, least, most time.Duration) func(string) error {
	parse := duration(to, above)
	return func(v string) error {
		if err := parse(v); err != nil || *to < least || *to > most {
			return errNotAllowed
		}
		return nil
	}
}

// authorities is a file with at least one certificate.
func authorities(to *string) func(string) error {
	return func(v string) error {
		pem, err := os.ReadFile(v)
		if err != nil {
			return errUse(err.Error())
		}
		if !x509.NewCertPool().AppendCertsFromPEM(pem) {
			return errUse("the file has no certificate")
		}
		*to = v
		return nil
	}
}

// onlyShared are the settings without effect where no store is shared.
var onlyShared = []string{"REDIS_USERNAME", "REDIS_PASSWORD", "REDIS_SENTINEL_PASSWORD", "REDIS_CA", "REDIS_CERT", "REDIS_KEY", "REDIS_SERVER_NAME", "REDIS_PREFIX",
	"REDIS_TIMEOUT", "NEAR_BYTES", "SHARED_GRACE", "SHARED_FLIGHTS"}

// sharedProblems finds settings of a shared store that contradict each other. Without such a store they are idle.
func sharedProblems(c *Config, bad func(format string, args ...any)) {
	if c.Store.Shared() == "" {
		return
	}
	if (c.Shared.Cert == "") != (c.Shared.Key == "") {
		bad("REPRISE_REDIS_CERT and REPRISE_REDIS_KEY go together: only one of them is set")
	} else if err := checkPair(c.Shared.Cert, c.Shared.Key); err != nil {
		bad("%s and %s: %v", c.shown("REDIS_CERT"), c.shown("REDIS_KEY"), err)
	}
	for _, name := range []string{"REDIS_CA", "REDIS_CERT", "REDIS_SERVER_NAME"} {
		if !c.Store.Secure() && isSet(c, name) {
			bad("%s is for TLS, and %s is without it: begin the second with rediss, or leave out the first", c.shown(name), c.shown("STORE"))
		}
	}
	if c.Shared.SentinelPassword != "" && !c.Store.Watched() {
		bad("%s is for sentinels, and %s has none: leave out the first, or name the sentinels", c.shown("REDIS_SENTINEL_PASSWORD"), c.shown("STORE"))
	}
}

// idleShared returns a sentence for each setting of a shared store where there is none.
func idleShared(c *Config) (sentences []string) {
	if c.Store.Shared() != "" {
		return nil
	}
	for _, name := range onlyShared {
		if isSet(c, name) {
			sentences = append(sentences, c.shown(name)+" has no effect: "+c.shown("STORE")+" belongs to this process alone")
		}
	}
	return sentences
}

// isSet reports whether a setting of this command has another value than its default.
func isSet(c *Config, name string) bool {
	source := c.Source(name)
	return source != fromDefault && source != ""
}
