package dialect

// llm-d's router, and the endpoint picker of the Gateway API Inference Extension before it, keep a session at its pod. The body reaches the
// engine as it is, and the router reads cache_salt for its own hashes.
var llmD = table{name: "llm-d", usage: true, strip: engineInternals, hints: []hint{
	{conversation, "header:X-Session-Id", texts, version{}},
	{salt, "cache_salt", chats | completions | responses, version{}},
}}
