package dialect

// AIBrix keeps a session at its pod by X-AIBrix-Session-Key. Its x-session-id is the address of a pod, and no name of a session. The body
// reaches the engine as it is.
var aiBrix = table{name: "aibrix", usage: true, strip: engineInternals, hints: []hint{
	{conversation, "header:X-Aibrix-Session-Key", texts, version{}},
	{salt, "cache_salt", chats | completions | responses, version{}},
}}
