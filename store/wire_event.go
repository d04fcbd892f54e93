package store

import (
	"encoding/binary"
	"fmt"

	"reprise/policy"
)

// What an event has, by the bits of its second byte.
const (
	wireReplaced = 1 << iota
	wireRefused
	wireSearched
	wireEventEnd
)

// Span is a part of a slice of bytes.
type Span struct{ From, To int }

// AppendEvents appends events as one batch of the log has them, and returns where the records of inserted entries and of vectors are, in
// order. The vector of a request, its entry and weights are left out: who applies the events makes them again.
func AppendEvents(b []byte, evs []Event, space string) ([]byte, []Span) {
	var records []Span
	for i := range evs {
		ev := &evs[i]
		b = appendEvent(b, ev)
		at := len(b) + 4
		switch ev.Kind {
		case EventInsert:
			b = AppendRecord(append(b, 0, 0, 0, 0), ev.Entry, ev.Vector, space)
		case EventVector:
			b = appendVectorRecord(append(b, 0, 0, 0, 0), ev.Vector, space)
		default:
			continue
		}
		binary.LittleEndian.PutUint32(b[at-4:], uint32(len(b)-at))
		records = append(records, Span{at, len(b)})
	}
	return b, records
}

func appendEvent(b []byte, ev *Event) []byte {
	var flags byte
	for i, set := range [...]bool{ev.Replaced, ev.Refused, ev.Searched} {
		if set {
			flags |= 1 << i
		}
	}
	b = binary.AppendUvarint(append(b, byte(ev.Kind), flags), uint64(ev.ID))
	switch ev.Kind {
	case EventInsert:
		return putTick(b, ev.At)
	case EventUse:
		return binary.AppendUvarint(binary.AppendUvarint(putTick(b, ev.At), uint64(ev.Parent)), uint64(ev.Detected))
	case EventArrive:
		return binary.AppendUvarint(putTick(b, ev.At), uint64(ev.Topic))
	case EventAnchor, EventVector:
		return b
	case EventSample:
		return putString(b, ev.Sample)
	}
	b = append(b, ev.Key[:]...)
	if ev.Kind == EventAlias {
		b = binary.LittleEndian.AppendUint64(b, ev.Basis)
	}
	return b
}

func putTick(b []byte, t policy.Tick) []byte { return putFloat(binary.AppendVarint(b, t.Seq), t.At) }

func (r *reader) tick() policy.Tick { return policy.Tick{Seq: r.varint(), At: r.number()} }

// DecodeEvents decodes what AppendEvents has made. Vectors of another space are left out.
func DecodeEvents(b []byte, space string) ([]Event, error) {
	r := reader{b: b}
	var evs []Event
	for len(r.b) > 0 {
		ev, err := r.event(space)
		if err != nil {
			return nil, err
		}
		evs = append(evs, ev)
	}
	return evs, nil
}

func (r *reader) event(space string) (ev Event, err error) {
	ev.Kind = EventKind(r.byte())
	flags := r.byte()
	ev.ID = policy.ID(r.uvarint())
	ev.Replaced, ev.Refused, ev.Searched = flags&wireReplaced != 0, flags&wireRefused != 0, flags&wireSearched != 0
	r.bad = r.bad || flags >= wireEventEnd
	switch ev.Kind {
	case EventInsert:
		ev.At = r.tick()
		if record := r.take(uint64(r.uint32())); !r.bad {
			ev.Entry, ev.Vector, err = DecodeRecord(ev.ID, record, space)
		}
	case EventVector:
		if record := r.take(uint64(r.uint32())); !r.bad {
			ev.Vector, err = decodeVectorRecord(record, space)
		}
	case EventUse:
		ev.At, ev.Parent, ev.Detected = r.tick(), policy.ID(r.uvarint()), policy.ID(r.uvarint())
	case EventArrive:
		ev.At, ev.Topic = r.tick(), policy.TopicID(r.uvarint())
	case EventAlias:
		ev.Key, ev.Basis = r.digest(), r.uint64()
	case EventEvict, EventExpire, EventPurge:
		ev.Key = r.digest()
	case EventSample:
		ev.Sample = r.bytes()
	case EventAnchor:
	default:
		r.bad = true
	}
	if r.bad {
		return ev, fmt.Errorf("read event: %w", ErrDamaged)
	}
	return ev, err
}

func (r *reader) uint64() uint64 {
	if p := r.take(8); p != nil {
		return binary.LittleEndian.Uint64(p)
	}
	return 0
}

func (r *reader) uint32() uint32 {
	if p := r.take(4); p != nil {
		return binary.LittleEndian.Uint32(p)
	}
	return 0
}
