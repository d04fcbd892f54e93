package dialect

// The dialects that are a table, in the order of the list.

// generic is the dialect of any OpenAI-compatible upstream, such as DeepSeek, Ollama and TGI. It adds one field: a stream is asked to report
// its usage, because a stored answer must have it.
var generic = table{name: Default, usage: true}

// Nothing is the name of the dialect of an upstream that gets the client's request as it is.
const Nothing = "plain"

var plain = table{name: Nothing}

// vLLM mixes cache_salt into the hash of the first block (0.9 and later). It reads X-Session-ID (0.29 and later) and passes it to KV
// connectors. It has no field for affinity or retention, and writes a warning to its log for each unknown one.
var vLLM = table{name: "vllm", usage: true, strip: engineInternals, hints: []hint{
	{conversation, "header:X-Session-Id", texts, version{minor: 29, known: true}},
	{salt, "cache_salt", chats | completions | responses, version{minor: 9}},
}}

// SGLang adds cache_salt to the key of its radix tree. It has no field for affinity: session_id keeps blocks until the session is closed
// with a request of its own. It ignores unknown fields.
var sgLang = table{name: "sglang", usage: true, strip: engineInternals, hints: []hint{
	{salt, "cache_salt", chats | completions | responses, version{}},
}}

// SMG is SGLang's model gateway, also called sgl-router. It forwards only a few headers, and routes by X-SMG-Routing-Key under its policies
// manual and consistent_hashing. The body reaches the engine with all its fields.
var smg = table{name: "smg", usage: true, strip: engineInternals, hints: []hint{
	{conversation, "header:X-Smg-Routing-Key", texts, version{}},
	{salt, "cache_salt", chats | completions | responses, version{}},
}}

// TensorRT-LLM (trtllm-serve) refuses every unknown field. conversation_params routes only in its orchestrator of disaggregated servers,
// and retention is in its Python interface alone.
var trtLLM = table{name: "trtllm", usage: true, strip: names{"priority": nil, "disaggregated_params": nil}, hints: []hint{
	{salt, "cache_salt", chats | completions, version{}},
}}

// NVIDIA Dynamo's frontend refuses unknown fields except for a few that it passes on, of which cache_salt is one. Versions before 1.3 had
// sessions in the body, in a form that changed with each version.
var dynamo = table{name: "dynamo", usage: true, hints: []hint{
	{conversation, "header:X-Dynamo-Session-Id", texts, version{major: 1, minor: 3}},
	{salt, "cache_salt", chats | completions, version{}},
}, strip: names{"priority": nil, "kv_transfer_params": nil, "nvext": {"backend_instance_id": nil, "prefill_worker_id": nil,
	"decode_worker_id": nil, "dp_rank": nil, "prefill_dp_rank": nil, "agent_hints": {"priority": nil, "strict_priority": nil}}}}

// llm-d's router, and the endpoint picker of the Gateway API Inference Extension before it, keep a session at its pod. The body reaches the
// engine as it is, and the router reads cache_salt for its own hashes.
var llmD = table{name: "llm-d", usage: true, strip: engineInternals, hints: []hint{
	{conversation, "header:X-Session-Id", texts, version{}},
	{salt, "cache_salt", chats | completions | responses, version{}},
}}

// AIBrix keeps a session at its pod by X-AIBrix-Session-Key. Its x-session-id is the address of a pod, and no name of a session. The body
// reaches the engine as it is.
var aiBrix = table{name: "aibrix", usage: true, strip: engineInternals, hints: []hint{
	{conversation, "header:X-Aibrix-Session-Key", texts, version{}},
	{salt, "cache_salt", chats | completions | responses, version{}},
}}

// productionStack is vLLM's production stack: its router keeps a session at its engine by a header that its operator names
// (--session-key), and so must the proxy's. The body reaches the engine as it is.
var productionStack = table{name: "production-stack", usage: true, strip: engineInternals, session: true, hints: []hint{
	{salt, "cache_salt", chats | completions | responses, version{}},
}}

// xAI keeps a cache on each of its servers, and chooses the server by a header for chats and by a field for responses; in chats the field
// is ignored.
var xAI = table{name: "xai", usage: true, hints: []hint{
	{affinity, "header:X-Grok-Conv-Id", chats, version{}},
	{affinity, "prompt_cache_key", responses, version{}},
}}

// Fireworks chooses the replica by both a header and a field. prompt_cache_isolation_key separates caches, and is no affinity. Streams
// always report their usage.
var fireworks = table{name: "fireworks", hints: []hint{
	{affinity, "header:X-Session-Affinity", texts, version{}},
	{affinity, "prompt_cache_key", chats | completions, version{}},
	{salt, "prompt_cache_isolation_key", chats | completions, version{}},
}}

// Mistral refuses unknown fields with 422, stream_options among them: its streams always report their usage.
var mistral = table{name: "mistral", hints: []hint{
	{affinity, "prompt_cache_key", chats, version{}},
}}

// llama.cpp's server keeps prompts by itself (cache_prompt is true), and chooses the slot with the most similar one. id_slot would choose a
// slot by hand, which only the server's owner can do.
var llamaCPP = table{name: "llamacpp", usage: true, strip: names{"id_slot": nil}}
