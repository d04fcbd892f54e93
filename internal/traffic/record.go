// Package traffic reads and writes recorded requests: the request log of the proxy, one Record a line, and files of conversations, which the
// demo plays. Files may be packed with gzip or zstd, which their first bytes show.
package traffic

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
)

// Record is one line of the request log; its tags define the format. At least one of ID, Text and Vector is set. All other
// fields are optional, and unknown fields are ignored.
type Record struct {
	ID           Label   `json:"id,omitzero"` // semantic identity; if it is missing, the text identifies the request, or else the vector
	At           float64 `json:"at,omitzero"` // seconds from any fixed start
	Topic        Label   `json:"topic,omitzero"`
	Conversation Label   `json:"conversation,omitzero"`
	Parent       Label   `json:"parent,omitzero"`  // id of the earlier request that this one depends on
	Scope        Label   `json:"scope,omitzero"`   // requests of different scopes never share an answer
	Chain        Label   `json:"chain,omitzero"`   // requests of different chains never share one by meaning
	Hit          bool    `json:"hit,omitzero"`     // whether it was a hit in the cache that wrote the log; a replay ignores it
	Turn         int32   `json:"turn,omitzero"`    // position in the conversation, from 0
	Size         int64   `json:"size,omitzero"`    // bytes of the answer
	Cost         float64 `json:"cost,omitzero"`    // tokens that a hit saves
	Vector       vector  `json:"vector,omitempty"` // of the prompt
	Text         string  `json:"text,omitzero"`    // the prompt
}

// Label is a name or a number. In JSON it is a string or a number. A number is written as a string if some JSON
// readers would round it.
type Label string

// most bounds a size and a cost, so that their sums over a trace do not overflow.
const most = 1e12

// maxExact is the largest n such that a float64 holds every whole number up to n.
const maxExact = 1 << 53

// MarshalJSON writes a number or a string.
func (l Label) MarshalJSON() ([]byte, error) {
	if n, err := strconv.ParseUint(string(l), 10, 64); err == nil && 0 < n && n <= maxExact && l[0] != '0' {
		return []byte(l), nil
	}
	return json.Marshal(string(l))
}

// UnmarshalJSON reads a number or a string.
func (l *Label) UnmarshalJSON(in []byte) error {
	switch {
	case in[0] == '"':
		return json.Unmarshal(in, (*string)(l))
	case in[0] == '-' || in[0] >= '0' && in[0] <= '9':
		*l = Label(in)
	case string(in) != "null":
		return &json.UnmarshalTypeError{Value: kind(in)}
	}
	return nil
}

// kind returns the JSON type of the value that starts with in.
func kind(in []byte) string {
	switch in[0] {
	case '{':
		return "object"
	case '[':
		return "array"
	case '"':
		return "string"
	case 't', 'f':
		return "bool"
	}
	return "number"
}

// vector is an embedding. In JSON it is the base64 of little-endian float32 numbers; an array of numbers is also read.
type vector []float32

// MarshalJSON writes base64.
func (v vector) MarshalJSON() ([]byte, error) {
	raw := make([]byte, 0, 4*len(v))
	for _, x := range v {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(x))
	}
	return json.Marshal(raw) // package json encodes bytes as base64
}

// UnmarshalJSON reads base64 or an array.
func (v *vector) UnmarshalJSON(in []byte) error {
	wrong := &json.UnmarshalTypeError{Value: kind(in)}
	switch {
	case string(in) == "null":
		return nil
	case in[0] == '[':
		if json.Unmarshal(in, (*[]float32)(v)) != nil {
			return wrong
		}
		return nil
	case in[0] != '"':
		return wrong
	}
	raw, err := base64.StdEncoding.AppendDecode(nil, in[1:len(in)-1])
	if err != nil || len(raw)%4 != 0 {
		return wrong
	}
	*v = make(vector, len(raw)/4)
	for i := range *v {
		(*v)[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
	}
	return nil
}

// wants describes the allowed values of each field.
var wants = map[string]string{
	"id": "a string or a number", "topic": "a string or a number", "conversation": "a string or a number",
	"parent": "a string or a number", "scope": "a string or a number", "chain": "a string or a number", "hit": "true or false",
	"at": "seconds as a number", "turn": "a whole number, 0 or more", "size": "a whole number of bytes from 0 to 1e12",
	"cost": "a number of tokens from 0 to 1e12", "text": "a string",
	"vector": "an array of numbers, or base64 of little-endian float32 numbers",
}

// WrongField returns the error for a value that a field of Record does not allow.
func WrongField(field, value string) error {
	return fmt.Errorf("field %s: %s: want %s", field, value, wants[field])
}

var errEmpty = errors.New("want at least one of the fields id, text and vector")

// Decode parses one line of the log and checks it.
func Decode(line []byte) (r Record, err error) {
	err = json.Unmarshal(line, &r)
	if mistyped := (*json.UnmarshalTypeError)(nil); errors.As(err, &mistyped) {
		if wants[mistyped.Field] != "" {
			return r, WrongField(mistyped.Field, mistyped.Value)
		}
		return r, fmt.Errorf("want a JSON object, not a JSON %s", mistyped.Value)
	}
	if err != nil {
		return r, fmt.Errorf("want one JSON object: %w", err)
	}
	return r, r.check()
}

// check reports the first field that is out of range.
func (r *Record) check() error {
	switch {
	case r.ID == "" && r.Text == "" && len(r.Vector) == 0:
		return errEmpty
	case r.Turn < 0:
		return WrongField("turn", strconv.Itoa(int(r.Turn)))
	case r.Size < 0 || r.Size > most:
		return WrongField("size", strconv.FormatInt(r.Size, 10))
	case !(r.Cost >= 0 && r.Cost <= most):
		return WrongField("cost", fmt.Sprint(r.Cost))
	case math.IsNaN(r.At) || math.IsInf(r.At, 0):
		return WrongField("at", fmt.Sprint(r.At))
	}
	return nil
}

// encode appends the record and a line feed to b.
func (r *Record) encode(b []byte) ([]byte, error) {
	if err := r.check(); err != nil {
		return b, err
	}
	line, err := json.Marshal(r)
	return append(append(b, line...), '\n'), err
}

// Writer writes a request log. Each record is one call of the underlying writer, so that a crash can truncate only the last
// line. A Writer is not safe for concurrent use.
type Writer struct {
	out io.Writer
	buf []byte
}

// NewWriter returns a Writer to out.
func NewWriter(out io.Writer) *Writer { return &Writer{out: out} }

// Append writes one record.
func (w *Writer) Append(r Record) (err error) {
	if w.buf, err = r.encode(w.buf[:0]); err != nil {
		return fmt.Errorf("encode record: %w", err)
	}
	_, err = w.out.Write(w.buf)
	return err
}
