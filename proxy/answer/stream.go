package answer

import (
	"bytes"
	"errors"
	"slices"

	"github.com/tidwall/gjson"

	"reprise/proxy/answer/rawjson"
)

// Merger joins the events of one stream.
type Merger interface {
	// Add adds the object of an event, and reports whether it was the last one.
	Add(event gjson.Result) (last bool, err error)
	// Done reports whether the sentinel [DONE] ends the stream.
	Done() bool
	// Object returns what a client without stream would have got, once the stream has ended; ErrMalformed where there is none.
	Object() (gjson.Result, error)
	// Varies returns the strings and whole numbers of event, the last one added, in which a repetition of it may differ: an event that
	// has the same bytes everywhere else. nil: it may not be repeated.
	Varies(event gjson.Result) []gjson.Result
	// Repeat adds a repetition with these values, raw, in their places, and reports whether it could; the event is added by Add where not.
	Repeat(values []string) bool
}

// errNotStrict ends the reading of a stream with a document that is not strict.
var errNotStrict = errors.New("not strict")

// stream reads the events of a whole stream. All events but a few repeat the one before with another piece of text: these are
// compared with it and not parsed.
type stream struct {
	form   *Form
	merger Merger
	check  func(document []byte) bool // whether a document may be parsed
	marks  Streams                    // nil: no slots are marked
	strict bool                       // an event that may not be parsed ends the reading, wherever it is
	marker Marker
	size   int  // of the stream in bytes
	folded bool // some event spans several data lines, in which no slot can be marked
	last   pattern

	ended bool  // the last event has been added
	err   error // of the merger or of an event before that
	done  bool  // [DONE] has been read
}

// read reads body to its end, or to where the result is known, and returns the merged object.
func (s *stream) read(body []byte) (gjson.Result, error) {
	at := 0
	s.size = len(body)
	for es := s.form.events(body); s.strict || !s.ended && s.err == nil; {
		if n := s.again(es.Rest(), at); n > 0 {
			es.skip(n)
			at += n
			continue
		}
		ev, ok := es.Next()
		if !ok {
			break
		}
		switch {
		case ev.Data == nil:
		case ev.isDone():
			s.done, s.last = true, pattern{}
			s.ended = s.ended || s.merger.Done()
		case s.strict && s.done: // some clients read on
			return gjson.Result{}, errNotStrict
		case !s.repeated(ev, at) && !s.event(ev, at):
			return gjson.Result{}, errNotStrict
		}
		at += len(ev.Raw)
	}
	switch {
	case s.err != nil:
		return gjson.Result{}, s.err
	case !s.ended:
		return gjson.Result{}, errIncomplete
	}
	return s.merger.Object()
}

// event reads an event that begins at byte at, and reports whether the reading may go on.
func (s *stream) event(ev Event, at int) bool {
	s.last = pattern{}
	if !s.check(ev.Data) {
		s.fail(ErrMalformed, ev)
		return !s.strict
	}
	r := gjson.Parse(rawjson.View(ev.Data))
	first := len(s.marker.slots)
	if s.marks != nil {
		s.folded = s.folded || ev.at < 0
		s.marker.event(ev, at)
		s.marks.Mark(&s.marker, r)
	}
	if s.strict && s.ended && s.err == nil && r.Get("type").Str != "ping" { // some clients read on
		return false
	}
	if s.ended || s.err != nil {
		return true
	}
	if ev.Name == "error" || reported(r) {
		s.err = ErrReported
		return true
	}
	if s.ended, s.err = s.merger.Add(r); !s.ended && s.err == nil && ev.at >= 0 {
		s.last = newPattern(ev, s.merger.Varies(r), s.marker.slots[first:], at+ev.at)
		if repeats := (s.size - at) / len(ev.Raw); len(s.last.slots) > 0 { // as many as there are, if all are like this one
			s.marker.slots = slices.Grow(s.marker.slots, repeats*len(s.last.slots))
		}
	}
	return true
}

// fail records what is wrong with an event, unless the result was known before.
func (s *stream) fail(err error, ev Event) {
	if ev.Name == "error" {
		err = ErrReported
	}
	if !s.ended && s.err == nil {
		s.err = err
	}
}

// again adds an event that repeats the one before, where it begins with the bytes rest at byte at, and returns its length; 0 where it does not.
// The lines of such an event are not looked for.
func (s *stream) again(rest []byte, at int) (n int) {
	if !s.last.plain {
		return 0
	}
	n, ok := s.last.match(rest, s.last.raw, s.last.at, s.check)
	if !ok || !s.merger.Repeat(s.last.values) {
		return 0
	}
	s.marker.slots = s.last.appendSlots(s.marker.slots, at+s.last.at, s.last.values)
	return n
}

// repeated adds an event that repeats the one before, and reports whether it is one.
func (s *stream) repeated(ev Event, at int) bool {
	p := &s.last
	if len(p.varies) == 0 || ev.at < 0 || ev.Name != p.name {
		return false
	}
	n, ok := p.match(ev.Data, p.raw[p.at:p.at+p.size], 0, s.check)
	if !ok || n != len(ev.Data) || !s.merger.Repeat(p.values) {
		return false
	}
	s.marker.slots = p.appendSlots(s.marker.slots, at+ev.at, p.values)
	return true
}

// pattern is an event, and where another one may differ from it.
type pattern struct {
	name     string
	raw      []byte
	at, size int            // the place of the data in raw
	plain    bool           // each line of raw ends with a line feed alone
	varies   []gjson.Result // by their place in the data, in the order of their places; none: nothing is like this event
	values   []string       // of the event that was matched last
	slots    []Slot         // by their place in the data
}

// newPattern makes a pattern of ev, whose data begins at byte base, where slots were marked.
func newPattern(ev Event, varies []gjson.Result, slots []Slot, base int) pattern {
	at := 0
	for _, v := range varies {
		if v.Index < at || v.Index+len(v.Raw) > len(ev.Data) || string(ev.Data[v.Index:v.Index+len(v.Raw)]) != v.Raw {
			return pattern{} // its place is not known
		}
		at = v.Index + len(v.Raw)
	}
	if len(varies) == 0 {
		return pattern{}
	}
	p := pattern{name: ev.Name, raw: ev.Raw, at: ev.at, size: len(ev.Data), varies: varies, values: make([]string, len(varies))}
	p.plain = bytes.IndexByte(ev.Raw, '\r') < 0
	for _, slot := range slots {
		if slot.Kind == slotUsageEvent {
			return pattern{}
		}
		slot.Off -= base
		p.slots = append(p.slots, slot)
	}
	return p
}

// match reports whether b begins with what the pattern has in raw, where its data begins at byte base, but for the values that vary. It returns the
// length of that; the values are valid until the next match.
func (p *pattern) match(b, raw []byte, base int, check func([]byte) bool) (n int, ok bool) {
	from := 0 // in raw
	for i := range p.varies {
		old := &p.varies[i]
		same := raw[from : base+old.Index]
		if !bytes.HasPrefix(b[n:], same) {
			return 0, false
		}
		n += len(same)
		end := valueEnd(b, n, check)
		if end < 0 || (b[n] == '"') != (old.Type == gjson.String) {
			return 0, false
		}
		p.values[i] = rawjson.View(b[n:end])
		from, n = base+old.Index+len(old.Raw), end
	}
	if !bytes.HasPrefix(b[n:], raw[from:]) {
		return 0, false
	}
	return n + len(raw) - from, true
}

// valueEnd returns the end of the string or the whole number at byte at of an event, -1 where there is none.
func valueEnd(data []byte, at int, check func([]byte) bool) (end int) {
	if at < len(data) && '1' <= data[at] && data[at] <= '9' {
		for end = at + 1; end < len(data) && '0' <= data[end] && data[end] <= '9'; end++ {
		}
		if end-at > 15 { // as many digits as any reader has room for
			return -1
		}
		return end
	}
	if at >= len(data) || data[at] != '"' {
		return -1
	}
	escaped := false
	for end = at + 1; end < len(data) && data[end] != '"'; end++ {
		switch c := data[end]; {
		case c == '\\':
			escaped = true
			end++
		case c < ' ':
			return -1
		}
	}
	if end++; end > len(data) || escaped && !checkString(data[at:end], check) {
		return -1
	}
	return end
}

// checkString checks a string as a document.
func checkString(s []byte, check func([]byte) bool) bool {
	return check(append(append([]byte(`{"":`), s...), '}'))
}

// appendSlots appends the slots of an event whose data begins at byte base and has these values.
func (p *pattern) appendSlots(dst []Slot, base int, values []string) []Slot {
	for _, slot := range p.slots {
		at := base
		for i, old := range p.varies {
			if old.Index < slot.Off {
				at += len(values[i]) - len(old.Raw)
			}
		}
		slot.Off += at
		dst = append(dst, slot)
	}
	return dst
}

// merge returns the object that a client without stream would have got for a whole stream. The error is ErrReported where the stream reports
// an error, and ErrMalformed where an event cannot be read; a stream without its terminal event is an error too.
func merge(f *Form, body []byte) (gjson.Result, error) {
	s := stream{form: f, merger: f.Streams.Merger(), check: readable}
	return s.read(body)
}
