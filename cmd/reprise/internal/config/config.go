// Package config is the one table of settings: their names, defaults, limits and help, read from flags and environment.
package config

import (
	"log/slog"
	"time"

	"reprise/cmd/reprise/internal/stores"
	"reprise/proxy/gate"
	"reprise/proxy/observe/prices"
	"reprise/proxy/tracing/otlp"
)

// Config is every setting, parsed and within its limits. Where a setting can be unset, the field is then zero.
type Config struct {
	Listen, AdminListen string
	AdminToken          string
	TLSCert, TLSKey     string // files; both or none
	Settings            string // path of the settings file; empty: none
	File                string // path of the configuration file; empty: none
	Rules               []Rule // of that file
	Traces              otlp.Settings
	Overruled           []string // lines of the settings file without effect, because a flag or the environment sets another value, in words
	TracesIgnored       []string // what of the variables of OpenTelemetry has no effect, in words
	compared            bool     // prompts have been compared by meaning since the start

	Upstreams   []Upstream // at least one that is no fallback, in serve
	UpstreamKey string     // see keyOf
	Routing     Routing

	ClientKeys     []string
	APIPaths       []gate.Path
	ForwardHeaders []string
	TrustedHosts   []string

	Mode             string
	Hit, Route, Edge float64 // 0: the embedder's own
	MaxErrorRate     float64 // of hits by meaning
	JudgeModel       string  // empty: none
	JudgeBudget      int     // calls an hour
	Lookback         int
	Index            string

	Policy           string
	Objective        string  // "": the policy's own
	TopicHalfLife    float64 // requests; 0: the policy's own
	DependencyWeight float64 // negative: the policy's own
	CapacityEntries  int
	CapacityBytes    int64

	TTL, MaxTTL, StaleIfError time.Duration
	Store                     stores.Place
	Shared                    Shared
	MaxUnwritten              time.Duration // negative: no limit
	MaxEntryBytes             int64
	CacheToolCalls            bool
	oldToolCalls              bool // it is given as true or false

	Embedder           string // builtin, openai or model2vec
	EmbedderDir        string // of model2vec
	EmbedderURL        string
	EmbedderKey        string
	EmbedderModel      string
	EmbedderDimensions int // 0: the model's own
	EmbedderPrefix     string
	EmbedTimeout       time.Duration

	TenantFrom    string
	IgnoreHeaders []string

	IgnoreFields, IgnorePatterns []string // what api.Registry.Ignore takes
	Explain                      bool

	AccessLog  float64 // share of the requests that are logged; negative: none, not even errors
	LogFormat  string
	LogLevel   slog.Level
	LogPrompts bool
	Record     string        // path of the request log; empty: none
	Prices     *prices.Table // nil: none

	MemoryLimit int64 // bytes; 0: none, or not known before FitMemory

	// Limits; negative: none.
	MaxBody, BodyRate                                          int64
	HeaderTimeout, BodyIdle, FirstByte                         time.Duration
	StreamIdle, ClientWrite, IdleConnection, Drain, DrainDelay time.Duration
	StreamKeepalive                                            time.Duration // 0: none
	MaxConcurrent, MaxPerTenant                                int           // upstream calls; MaxPerTenant 0: its default

	effective []Value
}

// Value is one setting as it is in force.
type Value struct {
	Name   string `json:"name"`   // as in the environment
	Value  string `json:"value"`  // as given; a secret is masked
	Source string `json:"source"` // "default", "environment", "flag", or the name of a file

	given string // not masked
}

// Effective lists every setting in force, in the order of the table.
func (c *Config) Effective() []Value { return c.effective }

// givenAs is the value of a setting, not masked.
func givenAs(c *Config, name string) string {
	return effectiveOf(c, name).given
}

// effectiveOf is a setting by its name without prefix.
func effectiveOf(c *Config, name string) Value {
	for _, v := range c.effective {
		if v.Name == Prefix+name {
			return v
		}
	}
	return Value{}
}

// Source is where the value of a setting comes from; name is without the prefix, e.g. "LISTEN".
func (c *Config) Source(name string) string {
	return effectiveOf(c, name).Source
}
