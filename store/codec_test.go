package store

import (
	"bytes"
	"reflect"
	"testing"
	"time"

	"reprise/policy"
)

func sample() Entry {
	return Entry{
		ID: 7, Key: Key{1}, Scope: Scope{2}, Chain: [32]byte{3}, Tenant: "t", Namespace: "n", Model: "m", Endpoint: "chat",
		Prompt: "what?", Topic: 8, Parent: 6, Answer: []byte("that"), unpacked: 99, AnswerHash: [32]byte{4}, InputTokens: 10,
		OutputTokens: 20, UpstreamTime: time.Second, Created: time.Unix(100, 5), Expires: time.Unix(200, 0),
	}
}

func TestEntryCodec(t *testing.T) {
	e := sample()
	got, err := decodeEntry(7, encodeEntry(&e), ownLabel)
	if err != nil || !got.StaleUntil.IsZero() {
		t.Fatal(err, got.StaleUntil)
	}
	got.StaleUntil = time.Time{}
	if !reflect.DeepEqual(got, e) {
		t.Errorf("got  %+v\nwant %+v", got, e)
	}
	for i := range encodeEntry(&e) {
		if _, err := decodeEntry(7, encodeEntry(&e)[:i], ownLabel); err == nil {
			t.Errorf("an entry cut at %d is taken", i)
		}
	}
}

func TestStateCodec(t *testing.T) {
	s := entryState{last: 5, turn: 300, policy: policy.EntryState{ID: 7, Parent: 6, Freq: 2, Dep: 1.5, Born: 3, Last: 5}}
	if got, err := decodeState(encodeState(s)); err != nil || got != s {
		t.Errorf("state %+v, %v", got, err)
	}
	s.turn = 0 // as it was written before there were turns
	if got, err := decodeState(encodeState(s)); err != nil || got != s {
		t.Errorf("state %+v, %v", got, err)
	}
	topic := policy.TopicState{ID: 3, LogW: -2.5, Last: 9}
	if got, err := decodeTopic(3, encodeTopic(topic)); err != nil || got != topic {
		t.Errorf("topic %+v, %v", got, err)
	}
	c := counters{seq: 1, at: 2.5, nextID: 3, maxTopic: 4}
	if got, err := decodeCounters(encodeCounters(c)); err != nil || got != c {
		t.Errorf("counters %+v, %v", got, err)
	}
}

// TestUnpackBounds: what a packed answer claims does not decide what it costs.
func TestUnpackBounds(t *testing.T) {
	p, n := pack(bytes.Repeat([]byte("a"), 1<<20))
	for _, claim := range []int{n - 1, n + 1, 1} {
		if _, err := unpack(p, claim); err == nil {
			t.Errorf("%d bytes unpack as %d", n, claim)
		}
	}
	if _, err := unpack([]byte("junk"), 10); err == nil {
		t.Error("junk unpacks")
	}
}

// FuzzDecode: no body makes a decoder panic, and what it takes it writes again in a form that reads the same.
func FuzzDecode(f *testing.F) {
	e := sample()
	f.Add(uint8(KindEntry), encodeEntry(&e))
	f.Add(uint8(KindVector), encodeVector("x", []float32{1, 2}))
	f.Add(uint8(KindAliases), encodeAliases([]Key{{1}, {2}}))
	f.Add(uint8(KindState), encodeState(entryState{last: 1}))
	f.Add(uint8(KindState), encodeState(entryState{last: 1, turn: 2}))
	f.Add(uint8(KindTopic), encodeTopic(policy.TopicState{LogW: 1}))
	f.Add(uint8(KindCounters), encodeCounters(counters{seq: 1}))
	f.Fuzz(func(t *testing.T, kind uint8, body []byte) {
		l := newLoader("x")
		if err := l.decode(Record{Kind: Kind(kind), ID: 7, Body: body}); err != nil || Kind(kind) != KindEntry {
			return
		}
		first := encodeEntry(&l.entries[7].Entry)
		again, err := decodeEntry(7, first, ownLabel)
		if err != nil || !bytes.Equal(encodeEntry(&again), first) {
			t.Errorf("%x does not read again: %v", body, err)
		}
	})
}

func ownLabel(b []byte) string { return string(b) }
