package doctor

// reasons are the checks with why each matters, by id. The ids do not change: monitors may name them.
var reasons = map[string]string{
	"settings.unknown":        "A name that is no setting has no effect, and the proxy does not start with it.",
	"settings.values":         "The proxy does not start with a value that it cannot use.",
	"settings.contradictions": "Settings that exclude each other keep the proxy from starting.",
	"settings.exposure":       "What other machines can use without a credential, every machine in the network uses.",
	"settings.idle":           "A setting without effect suggests something that is not so.",

	"listener.api":   "Without its address the proxy does not start.",
	"listener.admin": "Without its address the proxy does not start, and probes and metrics have nothing to ask.",

	"certificate.chain":  "Clients refuse a chain that does not lead to an authority which they trust.",
	"certificate.expiry": "Clients refuse a certificate outside its time: every request fails.",

	"upstream.name":          "Without an address of the upstream every miss fails.",
	"upstream.connection":    "Without a connection to the upstream every miss fails.",
	"upstream.tls":           "Without a valid certificate the proxy sends nothing to the upstream: every miss fails.",
	"upstream.answer":        "Clients wait for an upstream that does not answer until their own time ends.",
	"upstream.credential":    "The upstream refuses every request whose credential it does not accept.",
	"upstream.models":        "Requests go to paths below the base URL, and name a model: where the upstream lacks one of these, they fail there.",
	"upstream.stream":        "Most clients ask for streams: where these fail, every miss does.",
	"upstream.usage":         "Tokens and costs are read from the usage at the end of a stream; without it they are not counted.",
	"upstream.cached-tokens": "The choice among several upstreams corrects its picture of their caches by the cached_tokens of answers.",
	"upstream.clock":         "Clients and proxies compare the age of answers with clocks: where these differ, answers expire early or late.",

	"embedder.answer": "Without vectors prompts are not compared by meaning: equal prompts and equal forms alone are hits.",
	"embedder.speed":  "A vector that takes longer than a second is not waited for: the prompt is a miss.",
	"embedder.repeat": "Where one text has several vectors, the same prompt may be a hit now and a miss later.",
	"embedder.sense":  "The threshold decides on similarities: where different questions are above it, a wrong answer may be served.",

	"store.writable":  "What cannot be written is lost at a restart, and after a minute new answers are not kept at all.",
	"store.private":   "The file has prompts and answers of all tenants.",
	"store.space":     "On a full disk new answers are not written, and after a minute not kept at all.",
	"store.version":   "A file that a newer program has written, or another one, is not opened: the proxy does not start.",
	"store.damage":    "What does not check is left out, and a damaged structure is moved aside: the cache starts empty.",
	"store.unwritten": "A crash loses changes that the file lacks, and after a minute new answers are not kept.",

	"redis.connection":  "Without Redis each proxy keeps its answers to itself.",
	"redis.version":     "Older servers lack what the shared store needs: the proxy does not start.",
	"redis.persistence": "Without it a restart of Redis empties the cache of all proxies.",
	"redis.memory":      "A server that evicts by itself may evict what all entries need, and one without memory takes no answers.",
	"redis.latency":     "An answer that takes longer than 250ms is not waited for: the request is a miss.",
	"redis.schema":      "A store of another schema or secret cannot be shared: the proxy does not start.",

	"limits.memory":      "A process over the limit of its container is killed, and with too little memory new work gets 503.",
	"limits.descriptors": "Each client and each upstream call takes a descriptor: without one, connections are refused.",

	"instance.ready": "A proxy that is not ready gets no requests from a load balancer.",
}
