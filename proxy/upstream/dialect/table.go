package dialect

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// table is a dialect without a structure of its own in the body: each wish has a field that holds its value.
type table struct {
	name  string
	usage bool // a stream reports its usage only if the request asks for it
	strip names
	hints []hint
	// session: its operator names the header that holds the conversation.
	session bool
}

var _ Dialect = &table{}

// hint is the field that holds one wish.
type hint struct {
	wish  wish
	field Field
	on    endpoint // those whose requests may have the field
	since version  // the first that has it; zero: every version
}

// wish is a member of Intent with a name in it.
type wish uint8

const (
	affinity     wish = iota // Affinity
	conversation             // Conversation, else Affinity: both lead requests of one prefix to one place
	salt
)

// endpoint is a set of the endpoints that generate text.
type endpoint uint8

const (
	chats endpoint = 1 << iota
	completions
	responses
	messages
	texts = chats | completions | responses | messages
)

// endpointOf is the endpoint of a path, 0 for all that generate no text.
func endpointOf(path string) endpoint {
	switch {
	case strings.HasSuffix(path, "/chat/completions"):
		return chats
	case strings.HasSuffix(path, "/completions"):
		return completions
	case strings.HasSuffix(path, "/responses"):
		return responses
	case strings.HasSuffix(path, "/messages"):
		return messages
	}
	return 0
}

// Name is its name in settings.
func (t *table) Name() string { return t.name }

// Caps is the zero value: retention has no field and no price.
func (t *table) Caps(string) Caps { return Caps{} }

// Edit adds the fields of the table.
func (t *table) Edit(r Request, want Intent, quarantined func(Field) bool) Edits {
	if want == (Intent{}) && (t.strip == nil || r.Trust) {
		return Edits{Body: r.Body}
	}
	e := newEditor(r, want, quarantined, t.strip)
	if t.usage {
		e.streamUsage()
	}
	hints := t.hints
	if t.session && r.SessionKey != "" {
		hints = append(slices.Clip(hints), hint{conversation, Field(headerPrefix + http.CanonicalHeaderKey(r.SessionKey)), texts, version{}})
	}
	e.express(hints)
	if want.Retain > RetainOff {
		e.noop("Retain")
	}
	return e.done()
}

// newEditor returns the editor of r.
func newEditor(r Request, want Intent, quarantined func(Field) bool, strip names) editor {
	e := editor{Request: r, want: want, quarantined: quarantined, edits: Edits{Body: r.Body}}
	if !r.Trust {
		e.strip = strip
	}
	return e
}

func (e *editor) noop(wish string) { e.edits.Noop = append(e.edits.Noop, wish) }

// express adds the fields of hints, and notes the wishes that none of them holds.
func (e *editor) express(hints []hint) {
	var held [salt + 1]bool
	on := endpointOf(e.Path)
	for _, h := range hints {
		value := e.value(h.wish)
		if value == "" || h.on&on == 0 || !h.since.reached(e.Version) {
			continue
		}
		if name, isHeader := strings.CutPrefix(string(h.field), headerPrefix); isHeader {
			held[h.wish] = e.header(name, value) || held[h.wish]
		} else {
			held[h.wish] = e.add(h.field, `"`+value+`"`) || held[h.wish]
		}
	}
	if e.want.Affinity+e.want.Conversation != "" && !held[affinity] && !held[conversation] {
		e.noop("Affinity")
	}
	if e.want.Salt != "" && !held[salt] {
		e.noop("Salt")
	}
}

// value is what a wish is, "" if there is none or it has letters that need quotes.
func (e *editor) value(w wish) string {
	value := e.want.Salt
	switch w {
	case affinity:
		value = e.want.Affinity
	case conversation:
		value = cmp.Or(e.want.Conversation, e.want.Affinity)
	}
	if len(value) > 64 || strings.ContainsFunc(value, func(c rune) bool { return c > 'z' || c != '-' && !isLetter(byte(c)) }) {
		return ""
	}
	return value
}

// usageIn sets the option in the object m, and reports whether it did. A client that has set it to false gets no usage all the same: the
// proxy removes from the stream what it has asked for, but an answer that is stored must have it.
func (e *editor) usageIn(m member) bool {
	s := scan(e.Body, m.start)
	for in, ok := s.next(); ok; in, ok = s.next() {
		if string(in.name) == "include_usage" && string(e.Body[in.start:in.end]) == "false" {
			e.patches = append(e.patches, patch{in.start, in.end - in.start, "true"})
			return true
		}
	}
	return e.within(m, "include_usage", "true")
}

// streamUsage asks for the usage of a stream. It adds the first field of an edit.
func (e *editor) streamUsage() {
	if !e.want.StreamUsage || endpointOf(e.Path)&(chats|completions) == 0 || e.quarantined(StreamUsage) {
		return
	}
	e.scan()
	options, has := e.member("stream_options")
	switch {
	case !e.object || e.twice:
		return
	case !has:
		e.insert(`,"stream_options":{"include_usage":true}`)
	case string(e.Body[options.start:options.end]) == "null":
		e.patches = append(e.patches, patch{options.start, options.end - options.start, `{"include_usage":true}`})
	case !e.usageIn(options):
		return
	}
	e.edits.Added = onlyUsage
}

var onlyUsage = slices.Clip([]Field{StreamUsage}) // most requests for which anything is added have this alone

// within adds a member to the object m as its first one, and reports whether it did: the value may have the member, or be no object.
func (e *editor) within(m member, name, value string) bool {
	s := scan(e.Body, m.start)
	any := false
	for in, ok := s.next(); ok; in, ok = s.next() {
		if string(in.name) == name {
			return false
		}
		any = true
	}
	if s.bad || s.close != '}' {
		return false
	}
	text := `"` + name + `":` + value
	if any {
		text += ","
	}
	e.patches = append(e.patches, patch{at: m.start + 1, text: text})
	return true
}

// version is the first version of an engine that has a field. One that is not known counts as new, as most engines are, unless it must be known.
type version struct {
	major, minor int
	known        bool
}

// reached reports whether a version such as "0.29.1" or "v1.3", or "" for one that is not known, is not before v.
func (v version) reached(of string) bool {
	if of == "" {
		return !v.known
	}
	first, rest, _ := strings.Cut(strings.TrimPrefix(of, "v"), ".")
	second, _, _ := strings.Cut(rest, ".")
	a, err := strconv.Atoi(first)
	b, _ := strconv.Atoi(second)
	return v == version{} || err == nil && (a > v.major || a == v.major && b >= v.minor)
}
