package dialect

// productionStack is vLLM's production stack: its router keeps a session at its engine by a header that its operator names
// (--session-key), and so must the proxy's. The body reaches the engine as it is.
var productionStack = table{name: "production-stack", usage: true, strip: engineInternals, session: true, hints: []hint{
	{salt, "cache_salt", chats | completions | responses, version{}},
}}
