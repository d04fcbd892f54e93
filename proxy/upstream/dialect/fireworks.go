package dialect

// Fireworks chooses the replica by both a header and a field. prompt_cache_isolation_key separates caches, and is no affinity. Streams
// always report their usage.
var fireworks = table{name: "fireworks", hints: []hint{
	{affinity, "header:X-Session-Affinity", texts, version{}},
	{affinity, "prompt_cache_key", chats | completions, version{}},
	{salt, "prompt_cache_isolation_key", chats | completions, version{}},
}}
