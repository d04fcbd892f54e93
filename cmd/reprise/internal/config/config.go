// Package config is the one table of settings: their names, defaults, limits and help, read from flags, the environment and a YAML file.
package config

import (
	"log/slog"
	"time"

	"reprise/proxy/gate"
	"reprise/proxy/observe/prices"
	"reprise/proxy/tracing/otlp"
	"reprise/topics/frames"
	"reprise/topics/reuse"
)

// Config is every setting, parsed and within its limits. Where a setting can be unset, the field is then zero.
type Config struct {
	Listen, AdminListen string
	AdminToken          string
	TLSCert, TLSKey     string // files; both or none
	File                string // path of the configuration file; empty: none
	Rules               []Rule // of that file
	Traces              otlp.Settings
	Overruled           []string // lines of the configuration file without effect, because a flag or the environment sets another value, in words
	TracesIgnored       []string // what of the variables of OpenTelemetry has no effect, in words
	compared            bool     // prompts have been compared by meaning since the start

	Upstreams   []Upstream // at least one that is no fallback, in serve
	UpstreamKey string     // see KeyOf
	Routing     routing

	ClientKeys   []string
	APIPaths     []gate.Path
	TrustedHosts []string

	Mode             string
	Hit, Route, Edge float64 // 0: the embedder's own
	MaxErrorRate     float64 // of hits by meaning
	JudgeModel       string  // empty: none

	Policy          string
	CapacityEntries int
	CapacityBytes   int64

	TTL, StaleIfError time.Duration
	Store             Place
	Shared            Shared
	MaxEntryBytes     int64
	Trust             reuse.Trust      // in what a scope's answers are, where no rule says otherwise: earned
	Ask               *frames.Declared // the part of a prompt that asks, of a rule alone; nil: what is learnt decides
	ToolCalls         bool             // answers that call tools are kept, where no rule says otherwise
	LiveWeb           bool             // and answers from the live web: not

	Embedder      string // builtin, openai or model2vec
	EmbedderDir   string // of model2vec
	EmbedderURL   string // of openai
	EmbedderKey   string
	EmbedderModel string

	TenantFrom    string
	IgnoreHeaders []string

	IgnoreFields, IgnorePatterns []string // what api.Registry.Ignore takes
	Explain                      bool     // without the admin token; the demo's own prompts are no secret

	LogFormat  string
	LogLevel   slog.Level
	LogPrompts bool
	Record     string        // path of the request log; empty: none
	Prices     *prices.Table // nil: none

	MemoryLimit int64 // bytes; 0: none, or not known before FitMemory

	// Limits; negative: none.
	ClientTimeout, UpstreamTimeout time.Duration
	Drain, DrainDelay              time.Duration
	StreamKeepalive                time.Duration // 0: none
	MaxConcurrent                  int           // upstream calls

	effective []Value
}

// leastHeaderTimeout is how long any client has for the header of a request.
const leastHeaderTimeout = 5 * time.Second

// HeaderTimeout returns how long a client has for the header of a request; negative: no limit.
func (c *Config) HeaderTimeout() time.Duration {
	if c.ClientTimeout < 0 {
		return c.ClientTimeout
	}
	return max(c.ClientTimeout/6, leastHeaderTimeout)
}

// IdleConnection returns how long an unused connection of a client is kept; negative: no limit.
func (c *Config) IdleConnection() time.Duration { return 4 * c.ClientTimeout }

// Value is one setting as it is in force.
type Value struct {
	Name   string `json:"name"`   // as in the environment
	Value  string `json:"value"`  // as given; a secret is masked
	Source string `json:"source"` // "default", "environment", "flag", or the place in a file

	given string // not masked
}

// Effective lists every setting in force, in the order of the table.
func (c *Config) Effective() []Value { return c.effective }

// value returns a setting by its name without prefix.
func (c *Config) value(name string) Value {
	for _, v := range c.effective {
		if v.Name == Prefix+name {
			return v
		}
	}
	return Value{}
}

// Source returns where the value of a setting comes from; name is without the prefix, e.g. "LISTEN".
func (c *Config) Source(name string) string { return c.value(name).Source }

// isSet reports whether a setting of this command has another value than its default.
func (c *Config) isSet(name string) bool {
	source := c.Source(name)
	return source != fromDefault && source != ""
}

// show changes what Effective shows of a setting.
func (c *Config) show(name, value, source string) {
	for i, v := range c.effective {
		if v.Name == Prefix+name {
			c.effective[i].Value, c.effective[i].Source = value, source
		}
	}
}

// shown returns a setting with its value and source, as messages show it.
func (c *Config) shown(name string) string {
	v := c.value(name)
	if v.Name == "" {
		return Prefix + name
	}
	return v.Name + "=" + v.Value + " (" + v.Source + ")"
}
