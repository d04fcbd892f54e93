package canon

import (
	"strings"
	"time"
)

// liveWeb is the reason of requests for which the upstream searches the web. An operator may keep the answers; see [Request.Uncacheable].
const liveWeb = "live-web"

// liveMembers are members that make the upstream search the web before it answers: of OpenAI and Perplexity, xAI, DashScope, OpenRouter
// (its plug-ins are not only for the web, and new ones come), Groq, and Zhipu and others.
var liveMembers = map[string]bool{"web_search_options": true, "search_parameters": true, "enable_search": true, "plugins": true,
	"compound_custom": true, "web_search": true}

// liveModel reports whether a model searches the web unasked, by its name behind those of gateways and vendors: OpenRouter's models with
// this suffix, Venice's, Perplexity's, OpenAI's for searches and Groq's compound systems. A name that only looks so costs hits, and no wrong answer.
func liveModel(name string) bool {
	name = name[strings.LastIndexByte(name, '/')+1:]
	has := func(part string) bool { return strings.Contains(name, part) }
	begins := func(with string) bool { return name == with || strings.HasPrefix(name, with+"-") }
	return has(":online") || has("enable_web_search=") || strings.HasSuffix(name, "-online") || begins("sonar") || has("-search-preview") || has("-search-api") || begins("compound")
}

// uncacheable returns why a member of the body forbids keeping its answer; "" when it does not.
func (p *Reader) uncacheable(name []byte, v uint32) string {
	reason := p.commonReason(name, v)
	if reason != "" && reason != liveWeb || !p.given(v) {
		return reason
	}
	if named := p.rules.Uncacheable[string(name)]; named != "" {
		return named
	}
	if p.rules.Stateless != nil && !p.rules.Stateless[string(name)] {
		return "unknown-field"
	}
	return reason
}

// commonReason returns the reason for the members that mean the same in every API: gateways accept the members of one API in the
// requests of another. A value of another type than the API's counts as set, because some servers take "2" for 2.
//
// Not reasons: best_of, which still gives one answer; an absent store, though the Responses API then stores: clients that
// need the stored response say store: true.
func (d *doc) commonReason(name []byte, v uint32) string {
	switch string(name) {
	case "n":
		if d.given(v) && !d.isOne(v) {
			return "n"
		}
	case "audio":
		if d.given(v) {
			return "audio"
		}
	case "modalities":
		if d.anyItem(v, func(i uint32) bool { return d.isText(i, "audio") }) {
			return "audio"
		}
	case "store":
		if d.set(v) {
			return "stored"
		}
	case "background":
		if d.set(v) {
			return "background"
		}
	case "previous_response_id":
		if d.given(v) {
			return "previous-response"
		}
	case "conversation":
		if d.given(v) {
			return "conversation"
		}
	case "keep_alive":
		if d.unloads(v) {
			return "unload"
		}
	case "data_sources": // Azure's, of documents that change
		if d.set(v) {
			return "live-tools"
		}
	case "tools":
		if d.anyItem(v, d.isLiveTool) {
			return "live-tools"
		}
	default:
		if liveMembers[string(name)] && d.set(v) {
			return liveWeb
		}
	}
	return ""
}

// set reports whether a switch is on: given, and not false.
func (d *doc) set(v uint32) bool { return d.given(v) && !d.is(v, falsy) }

func (d *doc) isOne(v uint32) bool { return d.isNumber(v, "d1e0;") }

// isNumber reports whether v is the number with this canonical form.
func (d *doc) isNumber(v uint32, canonical string) bool {
	var buf [32]byte
	return d.is(v, number) && string(appendNumber(buf[:0], d.text(v))) == canonical
}

// unloads reports whether v, how long Ollama keeps the model loaded after its answer, is zero seconds: the request then frees the memory of the
// server, which a stored answer would not do.
func (d *doc) unloads(v uint32) bool {
	if d.is(v, text) {
		length, err := time.ParseDuration(string(d.text(v)))
		return err == nil && length == 0
	}
	return d.isNumber(v, "de0;")
}

func (d *doc) anyItem(v uint32, is func(uint32) bool) bool {
	for i := range d.elements(v) {
		if is(i) {
			return true
		}
	}
	return false
}

// isLiveTool reports whether a tool reads changing data on the server's side (web_search, file_search, mcp, …), so that its
// answers age. The tools listed run at the client, and so do those without a type that have a name; any other counts as live.
func (d *doc) isLiveTool(tool uint32) bool {
	t := d.member(tool, "type")
	if !d.is(t, text) {
		return !d.given(d.member(tool, "function")) && !d.given(d.member(tool, "name"))
	}
	switch string(d.text(t)) {
	case "function", "custom", "local_shell", "apply_patch":
		return false
	case "bash_20241022", "bash_20250124", "text_editor_20241022", "text_editor_20250124", "text_editor_20250429", "text_editor_20250728",
		"memory_20250818", "computer_20241022", "computer_20250124", "computer_20251124", "computer_toolset_20260801",
		"browser_toolset_20260801": // Anthropic's
		return false
	}
	return true
}
