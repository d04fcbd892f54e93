package completions

import "reprise/proxy/canon"

// reference is the page of the documentation.
const reference = "https://platform.openai.com/docs/api-reference/completions/create"

// defaults are the fields of the completions API of which a value means the same as absence. max_tokens has no row: vLLM has 16 for absent,
// and all that fits for null. Nor has stop as an empty list: Ollama then drops the stops of its model.
var defaults = canon.NewDefaults(append(canon.Nullable(reference,
	"logprobs", "suffix", "stop", "seed", "temperature", "top_p", "frequency_penalty", "presence_penalty", "logit_bias"),
	canon.Default{Field: "n", Values: []string{"null", "1"}, URL: reference, Says: "null is allowed; one completion by default"},
	canon.Default{Field: "best_of", Values: []string{"null", "1"}, URL: reference, Says: "null is allowed; one candidate by default"},
	canon.Default{Field: "echo", Values: []string{"null", "false"}, URL: reference, Says: "null is allowed; false by default"})...)
