package anthropic

import (
	"github.com/tidwall/gjson"

	"reprise/proxy/answer"
)

// usageOf counts tokens. input_tokens leaves out the tokens that were read from the prompt cache or written to it.
func usageOf(r gjson.Result) answer.Usage {
	u := r.Get("usage")
	sum := func(names ...string) (n int64) {
		for _, name := range names {
			if v := u.Get(name); v.Type == gjson.Number {
				n += max(0, v.Int())
			}
		}
		return n
	}
	return answer.Usage{Input: sum("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"), Output: sum("output_tokens")}
}
