package dialect

// TensorRT-LLM (trtllm-serve) refuses every unknown field. conversation_params routes only in its orchestrator of disaggregated servers,
// and retention is in its Python interface alone.
var trtLLM = table{name: "trtllm", usage: true, strip: names{"priority": nil, "disaggregated_params": nil}, hints: []hint{
	{salt, "cache_salt", chats | completions, version{}},
}}
