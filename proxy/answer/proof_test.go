package answer_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"reprise/proxy/answer"
)

// faulty is an API whose streams are merged, or whose objects are rendered, with a fault.
type faulty struct {
	answer.Streams
	object string // what every stream merges to
}

type faultyMerger struct {
	answer.Merger
	object string
}

func (f faulty) Merger() answer.Merger { return faultyMerger{f.Streams.Merger(), f.object} }

func (m faultyMerger) Object() (gjson.Result, error) { return gjson.Parse(m.object), nil }

// TestFaultsAreNotProven: an object that differs from the events in one member, whatever it is, is not proven; and an object of
// which a member is another than the one that was rendered does not become that stream.
func TestFaultsAreNotProven(t *testing.T) {
	tried := 0
	for _, x := range fixtures(t) {
		z := x.freeze(t)
		if x.Answers.Streams == nil || !z.Converts() {
			continue
		}
		stream, object := z, z
		if z.Stream {
			object = frozenAs(t, z, typeJSON, replay(t, z, answer.ReplayOptions{}))
		} else {
			stream = frozenAs(t, z, typeStream, replay(t, z, answer.ReplayOptions{Stream: true, IncludeUsage: true}))
		}
		for what, mutant := range mutants(decodedNumbers(t, object.Body)) {
			if tried++; strings.HasSuffix(what, ".role is lost") && bytes.Count(stream.Body, []byte(`"role"`)) < bytes.Count(object.Body, []byte(`"role"`)) {
				continue // the API has one in every answer, whatever the stream has
			}
			body, err := json.Marshal(mutant)
			if err != nil {
				t.Fatal(err)
			}
			form := *x.Answers
			form.Streams = faulty{form.Streams, string(body)}
			if got, err := answer.Freeze(&form, stream.ContentType, stream.Body); err != nil || got.Converts() {
				t.Errorf("%s, %s: converts to\n%s\nnot to\n%s (%v)", x.Answer.Name, what, body, object.Body, err)
			}
		}
	}
	if tried < 2000 {
		t.Errorf("only %d faults", tried)
	}
}

// counted is an API that counts its proofs.
type counted struct {
	answer.Streams
	proofs *int
}

func (c counted) Prover(object gjson.Result) answer.Merger {
	*c.proofs++
	return c.Streams.Prover(object)
}

// TestProvenOnce: a stream is proven when it is read to be kept, and not on each hit. A program that merges it to something else proves
// that, and so does one that has an answer from before there were proofs.
func TestProvenOnce(t *testing.T) {
	tried := 0
	for _, x := range fixtures(t) {
		z := x.freeze(t)
		if !x.Stream || !z.Converts() {
			continue
		}
		tried++
		proofs, form := 0, *x.Answers
		form.Streams = counted{form.Streams, &proofs}
		want := replay(t, z, answer.ReplayOptions{})
		hit := func(stored []byte, as *answer.Form) ([]byte, error) {
			z, err := answer.Decode(stored, []*answer.Form{as})
			if err != nil {
				t.Fatal(err)
			}
			got, _, err := z.Replay(nil, answer.ReplayOptions{})
			return got, err
		}
		_, read, _ := answer.Read(&form, x.ContentType, x.Body, nil, json.Valid)
		got, err := hit(read.Encode(nil), &form)
		if err != nil || !bytes.Equal(got, want) || proofs != 1 {
			t.Errorf("%s: %d proofs, %v, and it becomes\n%s\nwant\n%s", x.Answer.Name, proofs, err, got, want)
		}
		if got, err = hit(z.Encode(nil), &form); err != nil || !bytes.Equal(got, want) || proofs != 2 {
			t.Errorf("%s, from before: %d proofs, %v\n%s", x.Answer.Name, proofs, err, got)
		}
		changed := form
		changed.Streams = faulty{form.Streams, strings.Replace(string(want), "{", `{"added":1,`, 1)}
		if got, err = hit(read.Encode(nil), &changed); err == nil || proofs != 3 {
			t.Errorf("%s, merged otherwise: %d proofs\n%s", x.Answer.Name, proofs, got)
		}
	}
	if tried < 10 {
		t.Errorf("only %d streams", tried)
	}
}

func frozenAs(t *testing.T, z *answer.Frozen, contentType string, body []byte) *answer.Frozen {
	t.Helper()
	if z.Form.Lines && contentType == typeStream {
		contentType = "application/x-ndjson"
	}
	other, err := answer.Freeze(z.Form, contentType, body)
	if err != nil {
		t.Fatal(err)
	}
	return other
}

func decodedNumbers(t *testing.T, b []byte) (v any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

// mutants are the values that differ from v in one place, by what differs. null is the same as nothing.
func mutants(v any) map[string]any {
	all := map[string]any{}
	within := func(at string, from any, with func(any) any) {
		for what, mutant := range mutants(from) {
			all[at+what] = with(mutant)
		}
	}
	switch v := v.(type) {
	case map[string]any:
		all[" has one more"] = with(v, "zz", "added")
		for k, of := range v {
			if of != nil {
				less := maps.Clone(v)
				delete(less, k)
				all["."+k+" is lost"] = less
			}
			within("."+k, of, func(m any) any { return with(v, k, m) })
		}
	case []any:
		for i, of := range v {
			all[" loses an element"] = append(slices.Clone(v[:i]), v[i+1:]...)
			all[" has an element twice"] = slices.Insert(slices.Clone(v), i, of)
			within("[]", of, func(m any) any { return append(append(slices.Clone(v[:i]), m), v[i+1:]...) })
		}
		all[" has an element more"] = append(slices.Clone(v), "added")
	case string:
		all[" is longer"], all[" is a number"] = v+"x", json.Number("4711")
		if v != "" {
			all[" is empty"], all[" is shorter"] = "", strings.TrimSuffix(v, v[len(v)-1:])
			all[" begins later"] = strings.ToValidUTF8(v[1:], "?") + " "
		}
	case json.Number:
		all[" is another"], all[" is text"] = json.Number("4711"), v.String()
	case bool:
		all[" is another"] = !v
	case nil:
		all[" is given"] = "added"
	}
	return all
}

func with(o map[string]any, name string, v any) map[string]any {
	o = maps.Clone(o)
	o[name] = v
	return o
}
