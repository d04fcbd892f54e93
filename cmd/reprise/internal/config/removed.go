package config

// removedSetting is a setting of an earlier version, which stops the start.
type removedSetting struct {
	Name    string // without prefix
	Instead string // a sentence: what replaces it, or why it is not needed
	toggle  bool   // the flag alone meant true
}

// removed lists the settings that no version reads any more.
var removed = []removedSetting{
	{Name: "SETTINGS", Instead: "REPRISE_CONFIG names a YAML file that takes the same names, below its line settings"},

	{Name: "CHOOSER", Instead: "of several upstreams the one is chosen that should hold the prefix, unless it has much more to do than others"},
	{Name: "LEADERS", Instead: "of several requests that share a cold prefix of 2048 tokens or more, one goes first"},
	{Name: "WARM_BUDGET", Instead: "REPRISE_HINTS=warm:TOKENS has the prompt tokens a minute"},
	{Name: "VOLATILE", Instead: "REPRISE_CANONICAL=C3:FILE names the file of expressions"},
	{Name: "CONTINUES_MODEL", Instead: "REPRISE_HINTS=continues:FILE names the model"},
	{Name: "SLOW_START", Instead: "an upstream that is back gets a growing share of the requests for 30s"},
	{Name: "HEALTH_INTERVAL", Instead: "upstreams are checked every 5s"},
	{Name: "FORWARD_HEADERS", Instead: "headers with a known meaning and those of REPRISE_IGNORE_HEADERS are forwarded under REPRISE_UPSTREAM_KEY; without it every header is"},

	{Name: "JUDGE_BUDGET", Instead: "the judge model is asked up to 60 times an hour"},
	{Name: "LOOKBACK", Instead: "a dependency is searched for among the last 64 prompts of a scope"},
	{Name: "SHORTLIST", Instead: "the whole scope of a prompt is searched, at any size"},
	{Name: "INDEX", Instead: "up to 131,072 entries of a scope are scanned, of more the nearest cells; from 1,000,000 topics on an HNSW graph finds topics once it has shown that it finds more ([limits](limits.md))"},

	{Name: "MAX_UNWRITTEN", Instead: "new answers are not kept while the file lacks changes of more than 60s"},
	{Name: "OBJECTIVE", Instead: "REPRISE_POLICY=rac+:value=VALUE sets what eviction maximises"},
	{Name: "TOPIC_HALF_LIFE", Instead: "REPRISE_POLICY=rac:alpha=A sets it, with A = 1/requests; rac+ learns it"},
	{Name: "DEPENDENCY_WEIGHT", Instead: "REPRISE_POLICY=rac:lambda=WEIGHT sets it; rac+ learns it"},
	{Name: "MAX_TTL", Instead: "REPRISE_TTL alone bounds the life of an answer"},
	{Name: "CACHE_TOOL_CALLS", Instead: "answers that call tools are kept for equal requests; tool_calls: off in a rule of REPRISE_CONFIG keeps none"},

	{Name: "REDIS_USERNAME", Instead: "REPRISE_STORE has the user: redis://USER@HOST"},
	{Name: "REDIS_CA", Instead: "REPRISE_REDIS_TLS names a folder with ca.crt"},
	{Name: "REDIS_CERT", Instead: "REPRISE_REDIS_TLS names a folder with tls.crt and tls.key"},
	{Name: "REDIS_KEY", Instead: "REPRISE_REDIS_TLS names a folder with tls.crt and tls.key"},
	{Name: "REDIS_SERVER_NAME", Instead: "the certificate of the Redis server is to have the host of REPRISE_STORE, by name or address"},
	{Name: "REDIS_TIMEOUT", Instead: "an answer may take 250ms to come from Redis, after which the request is a miss"},
	{Name: "NEAR_BYTES", Instead: "answers that Redis has too take 64MiB, or a quarter of REPRISE_MEMORY_LIMIT where that is less"},
	{Name: "SHARED_GRACE", Instead: "answers of other proxies are not served after Redis was silent for 1s"},
	{toggle: true, Name: "SHARED_FLIGHTS", Instead: "equal requests at several proxies always wait for one upstream call"},

	{Name: "EMBEDDER_URL", Instead: "REPRISE_EMBEDDER=openai:URL has it"},
	{Name: "EMBEDDER_DIMENSIONS", Instead: "vectors have the length that the model gives them"},
	{Name: "EMBEDDER_PREFIX", Instead: "e5 and nomic models get the prefix that they need; others need none"},
	{Name: "EMBED_TIMEOUT", Instead: "a prompt may take 1s to embed, after which only exact hits count"},

	{toggle: true, Name: "EXPLAIN", Instead: "POST /v1/reprise/explain answers whoever sends REPRISE_ADMIN_TOKEN as X-Reprise-Admin-Token"},
	{Name: "ACCESS_LOG", Instead: "each request has a line at level info; REPRISE_LOG_LEVEL=warn leaves them out"},

	{Name: "MAX_BODY", Instead: "a request body may have 32MiB"},
	{Name: "HEADER_TIMEOUT", Instead: "REPRISE_CLIENT_TIMEOUT bounds all that a client may be slow in"},
	{Name: "BODY_IDLE_TIMEOUT", Instead: "REPRISE_CLIENT_TIMEOUT bounds all that a client may be slow in"},
	{Name: "BODY_MIN_RATE", Instead: "a body is to come with 1KiB a second, over each REPRISE_CLIENT_TIMEOUT"},
	{Name: "CLIENT_WRITE_TIMEOUT", Instead: "REPRISE_CLIENT_TIMEOUT bounds all that a client may be slow in"},
	{Name: "IDLE_TIMEOUT", Instead: "REPRISE_CLIENT_TIMEOUT bounds it: an unused connection lives four times as long"},
	{Name: "FIRST_BYTE_TIMEOUT", Instead: "REPRISE_UPSTREAM_TIMEOUT bounds each silence of an upstream"},
	{Name: "STREAM_IDLE_TIMEOUT", Instead: "REPRISE_UPSTREAM_TIMEOUT bounds each silence of an upstream"},
	{Name: "MAX_CONCURRENT_PER_TENANT", Instead: "a tenant gets up to three quarters of REPRISE_MAX_CONCURRENT"},
}

// instead returns the sentence about a removed setting; name is as in the environment.
func instead(name string) (sentence string, gone bool) {
	for _, r := range removed {
		if name == Prefix+r.Name {
			return r.Instead, true
		}
	}
	return "", false
}
