package answer

import (
	"bytes"
	"fmt"
	"strings"

	"reprise/proxy/canon"
)

// Freeze makes the stored form of a finished answer: body as the upstream sent it, an event stream where contentType
// says so. It finds the slots and does not judge; ErrMalformed where the bytes cannot be read. The result aliases body,
// except where a stream spreads an event over several data lines: those are joined in a copy.
func Freeze(f canon.Family, contentType string, body []byte) (*Frozen, error) {
	z := &Frozen{Family: f, Stream: IsStream(contentType), ContentType: contentType, Body: body}
	if z.Stream {
		return z, z.freezeStream()
	}
	r, err := parse(body)
	if err != nil {
		return nil, fmt.Errorf("freeze answer: %w", err)
	}
	s := slotter{base: 0, data: r.Raw}
	s.object(r)
	z.Slots = s.slots
	return z, nil
}

// IsStream reports whether a content type is that of an event stream.
func IsStream(contentType string) bool {
	media, _, _ := strings.Cut(contentType, ";")
	return strings.EqualFold(strings.TrimSpace(media), "text/event-stream")
}

func (z *Frozen) freezeStream() error {
	if folded(z.Body) {
		z.Body = unfold(z.Body)
	}
	at := 0
	for es := eventsOf(z.Body); ; {
		ev, ok := es.Next()
		if !ok {
			return nil
		}
		if ev.Data != nil && !isDone(ev.Data) {
			r, err := parse(ev.Data)
			if err != nil {
				return fmt.Errorf("freeze event at byte %d: %w", at, err)
			}
			z.Slots = streamSlots(z.Slots, z.Family, ev, r, at)
		}
		at += len(ev.Raw)
	}
}

// isDone reports whether an event is the sentinel that ends chat and completions streams.
func isDone(data []byte) bool { return string(bytes.TrimSpace(data)) == "[DONE]" }

// folded reports whether some event spans several data lines, in which no slot could be marked.
func folded(body []byte) bool {
	for es := eventsOf(body); ; {
		ev, ok := es.Next()
		if !ok {
			return false
		}
		if ev.Data != nil && ev.at < 0 {
			return true
		}
	}
}

// unfold rewrites a stream with one data line per event. Between the tokens of JSON a line feed is as good as a space.
func unfold(body []byte) []byte {
	var out []byte
	for es := eventsOf(body); ; {
		ev, ok := es.Next()
		if !ok {
			return out
		}
		if ev.Data != nil {
			out = appendEvent(out, ev.Name, bytes.ReplaceAll(ev.Data, []byte("\n"), []byte(" ")))
		}
	}
}

// appendEvent appends one event of one data line.
func appendEvent(dst []byte, name string, data []byte) []byte {
	if name != "" {
		dst = append(append(append(dst, "event: "...), name...), '\n')
	}
	return append(append(append(dst, "data: "...), data...), "\n\n"...)
}
