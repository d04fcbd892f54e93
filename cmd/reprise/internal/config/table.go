package config

import (
	"strconv"
	"strings"
	"time"

	"reprise/proxy"
	"reprise/proxy/upstream"
)

// setting is one row of the table.
type setting struct {
	Name    string // without prefix, e.g. "LISTEN": REPRISE_LISTEN in the environment, --listen as a flag
	Default string // empty: unset
	Allowed string // completes "allowed is …"
	Help    string // one line
	First   bool   // one of those that matter, which the short help lists
	Reload  bool   // can change while the program runs
	Secret  bool   // masked wherever it is shown, and can be read from a file named by …_FILE
	Toggle  bool   // the flag alone means true
	Serve   bool   // used by serve only; the demo has its own value
	Between string // joins the items where the configuration file has a list; "": it has one value

	mask  func(value string) string // the value as it may be shown; nil: withoutPassword
	parse func(value string) error  // sets the field of the Config whose table this is
}

// Prefix starts the name of every environment variable.
const Prefix = "REPRISE_"

// Env is the name in the environment.
func (s *setting) Env() string { return Prefix + s.Name }

// Flag is the name of the flag, without dashes.
func (s *setting) Flag() string { return flagOf(s.Name) }

func flagOf(name string) string { return strings.ReplaceAll(strings.ToLower(name), "_", "-") }

// group is a heading of the help and the rows under it.
type group struct {
	title string
	rows  []setting
}

// table returns the rows; parsing one sets a field of c.
func (c *Config) table() []group {
	return []group{
		{"Listeners", c.listeners()},
		{"Upstream", c.upstream()},
		{"Several upstreams and their caches", c.Routing.settings()},
		{"Matching", c.matching()},
		{"Keeping and evicting", c.keeping()},
		{"A store that several proxies share", c.Shared.settings()},
		{"Embedder", c.embedder()},
		{"Clients and tenants", c.clients()},
		{"Logging", c.logging()},
		{"Limits on slow and large peers", c.limits()},
	}
}

func (c *Config) listeners() []setting {
	return []setting{
		{Name: "LISTEN", First: true, Default: "127.0.0.1:8080", Allowed: "HOST:PORT; port 0 takes a free one", Help: "address of the API", parse: valid(&c.Listen, isAddress)},
		{Name: "ADMIN_LISTEN", First: true, Default: "127.0.0.1:8081", Allowed: "HOST:PORT; port 0 takes a free one", Help: "address of health, metrics and the admin API; beyond loopback it needs an admin token", parse: valid(&c.AdminListen, isAddress)},
		{Name: "ADMIN_TOKEN", Reload: true, Secret: true, Allowed: "8 characters or more", Help: "bearer token that the admin API and explain require", parse: secret(&c.AdminToken, 8)},
		{Name: "TRUSTED_HOSTS", Reload: true, Serve: true, Between: ",", Allowed: "HOST or HOST:PORT, several between commas", Help: "names beside localhost and IP addresses to which listeners on loopback answer, and whose web pages may call the API", parse: into(&c.TrustedHosts, hosts)},
		{Name: "TLS_CERT", Serve: true, Allowed: "a readable PEM file, together with REPRISE_TLS_KEY", Help: "certificate chain of the API", parse: into(&c.TLSCert, readable)},
		{Name: "TLS_KEY", Serve: true, Allowed: "a readable PEM file, together with REPRISE_TLS_CERT", Help: "private key of that certificate", parse: into(&c.TLSKey, readable)},
		{Name: "CONFIG", Reload: true, Serve: true, Allowed: "the path of a YAML file with settings and rules", Help: "file of settings, which flags and the environment override, and of rules for some models, paths, tenants and namespaces; read again when it changes", parse: text(&c.File)},
	}
}

func (c *Config) upstream() []setting {
	return []setting{
		{Name: "UPSTREAM", First: true, Serve: true, Default: "https://api.openai.com/v1", Allowed: upstreamAllowed, Help: "the API behind the proxy, or several: engines that serve the same models, and fallbacks for when these are down", mask: withoutCredentials, parse: into(&c.Upstreams, upstreams)},
		{Name: "UPSTREAM_KEY", Reload: true, First: true, Serve: true, Secret: true, Allowed: "a credential", Help: "credential for each upstream without key-env or key-file; unset, each client's own is passed on", parse: secret(&c.UpstreamKey, 1)},
		{Name: "API_PATHS", Reload: true, Serve: true, Between: ",", Allowed: "PATH or METHOD PATH, several between commas, such as GET /v1/files/*/content or /v1/batches/**", Help: "paths that are forwarded under REPRISE_UPSTREAM_KEY beside those of inference and the list of models; * is one segment, ** at the end all below", parse: into(&c.APIPaths, apiPaths)},
	}
}

func (c *Config) matching() []setting {
	return []setting{
		{Name: "MODE", Reload: true, First: true, Default: string(proxy.ModeSemantic), Allowed: oneOf(proxy.Modes()), Help: "how much of the cache is in force; shadow measures semantic hits and serves exact ones", parse: choice(&c.Mode, proxy.Modes())},
		{Name: "HIT_THRESHOLD", Allowed: "a cosine above 0, at most 1, above REPRISE_ROUTE_THRESHOLD", Help: "least similarity at which a stored answer is served; unset, the embedder's own: 0.90 for builtin, 0.95 for openai, 0.97 for model2vec", parse: fraction(&c.Hit)},
		{Name: "ROUTE_THRESHOLD", Allowed: "a cosine above 0, below REPRISE_HIT_THRESHOLD", Help: "least similarity to a topic's anchor; unset, the embedder's own: 0.60, 0.80, 0.70", parse: fraction(&c.Route)},
		{Name: "EDGE_THRESHOLD", Allowed: "a cosine above 0, at most 1", Help: "least similarity at which one prompt is taken to depend on another; unset, the embedder's own", parse: fraction(&c.Edge)},
		{Name: "MAX_ERROR_RATE", Reload: true, Default: "0.01", Allowed: "a number from 0 to 0.2", Help: "largest expected share of wrong answers among those found by meaning; 0 serves only prompts with equal normal forms", parse: number(&c.MaxErrorRate, func(f float64) bool { return f >= 0 && f <= 0.2 })},
		{Name: "JUDGE_MODEL", Reload: true, Serve: true, Allowed: "a model's name", Help: "model of the upstream that compares two answers where their texts do not decide, under the operator's credential; unset, none does", parse: text(&c.JudgeModel)},
	}
}

func (c *Config) keeping() []setting {
	return []setting{
		{Name: "STORE", First: true, Default: "file:./reprise.db", Allowed: PlaceForms(), Help: "where answers are kept", parse: into(&c.Store, storePlace)},
		{Name: "POLICY", Default: "rac+", Allowed: policyAllowed, Help: "eviction policy", parse: into(&c.Policy, policySpec)},
		{Name: "CAPACITY_ENTRIES", Default: "100000", Allowed: "a whole number from 1 to 100000000", Help: "entries kept; whichever capacity is reached first evicts", parse: whole(&c.CapacityEntries, 1, 100_000_000)},
		{Name: "CAPACITY_BYTES", First: true, Default: "1GiB", Allowed: "a size of 1MiB or more, such as 512MiB or 4GiB", Help: "memory for answers, prompts, vectors and bookkeeping; at most half of REPRISE_MEMORY_LIMIT, to which the default is lowered", parse: size(&c.CapacityBytes, 1<<20)},
		{Name: "TTL", Reload: true, First: true, Default: "24h", Allowed: "a duration above 0, such as 24h, at most 365d", Help: "life of an answer, counted from its write", parse: duration(&c.TTL, 1, MaxTTL)},
		{Name: "STALE_IF_ERROR", Default: "0", Allowed: "a duration such as 10m, or 0 for never", Help: "how long an expired answer may be served when the upstream fails", parse: duration(&c.StaleIfError, 0, ever)},
		{Name: "MAX_ENTRY_BYTES", Default: "1MiB", Allowed: "a size of 1KiB or more", Help: "largest answer kept", parse: size(&c.MaxEntryBytes, 1<<10)},
	}
}

func (c *Config) embedder() []setting {
	return []setting{
		{Name: "EMBEDDER", First: true, Default: "builtin", Allowed: "builtin, openai, openai:URL with the base URL of an embedding server, or model2vec:DIR with the folder of a Model2Vec model", Help: "builtin needs nothing; openai calls any server of /v1/embeddings, by default that of OpenAI; model2vec reads a static model such as potion", parse: c.chooseEmbedder},
		{Name: "EMBEDDER_KEY", Secret: true, Allowed: "a credential", Help: "credential for the embedding server", parse: secret(&c.EmbedderKey, 1)},
		{Name: "EMBEDDER_MODEL", Default: "text-embedding-3-small", Allowed: "a model's name", Help: "model to request", parse: text(&c.EmbedderModel)},
	}
}

func (c *Config) clients() []setting {
	return []setting{
		{Name: "CLIENT_KEYS", Reload: true, Serve: true, Between: ",", Secret: true, Allowed: "keys of 8 characters or more, between commas, white space or line ends; # begins a comment", Help: "keys of which every request needs one; beyond loopback REPRISE_UPSTREAM_KEY needs them", parse: into(&c.ClientKeys, clientKeys)},
		{Name: "TENANT_FROM", First: true, Default: "authorization", Allowed: "authorization, header:NAME or none", Help: "what identifies a tenant: all credentials of a request, a header (and without it the credentials), or nothing; two tenants share nothing", parse: valid(&c.TenantFrom, isTenant)},
		{Name: "IGNORE_HEADERS", Between: ",", Allowed: "names of headers that hold no credential, separated by commas", Help: "request headers that cannot change an answer, such as an id of your own for each request; all others that are sent to the upstream count, except known ones such as User-Agent or traceparent", parse: into(&c.IgnoreHeaders, headerNames)},
		{Name: "IGNORE_FIELDS", Reload: true, Between: ",", Allowed: ignoreAllowed, Help: "fields of the body in which two requests may differ and still share answers; they are forwarded as they are. Beside them, user of chats, completions and embeddings, safety_identifier of chats and metadata.user_id of messages do not count where every upstream is api.openai.com or has the dialect openai, azure-openai or anthropic, unless none is in the list", parse: into(&c.IgnoreFields, ignoreFields)},
		{Name: "IGNORE_PATTERN", Reload: true, Between: "\n", Allowed: `expressions (RE2) with named groups, such as Today is (?P<date>\d{4}-\d\d-\d\d), one on each line or between ;;`, Help: "what may differ in system prompts: what the named groups match in the texts of system and developer messages, up to 256 bytes each, does not count", parse: into(&c.IgnorePatterns, ignorePatterns)},
	}
}

func (c *Config) logging() []setting {
	return []setting{
		{Name: "LOG_FORMAT", Default: "text", Allowed: oneOf(logFormats), Help: "form of the log on stderr", parse: choice(&c.LogFormat, logFormats)},
		{Name: "LOG_LEVEL", Reload: true, Default: "info", Allowed: "debug, info, warn or error", Help: "least level that is logged", parse: into(&c.LogLevel, level)},
		{Name: "LOG_PROMPTS", Default: "false", Toggle: true, Allowed: "true or false", Help: "prompts may appear in the log and in the request log", parse: into(&c.LogPrompts, boolean)},
		{Name: "PRICES", Reload: true, Allowed: "a readable YAML file as deploy/prices.example.yaml", Help: "file with the prices of models, by which spent and saved tokens are shown as money too; SIGHUP reads it again", parse: into(&c.Prices, priceTable)},
		{Name: "RECORD", Serve: true, Allowed: "a file's path", Help: "file to which a request log is appended, for reprise-lab replay; to rotate it, copy and truncate it, or move it and restart; unset, none is written", parse: text(&c.Record)},
	}
}

var logFormats = []string{"text", "json"}

func (c *Config) limits() []setting {
	const allowed = "a duration such as 30s, or 0 for no limit"
	return []setting{
		{Name: "MEMORY_LIMIT", Serve: true, Allowed: "a size of 64MiB or more, or off", Help: "memory of the process; new work for which none is left gets 503, while hits go on; unset, that of the container, or of the machine", parse: memoryLimit(&c.MemoryLimit)},
		{Name: "CLIENT_TIMEOUT", Reload: true, Default: "30s", Allowed: allowed, Help: "silence of a client within its body, and time to take 256 KiB of its answer; it has a sixth of that for its header, at least 5s, and an unused connection lives four times as long", parse: timeout(&c.ClientTimeout)},
		{Name: "UPSTREAM_TIMEOUT", Default: "600s", Allowed: allowed, Help: "silence of an upstream, before its answer and within", parse: timeout(&c.UpstreamTimeout)},
		{Name: "MAX_CONCURRENT", Reload: true, Default: strconv.Itoa(upstream.DefaultCalls), Allowed: "a whole number up to 1000000, or 0 for no limit", Help: "upstream calls at once, three quarters of them for one tenant, and as many websockets; twice as many requests wait for up to 30s, the others get 503", parse: offAtZeroInt(&c.MaxConcurrent, 1_000_000)},
		{Name: "STREAM_KEEPALIVE", Default: "0", Allowed: "a duration of 1s or more, such as 15s, or 0 for none", Help: "silence after which a client that waits for a stream gets a comment; status 200 comes with the first one, and a later error as an event", parse: orZero(&c.StreamKeepalive, 0, duration(&c.StreamKeepalive, time.Second, ever))},
		{Name: "DRAIN_TIMEOUT", Reload: true, Default: "90s", Allowed: "a duration above 0, such as 90s", Help: "time for open answers to finish after SIGTERM", parse: duration(&c.Drain, 1, ever)},
		{Name: "DRAIN_DELAY", Default: "0", Allowed: "a duration such as 5s, or 0 for none", Help: "time after SIGTERM, before that, in which readiness fails already and requests are still taken: a load balancer needs it to notice", parse: duration(&c.DrainDelay, 0, ever)},
	}
}

// MaxTTL bounds the life of an answer: models change sooner.
const MaxTTL = 365 * 24 * time.Hour

// MaxUnwritten is how long the file of the store may lack a change, as on a full disk, before new answers are not kept any more.
const MaxUnwritten = time.Minute
