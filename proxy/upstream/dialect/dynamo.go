package dialect

// NVIDIA Dynamo's frontend refuses unknown fields except for a few that it passes on, of which cache_salt is one. Versions before 1.3 had
// sessions in the body, in a form that changed with each version.
var dynamo = table{name: "dynamo", usage: true, hints: []hint{
	{conversation, "header:X-Dynamo-Session-Id", texts, version{major: 1, minor: 3}},
	{salt, "cache_salt", chats | completions, version{}},
}, strip: names{"priority": nil, "kv_transfer_params": nil, "nvext": {"backend_instance_id": nil, "prefill_worker_id": nil,
	"decode_worker_id": nil, "dp_rank": nil, "prefill_dp_rank": nil, "agent_hints": {"priority": nil, "strict_priority": nil}}}}
