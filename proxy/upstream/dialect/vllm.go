package dialect

// vLLM mixes cache_salt into the hash of the first block (0.9 and later). It reads X-Session-ID (0.29 and later) and passes it to KV
// connectors. It has no field for affinity or retention, and writes a warning to its log for each unknown one.
var vLLM = table{name: "vllm", usage: true, strip: engineInternals, hints: []hint{
	{conversation, "header:X-Session-Id", texts, version{minor: 29, known: true}},
	{salt, "cache_salt", chats | completions | responses, version{minor: 9}},
}}
