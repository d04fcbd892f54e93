package dialect

// Mistral refuses unknown fields with 422, stream_options among them: its streams always report their usage.
var mistral = table{name: "mistral", hints: []hint{
	{affinity, "prompt_cache_key", chats, version{}},
}}
