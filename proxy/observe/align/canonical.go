package align

import (
	"bytes"
	"regexp"
	"slices"

	"github.com/tidwall/gjson"
)

// Apply returns the body in its canonical form: body itself where nothing changes, else a copy of the same length. It changes nothing in
// a body that it has returned. Bytes outside of what is ordered stay as they are, and white space and commas stay in place: what is
// ordered changes places around them. An object that has a name twice is left alone, and so is a body that is no JSON object. The cost is
// linear in the body except for the sorting of names.
func (c *Canonicaliser) Apply(body []byte) []byte {
	if c == nil {
		return body
	}
	w := writer{s: body}
	if c.level == C3 && !hasMarkers(body) {
		w.tools, w.volatile = true, c.volatile
	}
	result := body
	eachMember(body, space(body, 0), func(name []byte, at int) int {
		n, end := members[root][string(name)], valueEnd(body, at)
		if end < 0 || n == other || n.isPrompt() && len(w.volatile) == 0 || !n.isPrompt() && end-at > maxOrdered {
			return end
		}
		w.out = w.out[:0]
		if w.value(n, at, maxDepth) != end || len(w.out) != end-at || bytes.Equal(w.out, body[at:end]) {
			return end
		}
		if &result[0] == &body[0] {
			result = slices.Clone(body)
		}
		copy(result[at:end], w.out)
		return end
	})
	return result
}

// maxOrdered is the most bytes of tools, or of the form of an answer, that are ordered: each level of nesting reads what is inside again.
const maxOrdered = 1 << 20

// hasMarkers reports whether the client has set breakpoints of the cache. In texts the quotes of such a name are escaped.
func hasMarkers(body []byte) bool {
	return bytes.Contains(body, []byte(`"cache_control"`)) || bytes.Contains(body, []byte(`"prompt_cache_breakpoint"`))
}

// node is what a JSON value of a request is.
type node uint8

// The nodes that differ in what is done with their members or elements. The rest is copied.
const (
	other        node = iota
	root              // the request
	toolArray         // a list of tools
	aTool             // one of them, or the function in it
	format            // the form of the answer, and the members between it and its schema
	schema            // a JSON schema, or a list of some
	named             // schemas by names that the user has chosen
	required          // the names of required properties
	conversation      // the messages
	message           // one of them, of the system prompt
	content           // a text of the system prompt, or its parts
	part              // a part of it
)

// isPrompt reports whether a node is of the prompt, where only volatile lines are moved.
func (n node) isPrompt() bool { return n >= conversation }

// members are the nodes of the members of objects.
var members = map[node]map[string]node{
	root: {"tools": toolArray, "functions": toolArray, "response_format": format, "text": format, "messages": conversation, "input": conversation,
		"instructions": content},
	aTool:  {"function": aTool, "parameters": schema, "input_schema": schema},
	format: {"json_schema": format, "format": format, "schema": schema},
	schema: {"properties": named, "patternProperties": named, "$defs": named, "definitions": named, "dependentSchemas": named,
		"items": schema, "additionalProperties": schema, "additionalItems": schema, "unevaluatedProperties": schema, "unevaluatedItems": schema,
		"contains": schema, "propertyNames": schema, "not": schema, "if": schema, "then": schema, "else": schema,
		"anyOf": schema, "oneOf": schema, "allOf": schema, "prefixItems": schema, "required": required},
	message: {"content": content},
	part:    {"text": content},
}

// elements are the nodes of the elements of arrays.
var elements = map[node]node{toolArray: aTool, schema: schema, conversation: message, content: part}

func (n node) member(name []byte) node {
	if n == named {
		return schema
	}
	return members[n][string(name)]
}

// writer writes values in their canonical form.
type writer struct {
	s        []byte
	out      []byte
	tools    bool             // lists of tools are ordered
	volatile []*regexp.Regexp // of the lines that are moved
	scratch  []byte
}

// item is a member of an object, an element of an array or a line of a text, at its place in out.
type item struct {
	at, end int
	key     string
}

// value appends the value that begins at s[i], and returns its end, -1 where it has none.
func (w *writer) value(n node, i, depth int) int {
	if n != other && depth > 0 && i < len(w.s) {
		switch w.s[i] {
		case '{':
			return w.object(n, i, depth-1)
		case '[':
			return w.array(n, i, depth-1)
		case '"':
			if n == content {
				return w.text(i)
			}
		}
	}
	return w.copy(i)
}

// copy appends a value as it is.
func (w *writer) copy(i int) int {
	end := valueEnd(w.s, i)
	if end >= 0 {
		w.out = append(w.out, w.s[i:end]...)
	}
	return end
}

func (w *writer) object(n node, i, depth int) int {
	start, done := len(w.out), i
	var all []item
	end := eachMember(w.s, i, func(name []byte, at int) int {
		key := done + bytes.IndexByte(w.s[done:], '"')
		w.out = append(w.out, w.s[done:key]...)
		from := len(w.out)
		w.out = append(w.out, w.s[key:at]...)
		done = w.value(n.member(name), at, depth)
		all = append(all, item{from, len(w.out), string(name)})
		return done
	})
	if end < 0 {
		return -1
	}
	w.out = append(w.out, w.s[done:end]...)
	if (n == schema || n == named) && !w.sort(all) {
		w.out = append(w.out[:start], w.s[i:end]...)
	}
	return end
}

func (w *writer) array(n node, i, depth int) int {
	done := i
	var all []item
	preamble := true // every message so far is of the system prompt
	end := eachElement(w.s, i, func(at int) int {
		w.out = append(w.out, w.s[done:at]...)
		from := len(w.out)
		inside := elements[n]
		if n == conversation {
			if preamble = preamble && isSystem(w.s[at:]); !preamble {
				inside = other
			}
		}
		if done = w.value(inside, at, depth); done >= 0 && (n == required || n == toolArray) {
			all = append(all, item{from, len(w.out), key(n, w.s[at:done])})
		}
		return done
	})
	if end < 0 {
		return -1
	}
	w.out = append(w.out, w.s[done:end]...)
	if n == required || n == toolArray && w.tools {
		w.sort(all)
	}
	return end
}

// isSystem reports whether a message is of the system prompt.
func isSystem(message []byte) bool {
	role := gjson.GetBytes(message, "role").Str
	return role == "system" || role == "developer"
}

// key is by what an element of an array is ordered; "" where it has nothing.
func key(n node, element []byte) string {
	if n == required {
		return gjson.ParseBytes(element).Str
	}
	for _, path := range []string{"function.name", "name", "type"} {
		if name := gjson.GetBytes(element, path); name.Type == gjson.String {
			return name.Str
		}
	}
	return ""
}

// sort orders items by their keys, unless two are equal or one is empty; it reports whether it did.
func (w *writer) sort(all []item) bool {
	sorted := slices.Clone(all)
	slices.SortFunc(sorted, func(a, b item) int { return bytes.Compare([]byte(a.key), []byte(b.key)) })
	for i := range sorted {
		if sorted[i].key == "" && len(all) > 1 || i > 0 && sorted[i].key == sorted[i-1].key {
			return false
		}
	}
	w.place(all, sorted)
	return true
}

// place puts items, which follow each other in out, into another order. What is between them stays in place.
func (w *writer) place(all, order []item) {
	if slices.Equal(all, order) {
		return
	}
	first := all[0].at
	w.scratch = append(w.scratch[:0], w.out[first:]...)
	w.out = w.out[:first]
	for i, it := range order {
		w.out = append(w.out, w.scratch[it.at-first:it.end-first]...)
		gap := w.scratch[all[i].end-first:]
		if i+1 < len(all) {
			gap = gap[:all[i+1].at-all[i].end]
		}
		w.out = append(w.out, gap...)
	}
}

// text appends a text of the system prompt, its volatile lines behind the others. An empty last line, which is what a line feed at the
// end makes, stays the last.
func (w *writer) text(i int) int {
	start := len(w.out)
	end := w.copy(i)
	if end < 0 {
		return -1
	}
	lines := lines(w.out, start+1, len(w.out)-1)
	if last := len(lines) - 1; last > 0 && lines[last].at == lines[last].end {
		lines = lines[:last]
	}
	var stable, moved []item
	for _, l := range lines {
		if w.isVolatile(w.out[l.at:l.end]) {
			moved = append(moved, l)
		} else {
			stable = append(stable, l)
		}
	}
	w.place(lines, append(stable, moved...))
	return end
}

func (w *writer) isVolatile(line []byte) bool {
	text := string(line)
	if bytes.IndexByte(line, '\\') >= 0 {
		text = gjson.Parse(`"` + text + `"`).Str
	}
	return slices.ContainsFunc(w.volatile, func(r *regexp.Regexp) bool { return r.MatchString(text) })
}

// lines are the lines in the inside of a JSON string, which is s[from:to]. Between them are the escapes of line ends.
func lines(s []byte, from, to int) (all []item) {
	at := from
	for i := from; i < to; i++ {
		if s[i] != '\\' {
			continue
		}
		n := 2
		switch {
		case bytes.HasPrefix(s[i:to], []byte(`\n`)):
		case bytes.HasPrefix(s[i:to], []byte(`\r\n`)):
			n = 4
		case i+6 <= to && bytes.EqualFold(s[i:i+6], []byte(`\u000a`)):
			n = 6
		default:
			i++
			continue
		}
		all = append(all, item{at: at, end: i})
		at = i + n
		i = at - 1
	}
	return append(all, item{at: at, end: to})
}
