package ollama

import (
	"github.com/tidwall/gjson"

	"reprise/proxy/answer"
	"reprise/proxy/answer/rawjson"
	"reprise/proxy/internal/apierror"
)

// lines implements [answer.Streams] for both APIs: a stream is a line of JSON for each piece of the answer, and the line with "done":true has
// the figures.
type lines struct {
	grows map[string]bool // the members whose pieces make the answer
}

var _ answer.Streams = lines{}

// Merger returns a merger of lines.
func (s lines) Merger() answer.Merger { return &merged{lines: s} }

// Mark marks the ids of calls: the answers have no other ids, and their times are texts.
func (lines) Mark(m *answer.Marker, line gjson.Result) {
	line.ForEach(func(k, v gjson.Result) bool {
		calls{}.MarkLinks(m, k.Str, v)
		return true
	})
}

// calls implements [answer.Linker].
type calls struct{}

// MarkLinks marks the ids of the calls in a message. Older versions give none.
func (calls) MarkLinks(m *answer.Marker, name string, v gjson.Result) {
	if name != "message" || !v.IsObject() {
		return
	}
	for _, call := range rawjson.Elements(v.Get("tool_calls")) {
		m.Link(call, "id")
	}
}

// NewLink appends an id of the same shape as original.
func (calls) NewLink(dst []byte, nonce [12]byte, original string) []byte {
	return answer.AppendLink(dst, nonce, original)
}

// Last reports whether a line says that the answer is done.
func (lines) Last(line []byte) bool { return gjson.GetBytes(line, "done").Type == gjson.True }

// Render renders an answer as two lines: all that was said, and the end with the figures.
func (s lines) Render(object gjson.Result) []byte {
	said, last := []byte{'{'}, []byte{'{'}
	object.ForEach(func(k, v gjson.Result) bool {
		switch {
		case k.Str == "done" || !rawjson.Given(v):
		case s.grows[k.Str]:
			said = rawjson.AppendMember(said, 1, k.Raw, v.Raw)
			last = appendLast(last, k, v)
		case k.Str == "model" || k.Str == "created_at":
			said = rawjson.AppendMember(said, 1, k.Raw, v.Raw)
			last = rawjson.AppendMember(last, 1, k.Raw, v.Raw)
		default:
			last = rawjson.AppendMember(last, 1, k.Raw, v.Raw)
		}
		return true
	})
	said = rawjson.AppendMember(said, 1, `"done"`, "false")
	last = rawjson.AppendMember(last, 1, `"done"`, "true")
	return append(append(append(said, "}\n"...), last...), "}\n"...)
}

// merged is a stream merged into one answer.
type merged struct {
	lines
	top rawjson.Object
	repeats
}

// Add adds a line.
func (m *merged) Add(r gjson.Result) (last bool, err error) {
	m.repeats = repeats{}
	r.ForEach(func(k, v gjson.Result) bool {
		t := m.top.Member(k.Str, k.Raw)
		if m.grows[k.Str] {
			t.Add(v, &m.grown)
		} else {
			t.Replace(v)
		}
		last = last || k.Str == "done" && v.Type == gjson.True
		return true
	})
	return last, nil
}

// Object returns the answer.
func (m *merged) Object() (gjson.Result, error) {
	if m.time != "" {
		m.top.Member("created_at", "").Replace(gjson.Result{Type: gjson.String, Raw: m.time})
	}
	return answer.Parse(m.top.Append(nil))
}

// proof holds lines against an answer.
type proof struct {
	lines
	object gjson.Result
	claim  *rawjson.Claim
	latest map[string]gjson.Result // members that change from line to line
	repeats
}

// Prover returns what holds lines against an answer.
func (s lines) Prover(object gjson.Result) answer.Merger {
	return &proof{lines: s, object: object, claim: rawjson.NewClaim(object), latest: map[string]gjson.Result{}}
}

// Add holds a line against the answer.
func (p *proof) Add(line gjson.Result) (last bool, err error) {
	p.repeats = repeats{}
	ok := true
	line.ForEach(func(k, v gjson.Result) bool {
		last = last || k.Str == "done" && v.Type == gjson.True
		switch claim := p.claim.Member(k.Str); {
		case k.Str == "created_at" || k.Str == "done":
			p.latest[k.Str] = v
		case p.grows[k.Str]:
			ok = claim.Joins(v, &p.grown)
		default:
			ok = claim.Holds(v)
		}
		return ok
	})
	if !ok {
		err = answer.ErrMalformed
	}
	return last, err
}

// Object returns the answer, if the lines have said all of it.
func (p *proof) Object() (gjson.Result, error) {
	if p.time != "" {
		p.latest["created_at"] = gjson.Result{Type: gjson.String, Raw: p.time}
	}
	for name, v := range p.latest {
		if !p.claim.Member(name).Is(v) {
			return gjson.Result{}, answer.ErrMalformed
		}
	}
	if !p.claim.Whole() {
		return gjson.Result{}, answer.ErrMalformed
	}
	return p.object, nil
}

// repeats finds what varies in the lines that repeat the one before: the time, and a fragment. It is a part of an [answer.Merger].
type repeats struct {
	grown rawjson.Growth // of the last line that was added
	place int            // of its fragment among those that vary
	time  string         // of the last repetition of it, in quotes
}

// Done reports that [DONE] does not end a stream.
func (*repeats) Done() bool { return false }

// Varies returns the time and the fragment of a line that does nothing but add it.
func (r *repeats) Varies(line gjson.Result) (varies []gjson.Result) {
	text, ok := r.grown.Fragment()
	if !ok {
		return nil
	}
	line.ForEach(func(k, v gjson.Result) bool {
		switch {
		case k.Str == "created_at" && v.Type == gjson.String:
			varies = append(varies, v)
		case v.Index <= text.Index && text.Index < v.Index+len(v.Raw):
			r.place = len(varies)
			varies = append(varies, text)
		}
		return true
	})
	return varies
}

// Repeat adds the fragment of such a line.
func (r *repeats) Repeat(values []string) bool {
	r.time = ""
	if len(values) > 1 {
		r.time = values[1-r.place]
	}
	return r.grown.Again(values[r.place])
}

// appendLast appends what the last line has in place of a member that grows: an empty text.
func appendLast(dst []byte, k, v gjson.Result) []byte {
	switch k.Str {
	case "response":
		return rawjson.AppendMember(dst, 1, k.Raw, `""`)
	case "message":
		role := v.Get("role").Raw
		if role == "" {
			role = `"assistant"`
		}
		return rawjson.AppendMember(dst, 1, k.Raw, `{"role":`+role+`,"content":""}`)
	}
	return dst
}

// usageOf counts tokens.
func usageOf(r gjson.Result) answer.Usage {
	return answer.Usage{Input: max(0, r.Get("prompt_eval_count").Int()), Output: max(0, r.Get("eval_count").Int())}
}

// ErrorBody renders an error in the shape of Ollama.
func (lines) ErrorBody(e *apierror.Error) []byte {
	return []byte(`{"error":` + rawjson.Quote(e.Message) + "}")
}
