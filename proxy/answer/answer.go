// Package answer knows everything about the bytes of one answer, finished or streaming: where a stream's events end,
// whether the answer is worth keeping, how it is stored, and how a stored one becomes a reply to somebody else.
//
// The package is pure: no lock, goroutine, clock or randomness; every call works on the bytes it is given. JSON is read
// and patched where it lies. Nothing is ever decoded into a typed struct and encoded again, so what an upstream says
// beyond the API we know survives.
//
// # The one stored form
//
// A [Frozen] is the answer as the upstream sent it, a JSON object or a whole event stream, with the places marked that a
// replay must write anew: ids, creation times, and what a client only sees if it asked for usage. A replay in the same
// form copies the bytes between those places. A replay in the other form converts first:
//
//	chat, completions   stream to object: the chunks' deltas are merged by choice; object to stream: role, each part of
//	                    the message, finish reason, usage, [DONE]
//	responses           stream to object: the response of response.completed; object to stream: the sequence of events
//	                    that would have led to it
//	embeddings          have one form only
//
// # Ids of replays
//
// Two clients must not see one id, so a replay has a new one (see [NewID]). A Responses id is also a handle: a later
// request may name it as previous_response_id, and the upstream knows only the original. So the new id of a Responses
// answer carries the original inside, and [OriginalID] takes it out again.
package answer

import (
	"errors"

	"reprise/proxy/canon"
)

var (
	// ErrMalformed tells of bytes that are not an answer of their family: not JSON, nested too deep, no object.
	ErrMalformed = errors.New("malformed answer")
	// ErrIncomplete tells of a stream that ended before its terminal event.
	ErrIncomplete = errors.New("incomplete answer")
	// ErrCorrupt tells of an encoded answer that fails its checksum or is of an unknown version.
	ErrCorrupt = errors.New("corrupt answer")
)

// Content types of converted replays.
const (
	typeJSON   = "application/json"
	typeStream = "text/event-stream; charset=utf-8"
)

// Frozen is a finished answer, the only stored form. It is not changed once made, and may be read by many at once.
type Frozen struct {
	Family      canon.Family
	Stream      bool   // Body is an event stream
	ContentType string // of the upstream's reply
	Body        []byte
	Slots       []Slot // what a replay rewrites, in the order of Off
}

// SlotKind says what a replay does with a slot.
type SlotKind uint8

const (
	// SlotID is the JSON string that holds the answer's id.
	SlotID SlotKind = iota + 1
	// SlotCreated is a JSON number of seconds since 1970: created, created_at or completed_at.
	SlotCreated
	// SlotUsageEvent is a whole event that carries usage and no choice. Other slots may lie inside.
	SlotUsageEvent
	// SlotUsageNull is a member "usage":null with one neighbouring comma.
	SlotUsageNull

	lastKind = SlotUsageNull
)

// Slot is one place of Body that a replay rewrites: Len bytes from Off.
type Slot struct {
	Off, Len int
	Kind     SlotKind
}

func (s Slot) end() int { return s.Off + s.Len }
