package anthropic

import "reprise/proxy/canon"

// The pages of the documentation.
const (
	reference = "https://platform.claude.com/docs/en/api/messages/create"
	choosing  = "https://platform.claude.com/cookbook/tool-use-tool-choice"
)

// defaults are the fields of the Messages API of which a value means the same as absence. Marks are no field here: see the family.
//
// Apart stay, beside all that is not documented: thinking (what its absence means depends on the model, as does its display), speed standard
// and service_tier auto (not documented as defaults), tool_choice none without tools (gateways find tools in messages), tools and
// stop_sequences as empty lists, and numbers of temperature, top_p, top_k and max_tokens.
var defaults = canon.NewDefaults(append(canon.Nullable(reference,
	"container", "diagnostics", "inference_geo", "speed", "metadata.user_id", "output_config.effort", "output_config.format", "tools[].eager_input_streaming"),
	canon.Default{Field: "metadata", Values: []string{"{}"}, Attributes: true, URL: reference, Says: "describes who asks, by user_id alone"},
	canon.Default{Field: "metadata.user_id", Attributes: true, URL: reference, Says: "an identifier of the user, which may be used to find abuse"},
	canon.Default{Field: "tool_choice", Values: []string{`{"type":"auto"}`}, With: "tools", URL: choosing, Says: "auto is the default with tools"},
	canon.Default{Field: "tool_choice.disable_parallel_tool_use", Values: []string{"false"}, URL: reference, Says: "false by default"})...)
