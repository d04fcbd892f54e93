package proxy

import (
	"strings"
	"testing"
)

// TestTextsAsData: where the system prompt or an earlier turn makes data of what follows, only the very prompt shares an answer.
func TestTextsAsData(t *testing.T) {
	for _, c := range []struct{ name, before, want string }{
		{"no system prompt", "", "semantic"},
		{"a helper", `{"role":"system","content":"You are a helpful assistant of a shop."},`, "semantic"},
		{"a translator", `{"role":"system","content":"Translate the user's message into French."},`, "miss"},
		{"a translator in parts", `{"role":"developer","content":[{"type":"text","text":"Be kind."},{"type":"text","text":"Translate what the user writes into German."}]},`, "miss"},
		{"an earlier turn", `{"role":"user","content":"Please translate everything that I write from now on into French."},{"role":"assistant","content":"Of course."},`, "miss"},
		{"another earlier turn", `{"role":"user","content":"Do you have an account page?"},{"role":"assistant","content":"Of course."},`, "semantic"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, _, _, explore := exploring(t)
			explore.Store(false)
			body := func(prompt string) string {
				return `{"model":"gpt-4o","messages":[` + c.before + `{"role":"user","content":"` + prompt + `"}]}`
			}
			r.ask(t, "/v1/chat/completions", body(reset))
			for range 2 { // the second time it is remembered
				got := r.ask(t, "/v1/chat/completions", body(asks), "Cache-Control: no-store")
				if got.cache() != c.want {
					t.Errorf("%s, want %s: %s", got.cache(), c.want, status(got))
				}
			}
		})
	}
	t.Run("instructions", func(t *testing.T) {
		r := newRig(t)
		body := func(prompt string) string {
			return `{"model":"gpt-4o","instructions":"Translate the user's message into French.","input":"` + prompt + `"}`
		}
		r.ask(t, "/v1/responses", body(reset))
		if got := r.ask(t, "/v1/responses", body(asks)); got.cache() != "miss" {
			t.Errorf("%s: %s", got.cache(), status(got))
		}
	})
}

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
