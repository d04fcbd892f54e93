package dialect

// SGLang adds cache_salt to the key of its radix tree. It has no field for affinity: session_id keeps blocks until the session is closed
// with a request of its own. It ignores unknown fields.
var sgLang = table{name: "sglang", usage: true, strip: engineInternals, hints: []hint{
	{salt, "cache_salt", chats | completions | responses, version{}},
}}
