package canon

// uncacheable is why a member of the body forbids keeping its answer; "" when it does not. A value of another type than
// the API's counts as set, because some servers take "2" for 2.
//
// Not reasons: best_of, which still gives one answer; an absent store, though the Responses API then stores: its clients
// rarely ask for it, and one that does say store: true.
func (p *parser) uncacheable(name []byte, v uint32) string {
	switch string(name) {
	case "n":
		if p.given(v) && !p.isOne(v) {
			return "n"
		}
	case "audio":
		if p.given(v) {
			return "audio"
		}
	case "modalities":
		if p.anyItem(v, func(i uint32) bool { return p.isText(i, "audio") }) {
			return "audio"
		}
	case "store":
		if p.set(v) {
			return "stored"
		}
	case "background":
		if p.set(v) {
			return "background"
		}
	case "previous_response_id":
		if p.given(v) {
			return "previous-response"
		}
	case "conversation":
		if p.given(v) {
			return "conversation"
		}
	case "prompt": // of the Responses API: a template kept by the server, whose versions move
		if p.req.Family == Responses && p.given(v) {
			return "server-state"
		}
	case "web_search_options", "search_parameters", "enable_search", "plugins": // OpenAI, xAI, DashScope, OpenRouter
		if p.set(v) {
			return "live-tools"
		}
	case "tools":
		if p.anyItem(v, p.isLiveTool) {
			return "live-tools"
		}
	}
	return ""
}

// set tells whether a switch is on: there, and neither null nor false.
func (p *parser) set(v uint32) bool { return p.given(v) && !p.is(v, falsy) }

func (p *parser) isOne(v uint32) bool {
	var buf [32]byte
	return p.is(v, number) && string(appendNumber(buf[:0], p.text(v))) == "d1e0;"
}

func (p *parser) anyItem(v uint32, is func(uint32) bool) bool {
	if !p.is(v, array) {
		return false
	}
	for i := v + 1; i < p.nodes[v].next; i = p.nodes[i].next {
		if is(i) {
			return true
		}
	}
	return false
}

// isLiveTool tells whether a tool looks at the world on the server's side (web_search, file_search, mcp, …), so that its
// answers age. Tools that the client runs are named; one that is not known counts as live.
func (p *parser) isLiveTool(tool uint32) bool {
	t := p.member(tool, "type")
	if !p.is(t, text) {
		return false
	}
	switch string(p.text(t)) {
	case "function", "custom", "local_shell", "apply_patch":
		return false
	}
	return true
}
