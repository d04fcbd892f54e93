package answer

import "bytes"

// UsageFilter removes from a live stream what a client sees only if it asked for usage, where the proxy asked for it
// itself, as a replay does: see [Streams]. All other bytes pass as they are. Streams marks those places; the other fields are ready as zero.
type UsageFilter struct {
	Streams Streams

	events Events
	open   bool   // an event was too large to look into: everything passes from there on
	out    []byte // what passes, where that is not one piece of what came
	held   []byte // an event that may have members of the next one, and comments behind it
	marker Marker // of held, and of the present event behind it; its last is 0 where nothing is held
	empty  [1]Slot
}

// Write returns what of p, and of bytes held back before, may go out now: whole events. The beginning of an event whose end is still
// to come is held back, because no client could have acted on it; so is an event that has members of the next one without usage. The result
// is valid until the next Write, and aliases p where nothing is removed; p must not change before then.
func (f *UsageFilter) Write(p []byte) []byte {
	if f.open {
		return p
	}
	f.events.feed(p)
	f.out = f.out[:0]
	all, from, at := f.events.Rest(), 0, 0 // from there on everything passes up to the present event
	for {
		ev, ok := f.events.Next()
		if !ok {
			break
		}
		slots := f.look(ev)
		if f.marker.last > 0 || len(slots) > 0 || len(f.held) > 0 {
			f.out = append(f.out, all[from:at]...)
			f.pass(ev, slots)
			from = at + len(ev.Raw)
		}
		at += len(ev.Raw)
	}
	if f.events.Err() != nil {
		f.open, at = true, len(all)
		f.release()
	}
	if len(f.out) == 0 {
		return all[from:at:at]
	}
	f.out = append(f.out, all[from:at]...)
	return f.out
}

// Rest returns the bytes still held back, at the end of the stream: the unfinished event of a stream that was cut, and what waits for it.
func (f *UsageFilter) Rest() []byte {
	if f.open {
		return nil
	}
	f.open, f.out = true, f.out[:0]
	if f.release(); len(f.out) == 0 {
		return f.events.Rest()
	}
	return append(f.out, f.events.Rest()...)
}

// usageName is the name of the member with the usage.
var usageName = []byte(`"usage"`)

// Texts of events that are looked into. They begin with a letter that is rare there, for which one can search faster than for a quote.
var (
	buildText  = []byte(`_fingerprint":"b`) // of llama.cpp, whose last event but the one with the usage may have more members without that
	finishText = []byte(`_reason":"`)
	sgLangText = []byte(sgLang)
)

// look returns the slots of an event, valid until the next call: by their places in what is held, behind which the event stands.
func (f *UsageFilter) look(ev Event) []Slot {
	at, finish := bytes.Index(ev.Data, usageName), bytes.Contains(ev.Data, buildText) && bytes.Contains(ev.Data, finishText)
	if len(f.held) == 0 {
		if at < 0 && !finish {
			return nil
		}
		if from, to, ok := emptyUsage(ev.Data, at); ok && ev.at >= 0 && !finish {
			if bytes.Contains(ev.Data, sgLangText) {
				return nil
			}
			f.empty[0] = Slot{Off: ev.at + from, Len: to - from, Kind: slotUsage}
			return f.empty[:]
		}
		f.marker.slots = f.marker.slots[:0]
	}
	if ev.Data == nil {
		return nil
	}
	f.marker.event(ev, len(f.held))
	if r, err := Parse(ev.Data); err == nil && (at >= 0 || finish) {
		f.Streams.Mark(&f.marker, r)
	}
	return f.marker.slots
}

// pass appends to out what passes of an event with slots, and of what was held before it, unless the event itself is to be held.
func (f *UsageFilter) pass(ev Event, slots []Slot) {
	switch {
	case ev.Data == nil && len(f.held)+len(ev.Raw) > defaultMaxEvent: // comments without end
		f.release()
		f.out = append(f.out, ev.Raw...)
	case ev.Data == nil:
		f.held = append(f.held, ev.Raw...)
	case f.marker.last == 0 && len(f.held) == 0:
		f.out = splice(f.out, ev.Raw, slots, new(values), new(links))
	case f.marker.last == 0:
		f.held = append(f.held, ev.Raw...)
		f.out = splice(f.out, f.held, slots, new(values), new(links))
		f.held = f.held[:0]
	case len(f.held) > 0:
		f.release()
		f.pass(ev, f.look(ev))
	default:
		f.held = append(f.held, ev.Raw...)
	}
}

// release lets out what is held.
func (f *UsageFilter) release() {
	n := len(f.marker.slots)
	for n > 0 && f.marker.slots[n-1].Off >= len(f.held) {
		n--
	}
	f.out = splice(f.out, f.held, f.marker.slots[:n], new(values), new(links))
	f.held, f.marker.last = f.held[:0], 0
}

// emptyUsage returns the place of a member "usage" of null, with the comma before it, where its name is at byte at of an event and that
// it is a member of the object itself can be seen from what follows. That is so in all but the last events of a stream that is asked for
// its usage, and costs a small part of parsing them. In valid JSON the name cannot be a part of a string, whose quotes would be escaped, nor
// a string of its own, which no colon follows.
func emptyUsage(data []byte, at int) (from, to int, ok bool) {
	if at < 0 {
		return 0, 0, false
	}
	rest, null := bytes.CutPrefix(data[at+len(usageName):], []byte(":null"))
	if !null || at < 2 || data[at-1] != ',' || bytes.Contains(rest, usageName) || bytes.Contains(data, []byte(`\u00`)) {
		return 0, 0, false
	}
	open := 1 // brackets that must be closed, if it is a member of the object itself
	for i, inString := 0, false; i < len(rest); i++ {
		switch c := rest[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			open++
		case c == '}' || c == ']':
			open--
		}
	}
	return at - 1, len(data) - len(rest), open == 0
}
