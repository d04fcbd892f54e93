package strict

import "strings"

// Minimum is how many tokens the shortest prefix has that Anthropic keeps for a model. A shorter one is not kept, and nothing reports it.
func Minimum(model string) int {
	for _, m := range []struct {
		model  string
		tokens int
	}{{"claude-opus-4-5", 4096}, {"claude-opus-4-6", 4096}, {"claude-haiku-4-5", 4096}, {"claude-opus-4-7", 2048}, {"claude-3-haiku", 2048},
		{"claude-3-5-haiku", 2048}, {"claude-opus-5", 512}, {"claude-fable-5", 512}, {"claude-mythos-5", 512}} {
		if strings.HasPrefix(model, m.model) {
			return m.tokens
		}
	}
	return 1024
}
