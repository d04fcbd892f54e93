package answer

import (
	"bytes"
	"errors"
	"iter"
)

// defaultMaxEvent bounds one event of a stream that is read while it comes, in bytes: so much is held of each.
const defaultMaxEvent = 2 << 20

// errEventTooLarge: an event is larger than the reader's bound.
var errEventTooLarge = errors.New("event of a stream is too large")

// Event is one block of an event stream, up to and including the empty line that ends it.
type Event struct {
	// Name is the value of the event field, empty where there is none.
	Name string
	// Data is the data lines joined by a line feed, without the last. It is nil where the block has no data line (comments,
	// keep-alives): such a block is no event and is returned only so that every byte of the stream is in some Raw.
	Data []byte
	// Raw is the exact bytes of the block, comments and terminator included.
	Raw []byte

	at int // where Data begins inside Raw; -1 where it was joined from several lines
}

// isDone reports whether the event is the sentinel [DONE].
func (ev Event) isDone() bool { return string(bytes.TrimSpace(ev.Data)) == "[DONE]" }

// Events reads an event stream that arrives in pieces of any size. Lines end in LF, CRLF or CR (WHATWG HTML §9.2.6), a
// byte order mark may come first, comments and unknown fields are skipped, id and retry have no meaning here. The bytes
// after the last empty line are not an event, however complete they look.
//
// The zero value is ready and bounds an event to [defaultMaxEvent]. Next returns events that alias what was fed, or the
// reader's buffer: they are valid until the next feed.
type Events struct {
	max   int
	lines bool   // each line is an event, all of it data
	buf   []byte // what feed was given, or a part of own
	own   []byte // a block that was begun before, with what came after
	start int    // of the block being read
	line  int    // start of the line being read
	pos   int    // next byte to look at

	begun  bool // the byte order mark has been looked for
	loneCR bool // a CR without LF was seen: from then on a CR ends its line at once
	skipLF bool // the last line ended in such a CR; an LF that follows is part of that end

	name   string // of the block being read
	count  int    // data lines of it
	at, n  int    // where the first lies in it
	joined []byte // all of them, once there are two
	err    error
}

// events reads the events of a whole stream of this form, as EventsOf does.
func (f *Form) events(body []byte) *Events {
	e := EventsOf(body)
	e.lines = f.Lines
	return e
}

// EventsOf reads the events of a whole stream without copying it: offsets into Raw and body agree.
func EventsOf(body []byte) *Events { return &Events{max: len(body) + 1, buf: body} }

// mostComments is how many comments behind the last event of a stream are passed over.
const mostComments = 4

// lastData returns the data of the last event of a stream, nil where the stream does not end with a whole event, and perhaps some comments.
func (f *Form) lastData(stream []byte) []byte {
	for range mostComments {
		rest := bytes.TrimRight(stream, "\r\n")
		end := f.endIn(stream[len(rest):])
		if end == "" {
			break
		}
		at := lastEnd(rest, end)
		if ev, _ := f.events(stream[at:]).Next(); ev.Data != nil || at == 0 {
			return ev.Data
		}
		stream = stream[:at]
	}
	return nil
}

// lastEnd returns where the last end of an event in rest ends, 0 where there is none. It is looked for after each piece of an answer, and
// [bytes.LastIndex] computes a hash of every byte on the way.
func lastEnd(rest []byte, end string) (at int) {
	for at = len(rest); at > 0 && !bytes.HasSuffix(rest[:at], []byte(end)); {
		at = 1 + bytes.LastIndexByte(rest[:at-1], end[len(end)-1])
	}
	return at
}

// endIn returns the end of an event that some line ends have, "" if none.
func (f *Form) endIn(lineEnds []byte) string {
	for _, end := range []string{"\n\n", "\r\n\r\n", "\r\r"} {
		if f.Lines {
			end = "\n"
		}
		if bytes.Contains(lineEnds, []byte(end)) {
			return end
		}
	}
	return ""
}

// HasEvent reports whether a part of a stream that begins with an event has a whole one with data. Comments, which some gateways send before the
// first event, and [DONE] are none.
func (f *Form) HasEvent(stream []byte) bool {
	for ev := range f.events(stream).All() {
		if ev.Data != nil && !ev.isDone() {
			return true
		}
	}
	return false
}

// feed adds the next bytes of the stream, which must not change before the next feed. All complete events should have been taken by
// Next before.
func (e *Events) feed(p []byte) {
	rest := e.buf[e.start:]
	e.line -= e.start
	e.pos -= e.start
	e.start = 0
	if len(rest) == 0 {
		e.buf = p
		return
	}
	e.own = append(append(e.own[:0], rest...), p...)
	e.buf = e.own
}

// Next returns the next complete block; false when more bytes are needed or the stream has failed.
func (e *Events) Next() (Event, bool) {
	for e.err == nil {
		end, ok := e.endLine()
		if !ok {
			break
		}
		line, at := e.buf[e.line:end], e.line
		e.line = e.pos
		if e.lines {
			return e.dispatchLine(at, end)
		}
		if len(line) == 0 {
			return e.dispatch()
		}
		e.field(line, at-e.start)
	}
	if len(e.buf)-e.start > e.limit() {
		e.err = errEventTooLarge
	}
	return Event{}, false
}

// All yields the complete blocks that are left.
func (e *Events) All() iter.Seq[Event] {
	return func(yield func(Event) bool) {
		for {
			if ev, ok := e.Next(); !ok || !yield(ev) {
				return
			}
		}
	}
}

// Err is errEventTooLarge once an event was too large, nil before. A failed reader yields no more events.
func (e *Events) Err() error { return e.err }

// Rest returns the bytes after the last block that Next returned.
func (e *Events) Rest() []byte { return e.buf[e.start:] }

// skip goes on behind the next block, of n bytes, of which every line ends with a line feed alone.
func (e *Events) skip(n int) {
	e.start += n
	e.line, e.pos, e.skipLF = e.start, e.start, false
}

func (e *Events) limit() int {
	if e.max > 0 {
		return e.max
	}
	return defaultMaxEvent
}

// endLine finds the end of the current line and moves pos behind its terminator; false when more bytes are needed.
func (e *Events) endLine() (end int, ok bool) {
	if !e.begin() {
		return 0, false
	}
	for e.pos < len(e.buf) {
		ahead := e.buf[e.pos:min(e.pos+lookAhead, len(e.buf))]
		lf := bytes.IndexByte(ahead, '\n')
		if lf >= 0 {
			ahead = ahead[:lf]
		}
		cr := bytes.IndexByte(ahead, '\r')
		switch {
		case cr >= 0:
			e.pos += cr
			return e.endCR()
		case lf < 0:
			e.pos += len(ahead)
		case e.skipLF && e.pos+lf == e.line:
			e.line++
			e.pos++
			e.skipLF = false
		default:
			e.pos += lf
			return e.endAt(1, false)
		}
	}
	return 0, false
}

// lookAhead is how far the end of a line is looked for at once, in bytes: not to the end of a stream that has another kind of line.
const lookAhead = 512

// endCR ends the current line with the CR at pos.
func (e *Events) endCR() (end int, ok bool) {
	switch {
	case e.loneCR:
		return e.endAt(1, true)
	case e.pos+1 == len(e.buf):
		return 0, false // an LF may follow
	case e.buf[e.pos+1] == '\n':
		return e.endAt(2, false)
	}
	e.loneCR = true
	return e.endAt(1, true)
}

func (e *Events) endAt(n int, skipLF bool) (int, bool) {
	end := e.pos
	e.pos += n
	e.skipLF = skipLF
	return end, true
}

var bom = []byte("\xef\xbb\xbf")

// begin skips a byte order mark, once; false while too few bytes have come to see whether there is one.
func (e *Events) begin() bool {
	if e.begun {
		return true
	}
	if len(e.buf) < len(bom) && bytes.HasPrefix(bom, e.buf) {
		return false
	}
	if bytes.HasPrefix(e.buf, bom) {
		e.line, e.pos = len(bom), len(bom)
	}
	e.begun = true
	return true
}

// field takes one line of a block, which begins at byte at of it.
func (e *Events) field(line []byte, at int) {
	name, value, _ := bytes.Cut(line, []byte(":"))
	if len(value) > 0 && value[0] == ' ' {
		value = value[1:]
	}
	switch string(name) {
	case "event":
		e.name = string(value)
	case "data":
		e.addData(value, at+len(line)-len(value))
	}
}

func (e *Events) addData(value []byte, at int) {
	e.count++
	switch e.count {
	case 1:
		e.at, e.n = at, len(value)
		return
	case 2:
		e.joined = bytes.Clone(e.buf[e.start+e.at:][:e.n])
	}
	e.joined = append(append(e.joined, '\n'), value...)
}

// dispatchLine ends the event that is the line from at to end.
func (e *Events) dispatchLine(at, end int) (Event, bool) {
	ev := Event{Raw: e.buf[e.start:e.line], at: -1}
	if len(ev.Raw) > e.limit() {
		e.err = errEventTooLarge
		return Event{}, false
	}
	if end > at {
		ev.Data, ev.at = e.buf[at:end], at-e.start
	}
	e.start = e.line
	return ev, true
}

func (e *Events) dispatch() (Event, bool) {
	ev := Event{Name: e.name, Raw: e.buf[e.start:e.line], at: -1}
	if len(ev.Raw) > e.limit() {
		e.err = errEventTooLarge
		return Event{}, false
	}
	switch e.count {
	case 0:
		ev.Name = "" // a name without data names nothing
	case 1:
		ev.Data, ev.at = ev.Raw[e.at:e.at+e.n], e.at
	default:
		ev.Data = e.joined
	}
	e.start, e.name, e.count, e.joined = e.line, "", 0, nil
	return ev, true
}
