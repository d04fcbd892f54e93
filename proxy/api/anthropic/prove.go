package anthropic

import (
	"github.com/tidwall/gjson"

	"reprise/proxy/answer"
	"reprise/proxy/answer/rawjson"
)

// proof holds events against a message. It implements [answer.Merger].
type proof struct {
	message gjson.Result
	claim   *rawjson.Claim
	latest  map[string]gjson.Result // members of the message that an event may change
	usage   map[string]gjson.Result // members of its usage: counts so far
	blocks  []*blockProof
	grown   rawjson.Growth // of the last event
}

// blockProof holds the events of one block against it.
type blockProof struct {
	*rawjson.Claim
	signature gjson.Result   // the last one
	input     *rawjson.Claim // the JSON of a call's input as a text, once a fragment of it has come
	citations int            // said
}

// Prover returns what holds events against a message.
func (messages) Prover(object gjson.Result) answer.Merger {
	return &proof{message: object, claim: rawjson.NewClaim(object), latest: map[string]gjson.Result{}, usage: map[string]gjson.Result{}}
}

// Add holds an event against the message.
func (p *proof) Add(event gjson.Result) (last bool, err error) {
	p.grown = rawjson.Growth{}
	kind, ok := event.Get("type").Str, true
	event.ForEach(func(k, v gjson.Result) bool {
		switch {
		case k.Str == "type" || k.Str == "index":
		case kind == "message_start" && k.Str == "message":
			ok = p.members(v)
		case kind == "message_delta" && k.Str == "delta":
			ok = p.members(v)
		case kind == "message_delta":
			ok = p.member(k.Str, v)
		case kind == "content_block_start" && k.Str == "content_block":
			ok = p.begin(int(event.Get("index").Int()), v)
		case kind == "content_block_delta" && k.Str == "delta":
			last := len(p.blocks) - 1
			ok = last >= 0 && event.Get("index").Int() == int64(last) && p.blocks[last].holds(v, &p.grown)
		default:
			ok = v.Type == gjson.Null || kind == "ping"
		}
		return ok
	})
	if !ok {
		err = answer.ErrMalformed
	}
	return kind == "message_stop", err
}

// members takes what an event has of the message.
func (p *proof) members(of gjson.Result) (ok bool) {
	ok = true
	of.ForEach(func(k, v gjson.Result) bool {
		ok = p.member(k.Str, v)
		return ok
	})
	return ok
}

// member takes a member of the message. Of those that a later event may change, the last one that is not null counts.
func (p *proof) member(name string, v gjson.Result) bool {
	switch name {
	case "content":
		return exists(p.claim.Member(name), "[]") && rawjson.Empty(v)
	case "usage":
		v.ForEach(func(k, v gjson.Result) bool {
			if v.Type != gjson.Null {
				p.usage[k.Str] = v
			}
			return true
		})
	case "id", "type", "role", "model":
		return p.claim.Member(name).Holds(v)
	default:
		if v.Type != gjson.Null {
			p.latest[name] = v
		}
	}
	return true
}

// begin takes the beginning of a block.
func (p *proof) begin(index int, content gjson.Result) (ok bool) {
	b := &blockProof{Claim: p.claim.Member("content").Elem(index)}
	p.blocks = append(p.blocks, b)
	ok = exists(b.Claim, "{}") && index == len(p.blocks)-1
	content.ForEach(func(k, v gjson.Result) bool {
		switch {
		case !ok:
		case k.Str == "text" || k.Str == "thinking":
			ok = b.Member(k.Str).Joins(v, nil)
		case k.Str == "signature":
			if v.Raw != `""` {
				b.signature = v
			}
		case k.Str == "input" && v.Raw == "{}":
			ok = exists(b.Member(k.Str), "{}")
		case k.Str == "citations" && v.IsArray():
			ok = b.cites(v)
		default:
			ok = v.Type == gjson.Null || b.Member(k.Str).Is(v)
		}
		return ok
	})
	return ok
}

// holds reports whether a block holds a delta.
func (b *blockProof) holds(delta gjson.Result, g *rawjson.Growth) (ok bool) {
	ok = true
	delta.ForEach(func(k, v gjson.Result) bool {
		switch k.Str {
		case "type", "estimated_tokens": // so far
		case "text", "thinking":
			ok = (v.Type == gjson.String || v.Type == gjson.Null) && b.Member(k.Str).Joins(v, g)
		case "signature":
			if v.Raw != `""` {
				b.signature = v
			}
		case "citation":
			ok = b.cite(v)
		case "partial_json":
			if v.Raw == `""` {
				break
			}
			if b.input == nil {
				b.input = b.Member("input").AsText()
			}
			ok = b.input.Joins(v, g)
		default:
			ok = v.Type == gjson.Null
		}
		return ok
	})
	return ok
}

// cites takes a list of citations.
func (b *blockProof) cites(list gjson.Result) (ok bool) {
	ok = exists(b.Member("citations"), "[]")
	for _, citation := range rawjson.Elements(list) {
		ok = ok && b.cite(citation)
	}
	return ok
}

// cite takes a citation.
func (b *blockProof) cite(citation gjson.Result) bool {
	one := b.Member("citations").Elem(b.citations)
	b.citations++
	return exists(b.Member("citations"), "[]") && one.Is(citation)
}

// exists reports whether there is a claim, and takes it as said that there is an empty one, {} or [].
func exists(c *rawjson.Claim, empty string) bool {
	return c.Holds(gjson.Result{Type: gjson.JSON, Raw: empty})
}

// Done reports that [DONE] does not end a stream.
func (*proof) Done() bool { return false }

// Object returns the message, if the events have said all of it.
func (p *proof) Object() (gjson.Result, error) {
	ok, usage := true, p.claim.Member("usage")
	for i, block := range rawjson.Elements(p.message.Get("content")) {
		ok = ok && i < len(p.blocks) && p.blocks[i].whole(block)
	}
	for name, v := range p.latest {
		ok = ok && p.claim.Member(name).Is(v)
	}
	for name, v := range p.usage {
		ok = ok && exists(usage, "{}") && usage.Member(name).Is(v)
	}
	if !ok || !p.claim.Whole() {
		return gjson.Result{}, answer.ErrMalformed
	}
	return p.message, nil
}

// whole reports whether the fragments have said all of the input, and the signature is the last one.
func (b *blockProof) whole(block gjson.Result) bool {
	if b.input != nil && (!b.input.Whole() || !b.Member("input").Is(block.Get("input"))) {
		return false
	}
	return !b.signature.Exists() || b.Member("signature").Is(b.signature)
}

// Varies returns the fragment of an event that has one.
func (p *proof) Varies(gjson.Result) []gjson.Result { return fragment(&p.grown) }

// Repeat adds another fragment to the same member.
func (p *proof) Repeat(values []string) bool { return p.grown.Again(values[0]) }
