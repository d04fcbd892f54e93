package dialect

// SMG is SGLang's model gateway, also called sgl-router. It forwards only a few headers, and routes by X-SMG-Routing-Key under its policies
// manual and consistent_hashing. The body reaches the engine with all its fields.
var smg = table{name: "smg", usage: true, strip: engineInternals, hints: []hint{
	{conversation, "header:X-Smg-Routing-Key", texts, version{}},
	{salt, "cache_salt", chats | completions | responses, version{}},
}}
