// Package registry lists the APIs that the proxy caches.
package registry

import (
	"reprise/proxy/api"
	"reprise/proxy/api/chat"
	"reprise/proxy/api/completions"
	"reprise/proxy/api/embeddings"
	"reprise/proxy/api/messages"
	ollamachat "reprise/proxy/api/ollama/chat"
	ollamagenerate "reprise/proxy/api/ollama/generate"
	"reprise/proxy/api/responses"
)

// APIs are all APIs that the proxy caches, in the order of the metrics.
var APIs = api.NewRegistry(
	chat.Family,
	completions.Family,
	responses.Family,
	embeddings.Family,
	messages.Family,
	ollamachat.Family,
	ollamagenerate.Family,
)
