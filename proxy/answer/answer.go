// Package answer reads and writes the bytes of one answer, finished or streaming: where a stream's events end, whether the
// answer is worth keeping, how it is stored, and how a stored one becomes a reply to another client.
//
// The package is pure: no lock, goroutine, clock or randomness; every call works on the bytes it is given. What [Frozen.Converts] has
// made is remembered. JSON is read
// and patched where it lies. Nothing is decoded into a typed struct and encoded again, so fields that no API documents
// survive.
//
// What is particular to one API (what its answers must contain to be kept, how its streams become objects and objects become
// streams) comes from outside, as a [Form]; package reprise/proxy/api has the forms.
//
// # The one stored form
//
// A [Frozen] is the answer as the upstream sent it, a JSON object or a whole event stream, with the places marked that a
// replay rewrites: ids, creation times, and what a client only sees if it asked for usage. A replay in the same form
// copies the bytes between those places. A replay in the other form converts first, by the Form's [Streams], where that is proven to say the
// same: the object is merged from the events by one reading of the API ([Merger]), and the events are held against it by another (Prover).
// A stream is proven once, when it is read to be kept: the stored form has a checksum of the object, and a hit that merges to another one, by
// another version of the program, is proven again.
package answer

import (
	"bytes"
	"errors"
	"sync/atomic"

	"github.com/tidwall/gjson"
)

var (
	// ErrMalformed: the bytes are not an answer of their API: not JSON, nested too deep, no object.
	ErrMalformed = errors.New("malformed answer")
	// errIncomplete: a stream ended before its terminal event.
	errIncomplete = errors.New("incomplete answer")
	// ErrReported: the upstream reports an error in the stream.
	ErrReported = errors.New("stream reports an error")
	// ErrCorrupt: an encoded answer fails its checksum, or is of an unknown version or API.
	ErrCorrupt = errors.New("corrupt answer")
)

// Content types of converted replays.
const (
	typeJSON   = "application/json"
	typeStream = "text/event-stream; charset=utf-8"
	typeLines  = "application/x-ndjson"
)

// Form describes how the answers of one API are read and written.
type Form struct {
	// Code is the API's number in stored answers. It never changes, and no other API gets it.
	Code  byte
	Judge Judger
	// Links finds the ids that link parts of one conversation; nil: answers have none.
	Links Linker
	// Streams is nil where answers are never streamed. Such an answer is replayed as an object whatever the client asks for.
	Streams Streams
	// Always are the members that every object of the API has, as paths of gjson. A stream that does not say them does not become an object.
	Always []string
	// Lines: a stream is a line of JSON for each event, without the fields of an event stream.
	Lines bool
}

// Judger reads the finished answers of an API.
type Judger interface {
	// Judge returns the verdict on a finished answer that is not an error: its text, and the reason not to keep it, if any. Where Judge
	// leaves out Usage, the member "usage" counts. request is the body of the request; nil: it is not known, and what depends on it is not
	// judged.
	Judge(answer gjson.Result, request []byte) Verdict
}

// Linker handles the ids that link parts of one conversation, such as the id of a call of a tool.
type Linker interface {
	// MarkLinks marks the ids in the member name, with value v, of a finished answer as [SlotLink], in the order of their places.
	MarkLinks(m *Marker, name string, v gjson.Result)
	// NewLink appends the id that a replay with this nonce has in the place of original, which is [IsLink]: the id that
	// [AppendLink] makes, or one that a later request may name at the upstream.
	NewLink(dst []byte, nonce [12]byte, original string) []byte
}

// Streams is how an API streams its answers.
type Streams interface {
	// Merger returns what joins the events of one stream to the object that a client without stream would have got.
	Merger() Merger
	// Prover returns what holds the events of a stream against an object that should say the same. It makes no object of its own: Add fails
	// where the object lacks what an event says, and Object where the object says more than all events; both with ErrMalformed.
	// Its verdict is stored: where it becomes stricter, proofVersion is to be raised.
	Prover(object gjson.Result) Merger
	// Render returns the stream, with its usage, of a client that would have got the object without. No line feed stands
	// between the tokens of the object. It is nil where the stream would be out of proportion; see [Script].
	Render(object gjson.Result) []byte
	// Mark marks what a replay rewrites in the object of one event.
	Mark(m *Marker, event gjson.Result)
	// Last reports whether the data of an event says that it is the last one of its stream.
	Last(data []byte) bool
}

// Ended reports whether the beginning of an answer is all of it, whatever may follow: a stream whose last event is the terminal one, or an object
// that is closed. It looks at the end alone, at a cost of the length of the last event, so that it can be asked of each piece; of an
// object it is a guess, which Parse confirms.
func (f *Form) Ended(stream bool, body []byte) bool {
	if !stream {
		body = bytes.TrimRight(body, " \t\r\n")
		return len(body) > 0 && body[len(body)-1] == '}'
	}
	data := f.lastData(body)
	return data != nil && f.Streams != nil && f.Streams.Last(data)
}

// Frozen is a finished answer, the only stored form. It is not changed once made, and may be read by many at once.
type Frozen struct {
	Form        *Form
	Stream      bool   // Body is a stream
	ContentType string // of the upstream's reply
	Body        []byte
	Slots       []Slot // what a replay rewrites, in the order of Off
	Origin      Origin // of the trace that made it

	read  string                     // the answer as a JSON object, where Read has made z
	proof uint32                     // that the stream says what its object says, as proofOf has it; 0: none
	other atomic.Pointer[conversion] // made by Converts
}

// Origin is the id of a trace, 16 bytes, and the id of a span in it, 8 bytes; zero: there was no trace.
type Origin [24]byte
