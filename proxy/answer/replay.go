package answer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"reprise/proxy/canon"
)

// ReplayOptions say how a stored answer is given out again.
type ReplayOptions struct {
	ID           string // replaces the answer's id everywhere; empty leaves it
	Created      int64  // seconds since 1970, replaces the times of creation; 0 leaves them
	Stream       bool   // the client asked for a stream
	IncludeUsage bool   // and for its usage
}

// Replay appends the answer in the form that o asks for and returns its content type. In the stored form it copies the
// bytes between the slots, one allocation at most where dst is too small. In the other form it converts first (about as
// dear as the Freeze of both). Embeddings have one form, and o.Stream means nothing to them. ErrIncomplete or
// ErrMalformed, with dst as it was, where a conversion finds no whole answer; never after a Judge that says Keep.
func (z *Frozen) Replay(dst []byte, o ReplayOptions) ([]byte, string, error) {
	if z.Stream == o.Stream || z.Family == canon.Embeddings {
		return z.replay(dst, o), z.ContentType, nil
	}
	other, err := z.convert()
	if err != nil {
		return dst, "", fmt.Errorf("convert answer: %w", err)
	}
	return other.replay(dst, o), other.ContentType, nil
}

func (z *Frozen) replay(dst []byte, o ReplayOptions) []byte {
	id, created := "", ""
	if o.ID != "" {
		id = quote(o.ID)
	}
	if o.Created != 0 {
		created = strconv.FormatInt(o.Created, 10)
	}
	dst = slices.Grow(dst, len(z.Body)+len(z.Slots)*(len(id)+len(created)))
	return splice(dst, z.Body, z.Slots, id, created, o.IncludeUsage)
}

// convert returns the answer in its other form, as the same upstream might have sent it.
func (z *Frozen) convert() (*Frozen, error) {
	convert, contentType := toStream, typeStream
	if z.Stream {
		convert, contentType = toObject, typeJSON
	}
	body, err := convert(z.Family, z.Body)
	if err != nil {
		return nil, err
	}
	return Freeze(z.Family, contentType, body)
}

// toObject merges a whole stream into the answer that a client without stream would have got.
func toObject(f canon.Family, stream []byte) ([]byte, error) {
	if f == canon.Responses {
		r, err := lastResponse(stream)
		return []byte(r.Raw), err
	}
	m, err := mergeStream(stream)
	if err != nil {
		return nil, err
	}
	return m.object(f), nil
}

// toStream renders an answer as a stream, with its usage.
func toStream(f canon.Family, body []byte) ([]byte, error) {
	var flat bytes.Buffer // a line feed between tokens would end a data line
	if err := json.Compact(&flat, body); err != nil {
		return nil, ErrMalformed
	}
	r, err := parse(flat.Bytes())
	if err != nil {
		return nil, err
	}
	switch f {
	case canon.Responses:
		return responseStream(r), nil
	case canon.Completions:
		return completionStream(r), nil
	}
	return chatStream(r), nil
}
