package canon_test

import "reprise/proxy/api/registry"

var (
	chat = registry.APIs.ByPath("/v1/chat/completions")
	comp = registry.APIs.ByPath("/v1/completions")
	resp = registry.APIs.ByPath("/v1/responses")
	msgs = registry.APIs.ByPath("/v1/messages")
	embs = registry.APIs.ByPath("/v1/embeddings")
)
