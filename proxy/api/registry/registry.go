// Package registry lists the APIs that the proxy caches.
package registry

import (
	"reprise/proxy/api"
	"reprise/proxy/api/anthropic"
	"reprise/proxy/api/ollama"
	"reprise/proxy/api/openai"
)

// APIs are all APIs that the proxy caches, in the order of the metrics.
var APIs = api.NewRegistry(
	openai.Chat,
	openai.Completions,
	openai.Responses,
	openai.Embeddings,
	anthropic.Messages,
	ollama.Chat,
	ollama.Generate,
)
