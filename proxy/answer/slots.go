package answer

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"reprise/proxy/answer/rawjson"
)

// slotKind is what a replay does with a slot.
type slotKind uint8

const (
	// SlotID is the JSON string with the answer's id.
	SlotID slotKind = iota + 1
	// SlotCreated is a JSON number of seconds since 1970: created, created_at or completed_at.
	SlotCreated
	// slotUsageEvent is a whole event that is there for its usage alone. Other slots may lie inside.
	slotUsageEvent
	// slotUsage is a member "usage" with one neighbouring comma.
	slotUsage
	// SlotLink is the JSON string of an id that links parts of one conversation, such as the id of a call of a tool.
	SlotLink
	// slotReceiver has no length. It is the end of an object that has, for clients who did not ask for usage, the members in the slots of
	// kind slotMoved from there up to the next receiver.
	slotReceiver
	// slotMoved is such a member, without commas, inside a slotUsageEvent.
	slotMoved

	lastKind = slotMoved
)

// Slot is one place of Body that a replay rewrites: Len bytes from Off.
type Slot struct {
	Off, Len int
	Kind     slotKind
}

func (s Slot) end() int { return s.Off + s.Len }

// ofUsage reports whether the slot is what only clients see who asked for usage, or what moves because of that.
func (s Slot) ofUsage() bool {
	return s.Kind == slotUsageEvent || s.Kind == slotUsage || s.Kind == slotReceiver || s.Kind == slotMoved
}

// Marker marks the slots of one JSON object: a whole answer, or the data of one event of a stream. Slots are marked in the
// order of their places.
type Marker struct {
	slots []Slot
	base  int    // where the object lies in the body; -1 where it does not lie there in one piece
	data  string // the object
	at, n int    // the event: its place and length

	last, receiver int  // the ends of the object, and of the one before, where Last was called for it; else 0
	seen, always   bool // an empty usage was seen; it is there whether asked for or not
}

// event moves to the object r of an event, whose raw bytes lie at byte at of the body.
func (m *Marker) event(ev Event, at int) {
	m.at, m.n, m.base, m.data = at, len(ev.Raw), -1, rawjson.View(ev.Data)
	m.last, m.receiver, m.seen = 0, m.last, false
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

// Value marks value v of the object.
func (m *Marker) Value(v gjson.Result, kind slotKind) {
	if m.base >= 0 {
		m.slots = append(m.slots, Slot{Off: m.base + v.Index, Len: len(v.Raw), Kind: kind})
	}
}

// Last says that the object would be the last one of its stream if nobody asked for usage, and would have what else the one with the usage
// has.
func (m *Marker) Last() {
	if m.base >= 0 {
		m.last = m.base + strings.LastIndexByte(m.data, '}')
	}
}

// Usage marks the usage of the object, name k and value v, as what only clients see who asked for it. others are name and value of what else
// the object holds for a client: with none of them the whole event is marked, unless the usage is null.
func (m *Marker) Usage(k, v gjson.Result, others []gjson.Result) {
	event := Slot{Off: m.at, Len: m.n, Kind: slotUsageEvent}
	switch {
	case v.Type == gjson.Null && (m.base < 0 || m.everEmpty()) || m.base < 0 && len(others) > 0:
	case v.Type != gjson.Null && len(others) == 0:
		m.add(event)
	case v.Type == gjson.Null || m.receiver == 0:
		m.add(m.member(k, v))
	default:
		slots := []Slot{{Off: m.receiver, Kind: slotReceiver}, event}
		for i := 0; i < len(others); i += 2 {
			from, to := others[i].Index, others[i+1].Index+len(others[i+1].Raw)
			slots = append(slots, Slot{Off: m.base + from, Len: to - from, Kind: slotMoved})
		}
		m.add(slots...)
	}
}

// everEmpty reports whether an empty usage of the object is there whether usage was asked for or not.
func (m *Marker) everEmpty() bool {
	if !m.seen { // once for an object, which may have many of them
		m.seen, m.always = true, strings.Contains(m.data, sgLang)
	}
	return m.always
}

// sgLang is in each chunk of SGLang, which have an empty usage in any case. A quote inside a string would be escaped.
const sgLang = `matched_stop":`

// add adds slots, the first of which is the first by its place, at their places.
func (m *Marker) add(slots ...Slot) {
	i := len(m.slots)
	for i > 0 && m.slots[i-1].Off >= slots[0].Off {
		i--
	}
	inOrder := i == len(m.slots)
	if m.slots = append(m.slots, slots...); !inOrder {
		slices.SortStableFunc(m.slots[i:], func(a, b Slot) int { return a.Off - b.Off })
	}
}

// member returns the slot of a member of the object with the comma before it, or the one behind it where it comes first.
func (m *Marker) member(k, v gjson.Result) Slot {
	from, to := k.Index, v.Index+len(v.Raw)
	if before := rawjson.SkipSpace(m.data, from-1, -1); m.data[before] == ',' && m.free(before) {
		from = before
	} else if behind := rawjson.SkipSpace(m.data, to, 1); m.data[behind] == ',' {
		to = behind + 1
	}
	return Slot{Off: m.base + from, Len: to - from, Kind: slotUsage}
}

// free reports whether byte i of the object is in no slot yet.
func (m *Marker) free(i int) bool {
	for j := len(m.slots) - 1; j >= 0; j-- {
		if s := m.slots[j]; s.Off <= m.base+i {
			return s.end() <= m.base+i
		}
	}
	return true
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
	for i, s := range slots {
		if s.Off < at {
			continue // inside a dropped event
		}
		with, keep := v.of(s, body, ids)
		if keep {
			continue
		}
		dst = append(dst, body[at:s.Off]...)
		dst = append(dst, with...)
		if at = s.end(); s.Kind == slotReceiver {
			dst = appendMoved(dst, body, slots[i+1:])
		}
	}
	return append(dst, body[at:]...)
}

// appendMoved appends the members that move to a receiver, behind which these slots stand.
func appendMoved(dst, body []byte, slots []Slot) []byte {
	for _, s := range slots {
		switch s.Kind {
		case slotReceiver:
			return dst
		case slotMoved:
			dst = append(append(dst, ','), body[s.Off:s.end()]...)
		}
	}
	return dst
}
