package dialect

import (
	"bytes"
	"slices"
)

// patch is a change of a body: drop bytes at a place are replaced by text.
type patch struct {
	at, drop int
	text     string
}

// apply returns a copy of body with the patches, which do not overlap; of those at one place, the first comes first.
func apply(body []byte, patches []patch) []byte {
	if len(patches) == 0 {
		return body
	}
	slices.SortStableFunc(patches, func(a, b patch) int { return a.at - b.at })
	size := len(body)
	for _, p := range patches {
		size += len(p.text) - p.drop
	}
	out, at := make([]byte, 0, size), 0
	for _, p := range patches {
		out = append(append(out, body[at:p.at]...), p.text...)
		at = p.at + p.drop
	}
	return append(out, body[at:]...)
}

// editor collects the edits of one request. The members of its body are read when they are first needed.
type editor struct {
	Request
	want        Intent
	quarantined func(Field) bool
	strip       names // members that the client must not set

	edits   Edits
	patches []patch

	read   bool
	object bool // the body is an object, and nothing follows it
	end    int  // of the object: the place of its closing bracket
	kept   bool // it has a member that is not removed
	twice  bool // it has two members of one name: nothing is added to it
	found  [mostFound]member
	number int // of found
}

// mostFound is the length of asked.
const mostFound = 12

// asked are the members of a body that dialects look for.
var asked = map[string]bool{"stream_options": true, "prompt_cache_key": true, "prompt_cache_options": true, "prompt_cache_retention": true,
	"prompt_cache_isolation_key": true, "cache_salt": true, "cache_control": true, "messages": true, "input": true, "instructions": true,
	"system": true, "tools": true}

// scan reads the members of the body once, and removes those that the client must not set.
func (e *editor) scan() {
	if e.read {
		return
	}
	e.read = true
	s := scan(e.Body, len(e.Body)-len(bytes.TrimPrefix(e.Body, byteOrderMark)))
	cut := cutter{editor: e}
	for {
		m, ok := s.next()
		if !ok {
			break
		}
		inside, dangerous := e.strip[string(m.name)]
		switch {
		case dangerous && inside == nil:
			cut.remove(m, Field(m.name))
			continue
		case dangerous:
			e.stripInside(m, string(m.name), inside)
		case asked[string(m.name)]:
			e.note(m)
		}
		cut.keep(m)
	}
	cut.end()
	if s.bad || s.close != '}' || !endsAt(e.Body, s.at) {
		e.patches, e.edits.Removed = nil, nil
		return
	}
	e.object, e.end, e.kept = true, s.at, cut.kept
}

// byteOrderMark may come before a body: Python's reader passes over it.
var byteOrderMark = []byte("\xef\xbb\xbf")

func (e *editor) note(m member) {
	if _, has := e.member(string(m.name)); has {
		e.twice = true
		return
	}
	e.found[e.number] = m
	e.number++
}

// member returns the member of the body with a name. One that is not asked for costs another pass over the body.
func (e *editor) member(name string) (m member, has bool) {
	if !asked[name] {
		s := scan(e.Body, 0)
		for m, ok := s.next(); ok; m, ok = s.next() {
			if string(m.name) == name {
				return m, true
			}
		}
	}
	for _, m := range e.found[:e.number] {
		if string(m.name) == name {
			return m, true
		}
	}
	return member{}, false
}

// has reports whether the client has set a member, be it to null.
func (e *editor) has(name string) bool {
	_, has := e.member(name)
	return has
}

// add adds a member at the end of the body, and reports whether the body has it now: also if the client has set it.
func (e *editor) add(name Field, value string) bool {
	switch e.scan(); {
	case !e.object || e.twice:
		return false
	case e.has(string(name)):
		return true
	case e.quarantined(name):
		return false
	}
	e.insert(`,"` + string(name) + `":` + value)
	e.edits.Added = append(e.edits.Added, name)
	return true
}

// insert adds a member, with its name and a comma before it, at the end of the body.
func (e *editor) insert(text string) {
	if !e.kept {
		text = text[1:]
	}
	e.kept = true
	e.patches = append(e.patches, patch{at: e.end, text: text})
}

// header sets a field of the header, and reports whether the request has it now: also if the client has set it.
func (e *editor) header(name, value string) bool {
	field := Field(headerPrefix + name)
	switch {
	case len(e.Header[name]) > 0:
		return true
	case e.quarantined(field):
		return false
	}
	if e.edits.Header == nil {
		e.edits.Header = map[string][]string{}
	}
	e.edits.Header[name] = []string{value}
	e.edits.Added = append(e.edits.Added, field)
	return true
}

// done returns the edits.
func (e *editor) done() Edits {
	if e.strip != nil {
		e.scan()
	}
	e.edits.Body = apply(e.Body, e.patches)
	return e.edits
}
