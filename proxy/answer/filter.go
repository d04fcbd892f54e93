package answer

import (
	"bytes"

	"reprise/proxy/canon"
)

// UsageFilter takes out of a live chat or completions stream what a client sees only if it asked for usage, where the
// proxy asked for it on its own account: the event that carries nothing else, and the empty usage of the others. All
// other bytes pass as they are. The zero value is ready.
type UsageFilter struct {
	events Events
	open   bool // an event was too large to look into: everything passes from there on
}

// Write appends to dst what of p, and of bytes held back before, may go out now: whole events. The end of an event that
// is still to come is held back; no client could have acted on its beginning.
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
		dst = appendWithoutUsage(dst, ev)
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

func appendWithoutUsage(dst []byte, ev Event) []byte {
	if !bytes.Contains(ev.Data, []byte(`"usage"`)) {
		return append(dst, ev.Raw...)
	}
	r, err := parse(ev.Data)
	if err != nil {
		return append(dst, ev.Raw...)
	}
	return splice(dst, ev.Raw, streamSlots(nil, canon.Chat, ev, r, 0), "", "", false)
}
