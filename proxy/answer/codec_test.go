package answer_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"hash/crc32"
	"reflect"
	"testing"

	"reprise/proxy/answer"
	"reprise/proxy/api/registry"
)

func TestCodec(t *testing.T) {
	for _, x := range fixtures(t) {
		z := x.freeze(t)
		for _, z.Origin = range []answer.Origin{{}, {1, 23: 24}} {
			b := z.Encode([]byte("before"))[len("before"):]
			got, err := registry.APIs.Decode(b)
			if err != nil || !reflect.DeepEqual(got, z) {
				t.Errorf("%s: %+v, %v", x.Answer.Name, got, err)
			}
			if extra := len(b) - len(z.Body); extra > 64+5*len(z.Slots) {
				t.Errorf("%s: %d bytes beyond the body for %d slots", x.Answer.Name, extra, len(z.Slots))
			}
		}
	}
}

func TestDecodeRefusesDamage(t *testing.T) {
	for _, from := range []answer.Origin{{}, {7}} {
		z := chatText(t, true)
		_, proven, _ := answer.Read(z.Form, z.ContentType, z.Body, nil, json.Valid)
		for _, z := range []*answer.Frozen{z, proven} {
			z.Origin = from
			decodeRefusesDamage(t, z.Encode(nil))
		}
	}
}

func decodeRefusesDamage(t *testing.T, good []byte) {
	t.Helper()
	for i := range good {
		flipped := bytes.Clone(good)
		flipped[i] ^= 1 << (i % 8)
		for what, b := range map[string][]byte{"flipped": flipped, "cut": good[:i]} {
			if _, err := registry.APIs.Decode(b); !errors.Is(err, answer.ErrCorrupt) {
				t.Errorf("%s at %d: %v", what, i, err)
			}
		}
	}
	if _, err := registry.APIs.Decode(append(bytes.Clone(good), 0)); !errors.Is(err, answer.ErrCorrupt) {
		t.Errorf("one byte more: %v", err)
	}
}

// Any bytes, with a checksum that fits: what is decoded encodes to an equal answer, and replays without a panic.
func FuzzDecode(f *testing.F) {
	for _, x := range fixtures(f) {
		z := x.freeze(f)
		for _, z.Origin = range []answer.Origin{{}, {1, 23: 24}} {
			b := z.Encode(nil)
			f.Add(b[:len(b)-4])
			if x.Stream { // with a proof
				_, z, _ := answer.Read(z.Form, z.ContentType, z.Body, nil, json.Valid)
				b := z.Encode(nil)
				f.Add(b[:len(b)-4])
			}
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		sum := crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli))
		z, err := registry.APIs.Decode(append(b[:len(b):len(b)], byte(sum), byte(sum>>8), byte(sum>>16), byte(sum>>24)))
		if err != nil {
			return
		}
		again, err := registry.APIs.Decode(z.Encode(nil))
		if err != nil || !reflect.DeepEqual(again, z) {
			t.Errorf("%+v became %+v, %v", z, again, err)
		}
		for _, o := range []answer.ReplayOptions{{ID: "N", Created: 7}, {ID: "N", Stream: true, IncludeUsage: true}} {
			if _, _, err := z.Replay(nil, o); err != nil && z.Stream == o.Stream {
				t.Error(err)
			}
		}
	})
}

func TestEncodeAllocatesOnce(t *testing.T) {
	for _, f := range fixtures(t) {
		z := f.freeze(t)
		z.Origin = answer.Origin{1}
		if n := testing.AllocsPerRun(10, func() { z.Encode(nil) }); n != 1 {
			t.Errorf("%s: %v allocations", f.Answer.Name, n)
		}
	}
}

// TestOldSlots: answers that were stored before a kind of slot was added are replayed as then. The numbers of the kinds stay.
func TestOldSlots(t *testing.T) {
	body := []byte("data: {\"id\":\"a\",\"created\":1,\"usage\":null}\n\ndata: {\"choices\":[],\"usage\":{},\"timings\":{}}\n\n")
	z := &answer.Frozen{Form: chat, Stream: true, ContentType: typeStream, Body: body,
		Slots: []answer.Slot{{Off: 12, Len: 3, Kind: 1}, {Off: 26, Len: 1, Kind: 2}, {Off: 27, Len: 13, Kind: 4}, {Off: 43, Len: len(body) - 43, Kind: 3}}}
	old, err := registry.APIs.Decode(z.Encode(nil))
	if err != nil {
		t.Fatal(err)
	}
	for usage, want := range map[bool]string{
		false: "data: {\"id\":\"N\",\"created\":7}\n\n",
		true:  "data: {\"id\":\"N\",\"created\":7,\"usage\":null}\n\n" + string(body[43:]),
	} {
		if got := replay(t, old, answer.ReplayOptions{ID: "N", Created: 7, Stream: true, IncludeUsage: usage}); string(got) != want {
			t.Errorf("usage %v: %q, want %q", usage, got, want)
		}
	}
}
