package answer

import "bytes"

// UsageFilter removes from a live stream what a client sees only if it asked for usage, where the proxy asked for it
// itself: the event that carries nothing else, and the empty usage of the others. All other bytes pass as they are. Streams
// marks those places; the other fields are ready as zero.
type UsageFilter struct {
	Streams Streams

	events Events
	open   bool   // an event was too large to look into: everything passes from there on
	out    []byte // what passes, where that is not one piece of what came
	empty  [1]Slot
}

// Write returns what of p, and of bytes held back before, may go out now: whole events. The beginning of an event whose end is still
// to come is held back, because no client could have acted on it. The result is valid until the next Write, and aliases p where
// nothing is removed; p must not change before then.
func (f *UsageFilter) Write(p []byte) []byte {
	if f.open {
		return p
	}
	f.events.Feed(p)
	f.out = f.out[:0]
	all, from, at := f.events.Rest(), 0, 0 // from there on everything passes up to the present event
	for {
		ev, ok := f.events.Next()
		if !ok {
			break
		}
		if slots := f.usage(ev); len(slots) > 0 {
			f.out = splice(append(f.out, all[from:at]...), ev.Raw, slots, new(values), new(links))
			from = at + len(ev.Raw)
		}
		at += len(ev.Raw)
	}
	if f.events.Err() != nil {
		f.open, at = true, len(all)
	}
	if from == 0 {
		return all[:at:at]
	}
	f.out = append(f.out, all[from:at]...)
	return f.out
}

// Rest returns the bytes still held back, at the end of the stream: the unfinished event of a stream that was cut.
func (f *UsageFilter) Rest() []byte {
	if f.open {
		return nil
	}
	f.open = true
	return f.events.Rest()
}

// usageName is the name of the member with the usage.
var usageName = []byte(`"usage"`)

// usage returns the slots of an event that may hold usage, valid until the next call.
func (f *UsageFilter) usage(ev Event) []Slot {
	at := bytes.Index(ev.Data, usageName)
	if at < 0 {
		return nil
	}
	if from, to, ok := emptyUsage(ev.Data, at); ok && ev.at >= 0 {
		f.empty[0] = Slot{Off: ev.at + from, Len: to - from, Kind: slotUsageNull}
		return f.empty[:]
	}
	r, err := Parse(ev.Data)
	if err != nil {
		return nil
	}
	var m Marker
	m.event(ev, 0)
	f.Streams.Mark(&m, r)
	return m.slots
}

// emptyUsage returns the place of a member "usage" of null, with the comma before it, where its name is at byte at of an event and that
// it is a member of the object itself can be seen from what follows. That is so in all but the last events of a stream that is asked for
// its usage, and costs a small part of parsing them. In valid JSON the name cannot be a part of a string, whose quotes would be escaped, nor
// a string of its own, which no colon follows.
func emptyUsage(data []byte, at int) (from, to int, ok bool) {
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
