package openai

import (
	"strings"

	"github.com/tidwall/gjson"

	"reprise/proxy/answer"
	"reprise/proxy/answer/rawjson"
)

// responseProof holds events against a response: the deltas of a text must be all of it, and each event that has a text, a part or an item as a
// whole must agree with the response at the end. It implements [answer.Merger].
type responseProof struct {
	response gjson.Result
	claim    *rawjson.Claim
	grown    rawjson.Growth // of the last event
	place    int            // of its fragment among those that vary
}

// Prover returns what holds events against a response.
func (responses) Prover(object gjson.Result) answer.Merger {
	return &responseProof{response: object, claim: rawjson.NewClaim(object)}
}

// texts are the events that have a fragment of a text, as NAME.delta, and all of it, as NAME.done: the list of the item in which its
// part is, "" for the item itself, and its member.
var texts = map[string]struct{ list, member string }{
	"response.output_text":             {"content", "text"},
	"response.refusal":                 {"content", "refusal"},
	"response.reasoning_text":          {"content", "text"},
	"response.reasoning_summary_text":  {"summary", "text"},
	"response.function_call_arguments": {"", "arguments"},
	"response.mcp_call_arguments":      {"", "arguments"},
	"response.custom_tool_call_input":  {"", "input"},
}

// Add holds an event against the response.
func (p *responseProof) Add(event gjson.Result) (last bool, err error) {
	p.grown = rawjson.Growth{}
	last, ok := p.holds(event.Get("type").Str, event)
	if !ok {
		err = answer.ErrMalformed
	}
	return last, err
}

func (p *responseProof) holds(kind string, event gjson.Result) (last, ok bool) {
	switch kind {
	case "response.created", "response.in_progress", "response.queued":
		return false, p.begun(event.Get("response"))
	case "response.completed", "response.incomplete":
		return true, p.ended(event.Get("response"))
	case "ping", "keepalive":
		return false, true
	}
	item := elementOf(p.claim.Member("output"), event, "output_index")
	if item == nil {
		return false, false
	}
	if id := event.Get("item_id"); id.Exists() && !item.Member("id").Holds(id) {
		return false, false
	}
	switch kind {
	case "response.output_item.added":
		return false, identified(item, event.Get("item"))
	case "response.output_item.done":
		return false, item.Is(event.Get("item"))
	case "response.content_part.added":
		return false, identified(partOf(item, "content", event), event.Get("part"))
	case "response.content_part.done":
		return false, partOf(item, "content", event).Is(event.Get("part"))
	case "response.reasoning_summary_part.added":
		return false, identified(partOf(item, "summary", event), event.Get("part"))
	case "response.reasoning_summary_part.done":
		return false, partOf(item, "summary", event).Is(event.Get("part"))
	case "response.output_text.annotation.added":
		return false, elementOf(partOf(item, "content", event).Member("annotations"), event, "annotation_index").Is(event.Get("annotation"))
	}
	if name, is := strings.CutSuffix(kind, ".delta"); is {
		return false, textOf(item, name, event).Joins(event.Get("delta"), &p.grown)
	}
	if name, is := strings.CutSuffix(kind, ".done"); is && texts[name].member != "" {
		return false, textOf(item, name, event).Is(event.Get(texts[name].member))
	}
	return false, false
}

// elementOf returns the element of a list that an event names by its index; nil where there is none.
func elementOf(list *rawjson.Claim, event gjson.Result, index string) *rawjson.Claim {
	at, ok := rawjson.Place(event.Get(index))
	if !ok {
		return nil
	}
	return list.Elem(int(at))
}

// partOf returns the part of an item of which an event is.
func partOf(item *rawjson.Claim, list string, event gjson.Result) *rawjson.Claim {
	return elementOf(item.Member(list), event, list+"_index")
}

// textOf returns the text of an item of which an event is; nil where it is of nothing that is known.
func textOf(item *rawjson.Claim, name string, event gjson.Result) *rawjson.Claim {
	of, ok := texts[name]
	switch {
	case !ok:
		return nil
	case of.list == "":
		return item.Member(of.member)
	}
	return partOf(item, of.list, event).Member(of.member)
}

// identified reports whether an item or a part holds what names it in the event that begins it, and has its other members: what they say may still
// change.
func identified(claim *rawjson.Claim, begun gjson.Result) (ok bool) {
	ok = exists(claim)
	begun.ForEach(func(k, v gjson.Result) bool {
		switch k.Str {
		case "type", "id", "role", "name", "call_id":
			ok = claim.Member(k.Str).Holds(v)
		case "status", "content", "summary", "arguments", "input", "text", "refusal", "annotations", "logprobs":
		default:
			ok = v.Type == gjson.Null || !claim.Member(k.Str).Is(gjson.Result{Type: gjson.Null, Raw: "null"})
		}
		return ok
	})
	return ok
}

// begun reports whether the response holds what it began with, except what changes until it ends.
func (p *responseProof) begun(response gjson.Result) (ok bool) {
	ok = response.IsObject()
	response.ForEach(func(k, v gjson.Result) bool {
		switch k.Str {
		case "status", "output", "usage", "completed_at", "error", "incomplete_details", "service_tier":
		default:
			ok = p.claim.Member(k.Str).Holds(v)
		}
		return ok
	})
	return ok
}

// ended reports whether the response is what the last event has. What that has as output proves nothing of what was streamed before.
func (p *responseProof) ended(response gjson.Result) (ok bool) {
	ok = response.IsObject()
	response.ForEach(func(k, v gjson.Result) bool {
		if k.Str == "output" {
			ok = rawjson.Empty(v) || rawjson.NewClaim(p.response.Get("output")).Is(v)
		} else {
			ok = p.claim.Member(k.Str).Is(v)
		}
		return ok
	})
	return ok
}

// Done reports that [DONE] does not end a stream.
func (*responseProof) Done() bool { return false }

// Object returns the response, if the events have said all of it.
func (p *responseProof) Object() (gjson.Result, error) {
	if !p.claim.Whole() {
		return gjson.Result{}, answer.ErrMalformed
	}
	return p.response, nil
}

// Varies returns the fragment, the number and the padding of an event that does nothing but add a fragment.
func (p *responseProof) Varies(event gjson.Result) []gjson.Result {
	text, ok := p.grown.Fragment()
	if !ok {
		return nil
	}
	varies := varying(event)
	for i, v := range varies {
		if v.Index == text.Index {
			p.place = i
			return varies
		}
	}
	return nil
}

// Repeat adds the fragment of such an event.
func (p *responseProof) Repeat(values []string) bool { return p.grown.Again(values[p.place]) }
