package trace

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"math"
	"strconv"

	"reprise/cmd/reprise-lab/sim"
	"reprise/internal/traffic"
)

// parseRequests parses the request log. All vectors of a log have one length.
func parseRequests(in *bufio.Reader, yield func(sim.Request) bool) error {
	dims := 0
	return eachLine(in, func(line []byte) (bool, error) {
		record, err := traffic.Decode(line)
		if err != nil {
			return false, err
		}
		if n := len(record.Vector); n > 0 {
			if dims == 0 {
				dims = n
			}
			if n != dims {
				return false, traffic.WrongField("vector", fmt.Sprintf("%d numbers, where others of the file have %d", n, dims))
			}
		}
		request, err := RequestOf(&record)
		return err == nil && yield(request), err
	})
}

// RequestOf returns the request of a record, with its vector scaled to length 1.
func RequestOf(r *traffic.Record) (sim.Request, error) {
	q := sim.Request{
		ID: Identity(string(r.ID)), At: r.At, Topic: Identity(string(r.Topic)), Conversation: Identity(string(r.Conversation)),
		Parent: Identity(string(r.Parent)), Scope: Identity(string(r.Scope)), Chain: Identity(string(r.Chain)), Turn: r.Turn, Size: r.Size, Cost: r.Cost,
	}
	if r.Text == "" && len(r.Vector) == 0 {
		return q, nil
	}
	q.Content = &sim.Content{Text: r.Text}
	if len(r.Vector) > 0 {
		var ok bool
		if q.Content.Vector, ok = unit(r.Vector); !ok {
			return q, traffic.WrongField("vector", "without a direction")
		}
	}
	if q.ID == 0 {
		q.ID = contentID(q.Content)
	}
	return q, nil
}

// NamesItself reports whether the identity of r is that of its content, as of a request without an id.
func NamesItself(r *sim.Request) bool { return r.Content != nil && r.ID == contentID(r.Content) }

// contentID is the identity of a request without an id: that of its text, or of its vector if there is no text.
func contentID(c *sim.Content) uint64 {
	if c.Text != "" {
		return Identity(c.Text)
	}
	var raw []byte
	for _, x := range c.Vector {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(x))
	}
	return identity(raw)
}

// unit scales v to length 1. The result is false if v has no direction.
func unit(v []float32) ([]float32, bool) {
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	length := math.Sqrt(sum)
	if !(length > 0) || math.IsInf(length, 0) {
		return nil, false
	}
	if math.Abs(length-1) < 1e-6 {
		return v, true
	}
	scaled := make([]float32, len(v))
	for i, x := range v {
		scaled[i] = float32(float64(x) / length)
	}
	return scaled, true
}

// RecordOf returns the record of q: its RequestOf is q.
func RecordOf(q sim.Request) traffic.Record {
	r := traffic.Record{
		ID: labelOf(q.ID), At: q.At, Topic: labelOf(q.Topic), Conversation: labelOf(q.Conversation), Parent: labelOf(q.Parent),
		Scope: labelOf(q.Scope), Chain: labelOf(q.Chain), Turn: q.Turn, Size: q.Size, Cost: q.Cost,
	}
	if q.Content != nil {
		r.Text, r.Vector = q.Content.Text, q.Content.Vector
	}
	return r
}

// labelOf returns the label whose Identity is n.
func labelOf(n uint64) traffic.Label {
	if n == 0 {
		return ""
	}
	return traffic.Label(strconv.FormatUint(n, 10))
}
