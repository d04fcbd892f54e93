package api

import (
	"bytes"
	"crypto/sha256"
	"slices"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"reprise/proxy/answer"
	"reprise/proxy/answer/rawjson"
	"reprise/proxy/canon"
)

// OriginalBody returns a request's body as the upstream can read it: with the original ids where it names a replay or parts of one. The
// result is body itself where nothing changes.
func (f *Family) OriginalBody(body []byte) []byte {
	if f.Handles == nil {
		return body
	}
	return f.originalLinks(f.originalField(body))
}

func (f *Family) originalField(body []byte) []byte {
	id := gjson.GetBytes(body, f.Handles.Field)
	if id.Type != gjson.String {
		return body
	}
	original, ok := f.Handles.IDs.Original(id.String())
	if !ok {
		return body
	}
	edited, err := sjson.SetBytes(body, f.Handles.Field, original)
	if err != nil {
		return body
	}
	return edited
}

// originalLinks puts the original ids of parts of replays into the conversation.
func (f *Family) originalLinks(body []byte) []byte {
	if f.Requests.Originals == nil || !bytes.Contains(body, []byte(f.Handles.Mark)) {
		return body
	}
	r := restored{originals: f.Requests.Originals, from: map[string]string{}}
	elements := gjson.GetBytes(body, f.Requests.Field)
	if !elements.IsArray() {
		return body
	}
	for _, visit := range []func(gjson.Result){r.own, r.id} {
		elements.ForEach(func(_, e gjson.Result) bool {
			for _, at := range f.Requests.Links {
				visitLinks(e, &at, visit)
			}
			return true
		})
	}
	return r.apply(body)
}

// restored are the ids of a body that are replaced.
type restored struct {
	originals canon.Originals
	from      map[string]string // the id by which each original came first
	edits     []edit
}

// edit replaces a string of the body.
type edit struct {
	at, size int
	with     string
}

// visitLinks calls visit with the ids at one kind of place in an element.
func visitLinks(element gjson.Result, at *canon.Link, visit func(id gjson.Result)) {
	if at.In == "" {
		visit(element.Get(at.Name))
		return
	}
	if of := element.Get(at.In); of.IsArray() {
		of.ForEach(func(_, e gjson.Result) bool {
			visit(e.Get(at.Name))
			return true
		})
	}
}

// own notes an id that is the upstream's own.
func (r *restored) own(v gjson.Result) {
	if _, replayed := r.originals.Original(v.Str); !replayed {
		r.from[v.Str] = v.Str
	}
}

// id replaces one id. A conversation may have an answer and a replay of it, or two replays, and the upstream takes no id for two things:
// the parts of the second get ids that the upstream has not seen, always the same ones.
func (r *restored) id(v gjson.Result) {
	if v.Type != gjson.String {
		return
	}
	original, ok := r.originals.Original(v.Str)
	if !ok {
		return
	}
	if first, ok := r.from[original]; !ok {
		r.from[original] = v.Str
	} else if first != v.Str {
		sum := sha256.Sum256([]byte(v.Str))
		original = string(answer.AppendLink(nil, [12]byte(sum[:12]), original))
	}
	r.edits = append(r.edits, edit{v.Index, len(v.Raw), original})
}

// apply returns body with the ids replaced.
func (r *restored) apply(body []byte) []byte {
	if len(r.edits) == 0 {
		return body
	}
	slices.SortFunc(r.edits, func(a, b edit) int { return a.at - b.at }) // members come in any order
	dst, from := make([]byte, 0, len(body)), 0
	for _, e := range r.edits {
		dst = rawjson.AppendQuote(append(dst, body[from:e.at]...), e.with)
		from = e.at + e.size
	}
	return append(dst, body[from:]...)
}
