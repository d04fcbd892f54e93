package answer

import (
	"slices"

	"github.com/tidwall/gjson"

	"reprise/proxy/answer/rawjson"
)

// SlotKind is what a replay does with a slot.
type SlotKind uint8

const (
	// SlotID is the JSON string with the answer's id.
	SlotID SlotKind = iota + 1
	// SlotCreated is a JSON number of seconds since 1970: created, created_at or completed_at.
	SlotCreated
	// slotUsageEvent is a whole event that carries usage and no choice. Other slots may lie inside.
	slotUsageEvent
	// slotUsageNull is a member "usage":null with one neighbouring comma.
	slotUsageNull
	// SlotLink is the JSON string of an id that links parts of one conversation, such as the id of a call of a tool.
	SlotLink

	lastKind = SlotLink
)

// Slot is one place of Body that a replay rewrites: Len bytes from Off.
type Slot struct {
	Off, Len int
	Kind     SlotKind
}

func (s Slot) end() int { return s.Off + s.Len }

// Marker marks the slots of one JSON object: a whole answer, or the data of one event of a stream. Slots are marked in the
// order of their places.
type Marker struct {
	slots []Slot
	base  int    // where the object lies in the body; -1 where it does not lie there in one piece
	data  string // the object
	at, n int    // the event: its place and length
	first int    // slots before it
}

// event moves to the object r of an event, whose raw bytes lie at byte at of the body.
func (m *Marker) event(ev Event, at int) {
	m.at, m.n, m.base, m.data, m.first = at, len(ev.Raw), -1, rawjson.View(ev.Data), len(m.slots)
	if ev.at >= 0 {
		m.base = at + ev.at
	}
}

// Object marks ids and times among the members of r, a finished answer, and the links in them; links may be nil.
func (m *Marker) Object(r gjson.Result, links Linker) {
	r.ForEach(func(k, v gjson.Result) bool {
		switch {
		case k.Str == "id" && v.Type == gjson.String:
			m.Value(v, SlotID)
		case (k.Str == "created" || k.Str == "created_at" || k.Str == "completed_at") && v.Type == gjson.Number:
			m.Value(v, SlotCreated)
		case links != nil:
			links.MarkLinks(m, k.Str, v)
		}
		return true
	})
}

// Link marks member name of object r, the id of a part of a conversation, where it is a string.
func (m *Marker) Link(r gjson.Result, name string) {
	if v := r.Get(name); v.Type == gjson.String {
		m.Value(v, SlotLink)
	}
}

// Event marks the whole event as one that only clients see who asked for usage.
func (m *Marker) Event() {
	m.slots = slices.Insert(m.slots, m.first, Slot{Off: m.at, Len: m.n, Kind: slotUsageEvent})
}

// Value marks value v of the object.
func (m *Marker) Value(v gjson.Result, kind SlotKind) {
	if m.base >= 0 {
		m.slots = append(m.slots, Slot{Off: m.base + v.Index, Len: len(v.Raw), Kind: kind})
	}
}

// UsageNull marks a member of the object with the comma before it, or the one behind it where it comes first.
func (m *Marker) UsageNull(k, v gjson.Result) {
	if m.base < 0 {
		return
	}
	from, to := k.Index, v.Index+len(v.Raw)
	if before := rawjson.SkipSpace(m.data, from-1, -1); m.data[before] == ',' && m.free(before) {
		from = before
	} else if behind := rawjson.SkipSpace(m.data, to, 1); m.data[behind] == ',' {
		to = behind + 1
	}
	m.slots = append(m.slots, Slot{Off: m.base + from, Len: to - from, Kind: slotUsageNull})
}

// free reports whether byte i of the object is in no slot yet.
func (m *Marker) free(i int) bool {
	return len(m.slots) == 0 || m.slots[len(m.slots)-1].end() <= m.base+i
}

// values are what a replay puts into slots, except new ids of links. Both in one struct would not stay on the stack.
type values struct {
	id, created []byte // a JSON string, a number; empty to leave those of the answer
	usage       bool   // the client sees the usage
}

// of returns what a slot is replaced by; keep where it stays as it is.
func (v *values) of(s Slot, body []byte, ids *links) (with []byte, keep bool) {
	switch s.Kind {
	case SlotID:
		with = v.id
	case SlotCreated:
		with = v.created
	case SlotLink:
		with = ids.of(body[s.Off:s.end()])
	default:
		return nil, v.usage
	}
	return with, len(with) == 0
}

// splice appends body with its slots rewritten.
func splice(dst, body []byte, slots []Slot, v *values, ids *links) []byte {
	at := 0
	for _, s := range slots {
		if s.Off < at {
			continue // inside a dropped event
		}
		with, keep := v.of(s, body, ids)
		if keep {
			continue
		}
		dst = append(dst, body[at:s.Off]...)
		dst = append(dst, with...)
		at = s.end()
	}
	return append(dst, body[at:]...)
}
