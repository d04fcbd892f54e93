package answer

import (
	"github.com/tidwall/gjson"

	"reprise/proxy/canon"
)

// slotter collects the slots of one JSON object that lies at byte base of a body.
type slotter struct {
	slots []Slot
	base  int
	data  string
}

// object marks what a replay rewrites in a finished answer, or in one chunk of a chat or completions stream.
func (s *slotter) object(r gjson.Result) {
	r.ForEach(func(k, v gjson.Result) bool {
		switch {
		case k.Str == "id" && v.Type == gjson.String:
			s.add(v, SlotID)
		case (k.Str == "created" || k.Str == "created_at" || k.Str == "completed_at") && v.Type == gjson.Number:
			s.add(v, SlotCreated)
		}
		return true
	})
}

// chunk is object, and the empty usage that a chunk carries where its client asked for usage.
func (s *slotter) chunk(r gjson.Result) {
	r.ForEach(func(k, v gjson.Result) bool {
		switch {
		case k.Str == "id" && v.Type == gjson.String:
			s.add(v, SlotID)
		case k.Str == "created" && v.Type == gjson.Number:
			s.add(v, SlotCreated)
		case k.Str == "usage" && v.Type == gjson.Null:
			s.member(k, v)
		}
		return true
	})
}

// event marks one event of a Responses stream: the id is that of its response, never of an item.
func (s *slotter) event(r gjson.Result) {
	r.ForEach(func(k, v gjson.Result) bool {
		switch {
		case k.Str == "response" && v.IsObject():
			s.object(v)
		case k.Str == "response_id" && v.Type == gjson.String:
			s.add(v, SlotID)
		}
		return true
	})
}

func (s *slotter) add(v gjson.Result, kind SlotKind) {
	s.slots = append(s.slots, Slot{Off: s.base + v.Index, Len: len(v.Raw), Kind: kind})
}

// member marks a member with the comma before it, or the one behind it where it comes first.
func (s *slotter) member(k, v gjson.Result) {
	from, to := k.Index, v.Index+len(v.Raw)
	if before := skipSpace(s.data, from-1, -1); s.data[before] == ',' && s.free(before) {
		from = before
	} else if behind := skipSpace(s.data, to, 1); s.data[behind] == ',' {
		to = behind + 1
	}
	s.slots = append(s.slots, Slot{Off: s.base + from, Len: to - from, Kind: SlotUsageNull})
}

// free reports whether byte i of the object is in no slot yet.
func (s *slotter) free(i int) bool {
	return len(s.slots) == 0 || s.slots[len(s.slots)-1].end() <= s.base+i
}

// skipSpace returns the first byte that is no white space from i on, going by step. Inside a valid object there is one.
func skipSpace(s string, i, step int) int {
	for s[i] <= ' ' {
		i += step
	}
	return i
}

// streamSlots appends the slots of one event of a stream, which lies at byte at of the body.
func streamSlots(slots []Slot, f canon.Family, ev Event, r gjson.Result, at int) []Slot {
	if f != canon.Responses && usageOnly(r) {
		slots = append(slots, Slot{Off: at, Len: len(ev.Raw), Kind: SlotUsageEvent})
	}
	if ev.at < 0 {
		return slots
	}
	s := slotter{slots: slots, base: at + ev.at, data: text(ev.Data)}
	if f == canon.Responses {
		s.event(r)
	} else {
		s.chunk(r)
	}
	return s.slots
}

// usageOnly reports whether a chunk is the one that include_usage adds: usage, and no choice.
func usageOnly(chunk gjson.Result) bool {
	return chunk.Get("usage").IsObject() && len(chunk.Get("choices").Array()) == 0
}

// splice appends body with its slots rewritten: id is a JSON string, or empty to leave ids alone; created likewise.
func splice(dst, body []byte, slots []Slot, id, created string, usage bool) []byte {
	at := 0
	for _, s := range slots {
		if s.Off < at {
			continue // inside a dropped event
		}
		with := ""
		switch s.Kind {
		case SlotID:
			with = id
		case SlotCreated:
			with = created
		}
		keep := usage
		if s.Kind == SlotID || s.Kind == SlotCreated {
			keep = with == ""
		}
		if keep {
			continue
		}
		dst = append(dst, body[at:s.Off]...)
		dst = append(dst, with...)
		at = s.end()
	}
	return append(dst, body[at:]...)
}
