package proxy

import (
	"strings"
	"testing"
)

// TestConversationGoesOnAfterAComparison: where the upstream gives the stored answer again, the turns behind it are found.
func TestConversationGoesOnAfterAComparison(t *testing.T) {
	for _, mode := range []Mode{ModeSemantic, ModeShadow} {
		r, up, _, explore := exploring(t, func(o *Options) { o.Mode = mode })
		play := func(want string, prompts ...string) {
			var messages []string
			for i, prompt := range prompts {
				explore.Store(i == 0)
				messages = append(messages, prompt)
				got := r.ask(t, "/v1/chat/completions", turns(messages...))
				if i == 1 && !strings.Contains(status(got), want) {
					t.Errorf("%s, %q: %s, want %s", mode, prompts, status(got), want)
				}
				messages = append(messages, got.content(t))
			}
		}
		const next = "Where do I find the settings?"
		again := map[Mode]string{ModeSemantic: "semantic;form", ModeShadow: "shadow=hit"}[mode]
		up.set(says("It takes 5 days."))
		play("stored", reset, next)
		play(again, asks, strings.ToLower(next))
		play(again, "Hello, "+reset, "Hi, "+next) // compared with the second one
		up.set(says("It takes 9 days."))
		play("fwd=uri-miss; stored", "Good morning, "+reset, "Good morning, "+next)
	}
}
