// Package openai has OpenAI's APIs as many engines serve them: chat completions, completions, responses and embeddings.
package openai

// The code of each API in keys and in stored answers. A code never changes.
const (
	codeChat        = 1
	codeCompletions = 2
	codeResponses   = 3
	codeEmbeddings  = 4
)
