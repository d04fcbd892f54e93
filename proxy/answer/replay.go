package answer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"reprise/proxy/answer/rawjson"
)

// ReplayOptions describe how a stored answer is replayed.
type ReplayOptions struct {
	ID           string // replaces the answer's id everywhere; empty leaves it
	Created      int64  // seconds since 1970, replaces the times of creation; 0 leaves them
	Stream       bool   // the client asked for a stream
	IncludeUsage bool   // and for its usage

	Nonce [12]byte // makes new ids in place of the ids that link parts of one conversation; zero leaves them
}

// Replay appends the answer in the form that o asks for and returns its content type. In the stored form it copies the
// bytes between the slots, one allocation at most where dst is too small. In the other form it converts first, at about
// the cost of a Freeze of both. Where the API has no streams, o.Stream is ignored. Where the other form is not proven to say the same, or the
// answer is not whole, Replay returns an error, and dst as it was; see [Frozen.Converts].
func (z *Frozen) Replay(dst []byte, o ReplayOptions) ([]byte, string, error) {
	if z.Stream == o.Stream || z.Form.Streams == nil {
		return z.replay(dst, o), z.ContentType, nil
	}
	made := z.other.Load()
	if made == nil {
		other, err := z.convert()
		made = &conversion{other, err}
	}
	if made.err != nil {
		return dst, "", fmt.Errorf("convert answer: %w", made.err)
	}
	return made.replay(dst, o), made.ContentType, nil
}

func (z *Frozen) replay(dst []byte, o ReplayOptions) []byte {
	var few [96]byte
	id := few[:0:64]
	if o.ID != "" {
		id = rawjson.AppendQuote(id, o.ID)
	}
	created := few[64:64]
	if o.Created != 0 {
		created = strconv.AppendInt(created, o.Created, 10)
	}
	dst = slices.Grow(dst, len(z.Body)+len(z.Slots)*(len(id)+len(created)))
	return splice(dst, z.Body, z.Slots, &values{id, created, o.IncludeUsage}, &links{form: z.Form, nonce: o.Nonce})
}

// compact removes the white space between tokens.
func compact(body []byte) ([]byte, error) {
	var flat bytes.Buffer
	if err := json.Compact(&flat, body); err != nil {
		return nil, ErrMalformed
	}
	return flat.Bytes(), nil
}
