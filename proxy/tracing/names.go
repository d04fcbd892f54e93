package tracing

// The names of steps inside a request. The request itself, and a call of the upstream, are named by what is asked for and the model, as the
// conventions for generative AI say: "chat gpt-4o".
const (
	Read   = "read"   // the body is read and parsed
	Exact  = "exact"  // the key is looked up
	Wait   = "wait"   // for the flight of an equal request, here or at another process
	Choose = "choose" // one of several upstreams is chosen, with the wait for a request that prefills the same prefix
	Queue  = "queue"  // a call of the upstream is waited for, because as many as allowed are under way
	Keep   = "keep"   // the answer is judged and stored
)

// FirstByte is the event of the first byte of an answer's body.
const FirstByte = "first_byte"

// The keys of attributes: those of OpenTelemetry's conventions for HTTP and for generative AI, and for what they have no name for our own. The
// conventions for generative AI are still in development: this is the one place that has their names.
const (
	Method         = "http.request.method"
	Route          = "http.route"
	Path           = "url.path"
	Scheme         = "url.scheme"
	Status         = "http.response.status_code"
	ResponseSize   = "http.response.body.size"
	ErrorType      = "error.type"
	ServerAddress  = "server.address"
	ServerPort     = "server.port"
	Operation      = "gen_ai.operation.name"
	Provider       = "gen_ai.provider.name"
	RequestModel   = "gen_ai.request.model"
	RequestStream  = "gen_ai.request.stream"
	ResponseModel  = "gen_ai.response.model"
	InputTokens    = "gen_ai.usage.input_tokens"
	OutputTokens   = "gen_ai.usage.output_tokens"
	CachedTokens   = "gen_ai.usage.cache_read.input_tokens"
	WrittenTokens  = "gen_ai.usage.cache_creation.input_tokens"
	CacheResult    = "reprise.cache.result"
	CacheReason    = "reprise.cache.reason"
	SimilarityFrom = "reprise.cache.similarity_from"
	TokensSaved    = "reprise.tokens_saved"
	Tenant         = "reprise.tenant"
	RequestID      = "reprise.request.id"
	Upstream       = "reprise.upstream"
)

// methods are those that a span may be named by; every other one is "_OTHER".
var methods = map[string]bool{"GET": true, "HEAD": true, "POST": true, "PUT": true, "PATCH": true, "DELETE": true, "OPTIONS": true, "CONNECT": true, "TRACE": true}
