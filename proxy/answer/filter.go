package answer

import "bytes"

// UsageFilter removes from a live stream what a client sees only if it asked for usage, where the proxy asked for it
// itself: the event that carries nothing else, and the empty usage of the others. All other bytes pass as they are. Streams
// marks those places; the other fields are ready as zero.
type UsageFilter struct {
	Streams Streams

	events Events
	open   bool // an event was too large to look into: everything passes from there on
}

// Write appends to dst what of p, and of bytes held back before, may go out now: whole events. The beginning of an event
// whose end is still to come is held back; no client could have acted on it.
func (f *UsageFilter) Write(dst, p []byte) []byte {
	if f.open {
		return append(dst, p...)
	}
	f.events.Feed(p)
	for {
		ev, ok := f.events.Next()
		if !ok {
			break
		}
		dst = f.appendWithoutUsage(dst, ev)
	}
	if f.events.Err() != nil {
		f.open = true
		dst = append(dst, f.events.Rest()...)
	}
	return dst
}

// Flush appends the bytes still held back, at the end of the stream: the unfinished event of a stream that was cut.
func (f *UsageFilter) Flush(dst []byte) []byte {
	if f.open {
		return dst
	}
	f.open = true
	return append(dst, f.events.Rest()...)
}

func (f *UsageFilter) appendWithoutUsage(dst []byte, ev Event) []byte {
	if !bytes.Contains(ev.Data, []byte(`"usage"`)) {
		return append(dst, ev.Raw...)
	}
	r, err := Parse(ev.Data)
	if err != nil {
		return append(dst, ev.Raw...)
	}
	var m Marker
	m.event(ev, 0)
	f.Streams.Mark(&m, r)
	return splice(dst, ev.Raw, m.slots, nil, nil, false)
}
