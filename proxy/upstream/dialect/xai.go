package dialect

// xAI keeps a cache on each of its servers, and chooses the server by a header for chats and by a field for responses; in chats the field
// is ignored. Streams always report their usage.
var xAI = table{name: "xai", hints: []hint{
	{affinity, "header:X-Grok-Conv-Id", chats, version{}},
	{affinity, "prompt_cache_key", responses, version{}},
}}
