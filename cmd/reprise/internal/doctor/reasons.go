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

	"store.writable":  "What cannot be written is lost at a restart, and after REPRISE_MAX_UNWRITTEN new answers are not kept at all.",
	"store.private":   "The file has prompts and answers of all tenants.",
	"store.space":     "On a full disk new answers are not written, and after REPRISE_MAX_UNWRITTEN not kept at all.",
	"store.version":   "A file that a newer program has written, or another one, is not opened: the proxy does not start.",
	"store.damage":    "What does not check is left out, and a damaged structure is moved aside: the cache starts empty.",
	"store.unwritten": "A crash loses changes that the file lacks, and after REPRISE_MAX_UNWRITTEN new answers are not kept.",

	"limits.memory":      "A process over the limit of its container is killed, and with too little memory new work gets 503.",
	"limits.descriptors": "Each client and each upstream call takes a descriptor: without one, connections are refused.",

	"instance.ready": "A proxy that is not ready gets no requests from a load balancer.",
}
