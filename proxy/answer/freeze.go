package answer

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"reprise/proxy/answer/rawjson"
)

// Freeze makes the stored form of a finished answer: body as the upstream sent it, an event stream where contentType
// says so. It marks the slots and does not judge; ErrMalformed where the bytes cannot be read. The result aliases body,
// except where a stream spreads an event over several data lines: those are joined in a copy.
func Freeze(f *Form, contentType string, body []byte) (*Frozen, error) {
	if IsStream(contentType) {
		return freezeStream(f, contentType, body)
	}
	r, err := Parse(body)
	if err != nil {
		return nil, fmt.Errorf("freeze answer: %w", err)
	}
	return freezeObject(f, contentType, body, r), nil
}

// Read makes the verdict on an answer to request, as [Judger] has it, and the stored form of Freeze in one pass. Its JSON documents, itself
// or the data of its events, must all pass strict, which passes objects only. It returns false where one does not, or where a stream goes
// on after [DONE] or its last event; nil where there is no stored form. The verdict on a stream whose object is not proven to say the same has no
// text: what a client makes of its events is not known.
func Read(f *Form, contentType string, body, request []byte, strict func(document []byte) bool) (v Verdict, z *Frozen, ok bool) {
	if !IsStream(contentType) {
		if !strict(body) {
			return Verdict{Reason: ReasonMalformed}, nil, false
		}
		r := gjson.Parse(rawjson.View(body))
		z = freezeObject(f, contentType, body, r)
		z.read = r.Raw
		return f.verdict(r, nil, request), z, true
	}
	if f.Streams == nil {
		return Verdict{Reason: ReasonMalformed}, nil, true
	}
	s := stream{form: f, merger: f.Streams.Merger(), check: strict, marks: f.Streams, strict: true}
	r, err := s.read(body)
	if err == errNotStrict {
		return Verdict{Reason: ReasonMalformed}, nil, false
	}
	if s.folded {
		z, _ = freezeStream(f, contentType, body)
	} else {
		z = &Frozen{Form: f, Stream: true, ContentType: contentType, Body: body, Slots: s.marker.slots}
	}
	v = f.verdict(r, err, request)
	if err == nil && z != nil {
		if z.prove(r) == nil {
			z.read, z.proof = r.Raw, proofOf(r)
		} else {
			v.Text = ""
		}
	}
	return v, z, true
}

// ShowUsage makes all clients see the usage of a stream, as it came without being asked for. It is for an answer that nobody else has yet.
func (z *Frozen) ShowUsage() { z.Slots = slices.DeleteFunc(z.Slots, Slot.ofUsage) }

// IsStream reports whether a content type names a stream: of events, or of lines of JSON.
func IsStream(contentType string) bool {
	return IsEventStream(contentType) || isMedia(contentType, typeLines)
}

// IsEventStream reports whether a content type names an event stream, which may have comments.
func IsEventStream(contentType string) bool { return isMedia(contentType, "text/event-stream") }

func isMedia(contentType, of string) bool {
	media, _, _ := strings.Cut(contentType, ";")
	return strings.EqualFold(strings.TrimSpace(media), of)
}

// freezeObject freezes body, which was read as r.
func freezeObject(f *Form, contentType string, body []byte, r gjson.Result) *Frozen {
	var m Marker
	m.Object(r, f.Links)
	return &Frozen{Form: f, ContentType: contentType, Body: body, Slots: m.slots}
}

func freezeStream(f *Form, contentType string, body []byte) (*Frozen, error) {
	if f.Streams == nil {
		return nil, fmt.Errorf("freeze answer: a stream of an API without streams: %w", ErrMalformed)
	}
	if !f.Lines && folded(body) {
		body = unfold(body)
	}
	var m Marker
	at := 0
	for ev := range f.events(body).All() {
		if ev.Data != nil && !ev.isDone() {
			r, err := Parse(ev.Data)
			if err != nil {
				return nil, fmt.Errorf("freeze event at byte %d: %w", at, err)
			}
			m.event(ev, at)
			f.Streams.Mark(&m, r)
		}
		at += len(ev.Raw)
	}
	return &Frozen{Form: f, Stream: true, ContentType: contentType, Body: body, Slots: m.slots}, nil
}

// folded reports whether some event spans several data lines, in which no slot could be marked.
func folded(body []byte) bool {
	for ev := range EventsOf(body).All() {
		if ev.Data != nil && ev.at < 0 {
			return true
		}
	}
	return false
}

// unfold rewrites a stream with one data line per event. Between the tokens of JSON a line feed is as good as a space.
func unfold(body []byte) []byte {
	var out []byte
	for ev := range EventsOf(body).All() {
		if ev.Data != nil {
			out = appendEvent(out, ev.Name, rawjson.View(bytes.ReplaceAll(ev.Data, []byte("\n"), []byte(" "))))
		}
	}
	return out
}

// Object returns the answer as a JSON object, into which a stream is merged; "" where the stream cannot be merged.
func (z *Frozen) Object() string {
	r, err := z.finished()
	if err != nil {
		return ""
	}
	return r.Raw
}

// finished is the answer as a JSON object, as Read had it where z comes from there.
func (z *Frozen) finished() (gjson.Result, error) {
	if z.read != "" {
		return gjson.Parse(z.read), nil
	}
	return finished(z.Form, z.Stream, z.Body)
}

// Calls returns the ids that a replay replaces in the answer as a JSON object, and the rest of the object.
func (z *Frozen) Calls() (ids []string, rest string) {
	r, err := z.finished()
	if err != nil {
		return nil, ""
	}
	r.Index = 0 // r may lie inside an event
	var b strings.Builder
	at := 0
	for _, s := range freezeObject(z.Form, typeJSON, rawjson.Bytes(r.Raw), r).Slots {
		if s.Kind == SlotLink {
			ids = append(ids, gjson.Parse(r.Raw[s.Off:s.end()]).Str)
			b.WriteString(r.Raw[at:s.Off])
			at = s.end()
		}
	}
	b.WriteString(r.Raw[at:])
	return ids, b.String()
}

// Converts reports whether Replay can give the answer in the form in which it is not stored: whether that form says, member by member, what the
// stored one says. It costs as much as that replay, which then does no more of it. It may be called by many at once.
func (z *Frozen) Converts() bool {
	if z.Form.Streams == nil {
		return true
	}
	made := z.other.Load()
	if made == nil {
		other, err := z.convert()
		made = &conversion{other, err}
		z.other.Store(made)
	}
	return made.err == nil
}

// conversion is an answer in its other form, or why there is none.
type conversion struct {
	*Frozen
	err error
}

// errUnproven: what a conversion gave does not say the same.
var errUnproven = errors.New("the other form does not say the same")

// convert returns the answer in its other form, as the same upstream might have sent it. The result is proven: the events of the stream, held
// against the object, say all of it and nothing else.
func (z *Frozen) convert() (*Frozen, error) {
	if z.Stream {
		return z.object()
	}
	flat, err := z.Body, error(nil)
	if bytes.ContainsAny(flat, "\r\n") { // one between tokens would end a data line
		if flat, err = compact(flat); err != nil {
			return nil, err
		}
	}
	r, err := Parse(flat)
	if err != nil {
		return nil, err
	}
	body := z.Form.Streams.Render(r)
	if body == nil {
		return nil, fmt.Errorf("the stream would be out of proportion: %w", ErrMalformed)
	}
	s := stream{form: z.Form, merger: z.Form.Streams.Prover(r), check: anyDocument, marks: z.Form.Streams}
	if _, err := s.read(body); err != nil {
		return nil, fmt.Errorf("%w: %w", errUnproven, err)
	}
	other := &Frozen{Form: z.Form, Stream: true, ContentType: typeStream, Body: body, Slots: s.marker.slots}
	if z.Form.Lines {
		other.ContentType = typeLines
	}
	return other, nil
}

// object returns a stream as an object.
func (z *Frozen) object() (*Frozen, error) {
	r, err := z.finished()
	if err != nil {
		return nil, err
	}
	for _, path := range z.Form.Always {
		if !rawjson.Given(r.Get(path)) {
			return nil, fmt.Errorf("%w: a stream without %s", errUnproven, path)
		}
	}
	if err := z.prove(r); err != nil {
		return nil, err
	}
	r.Index = 0 // r may lie inside an event
	return freezeObject(z.Form, typeJSON, rawjson.Bytes(r.Raw), r), nil
}

// prove holds the events of a stream against the object to which they are merged, unless that was done when the answer was kept.
func (z *Frozen) prove(r gjson.Result) error {
	if z.proof != 0 && z.proof == proofOf(r) {
		return nil
	}
	s := stream{form: z.Form, merger: z.Form.Streams.Prover(r), check: anyDocument}
	if _, err := s.read(z.Body); err != nil {
		return fmt.Errorf("%w: %w", errUnproven, err)
	}
	return nil
}

// proofVersion is raised when a [Streams.Prover] becomes stricter: what an older one has proven is then proven again on each hit.
const proofVersion = 2

// proofOf is what is stored of a proof that a stream says what object r says: a checksum of r. A program that merges the stream to anything else
// proves that again.
func proofOf(r gjson.Result) uint32 {
	return crc32.Update(proofVersion, castagnoli, rawjson.Bytes(r.Raw))
}

// anyDocument passes what was checked before: events that were merged, and those that a Render has made of values that were checked.
func anyDocument([]byte) bool { return true }
