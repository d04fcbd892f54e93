package config

import (
	"crypto/x509"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
)

// Shared is what concerns a store that several processes share. Without such a store it has no effect.
type Shared struct {
	Password         string // beside that in the URL
	SentinelPassword string
	CA, Cert, Key    string // files; empty: the system's authorities, no certificate of our own
	Prefix           string // of every key
	Secret           string // empty: the first process draws one
	NearBytes        int64  // memory for answers that the store has too
}

// leastSecret is the least length of a secret with which tenants are digested.
const leastSecret = 16

func (c *Shared) settings() []setting {
	return []setting{
		{Name: "REDIS_PASSWORD", Serve: true, Secret: true, Allowed: "a password without white space", Help: "its password, where REPRISE_STORE has none", parse: secret(&c.Password, 1)},
		{Name: "REDIS_SENTINEL_PASSWORD", Serve: true, Secret: true, Allowed: "a password without white space", Help: "password of the sentinels", parse: secret(&c.SentinelPassword, 1)},
		{Name: "REDIS_TLS", Serve: true, Allowed: "a folder with ca.crt, or with tls.crt and tls.key, or with all three, in PEM form", Help: "authorities that vouch for the Redis server, unset the system's, and the certificate that it asks for with its key, as a Secret of Kubernetes has them", parse: c.readTLS},
		{Name: "REDIS_PREFIX", Serve: true, Default: "reprise", Allowed: "1 to 64 letters, digits and -_.:", Help: "beginning of every key, so that several caches can use one Redis server; proxies with one prefix share one cache", parse: valid(&c.Prefix, isPrefix)},
		{Name: "SECRET", Serve: true, Secret: true, Allowed: "16 characters or more", Help: "key with which tenants are digested and named to upstreams, equal in all proxies of one cache or in front of the same upstreams; unset, the first one draws it and keeps it in the store", parse: secret(&c.Secret, leastSecret)},
	}
}

// isPrefix checks the beginning of the keys. Braces would choose the slot of a cluster, which all keys of a cache share.
var isPrefix = regexp.MustCompile(`^[a-zA-Z0-9_.:-]{1,64}$`).MatchString

// readTLS finds the files in a folder, and checks them.
func (c *Shared) readTLS(dir string) error {
	in := func(name string) string {
		path := filepath.Join(dir, name)
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return ""
		}
		return path
	}
	c.CA, c.Cert, c.Key = in("ca.crt"), in("tls.crt"), in("tls.key")
	if c.CA == "" && c.Cert == "" && c.Key == "" {
		return errUse("it has none of these files")
	}
	if c.CA != "" {
		pem, err := os.ReadFile(c.CA)
		if err != nil {
			return errUse(err.Error())
		}
		if !x509.NewCertPool().AppendCertsFromPEM(pem) {
			return errUse(c.CA + " has no certificate")
		}
	}
	if (c.Cert == "") != (c.Key == "") {
		return errUse("it has only one of tls.crt and tls.key")
	}
	if err := checkPair(c.Cert, c.Key); err != nil {
		return errUse(err.Error())
	}
	return nil
}

// onlyShared are the settings without effect where no store is shared.
var onlyShared = []string{"REDIS_PASSWORD", "REDIS_SENTINEL_PASSWORD", "REDIS_TLS", "REDIS_PREFIX"}

// sharedProblems finds settings of a shared store that contradict each other. Without such a store they are idle.
func (c *Config) sharedProblems(bad func(format string, args ...any)) {
	if c.Store.Shared() == "" {
		return
	}
	if !c.Store.secure() && c.isSet("REDIS_TLS") {
		bad("%s is for TLS, and %s is without it: begin the second with rediss, or leave out the first", c.shown("REDIS_TLS"), c.shown("STORE"))
	}
	if c.Shared.SentinelPassword != "" && !c.Store.Watched() {
		bad("%s is for sentinels, and %s has none: leave out the first, or name the sentinels", c.shown("REDIS_SENTINEL_PASSWORD"), c.shown("STORE"))
	}
}

// idleShared returns a sentence for each setting of a shared store where there is none.
func (c *Config) idleShared() (sentences []string) {
	if c.Store.Shared() != "" {
		return nil
	}
	for _, name := range onlyShared {
		if c.isSet(name) {
			sentences = append(sentences, c.shown(name)+" has no effect: "+c.shown("STORE")+" belongs to this process alone")
		}
	}
	return sentences
}
