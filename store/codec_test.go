package store

import (
	"bytes"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"reprise/policy"
)

func sample() Entry {
	return Entry{
		ID: 7, Key: Key{1}, Scope: Scope{2}, Chain: [32]byte{3}, Labels: &Labels{Tenant: "t", Namespace: "n", Model: "m", Endpoint: "chat"},
		Prompt: "what?", Topic: 8, Parent: 6, Answer: []byte("that"), unpacked: 99, AnswerHash: [32]byte{4}, InputTokens: 10,
		OutputTokens: 20, UpstreamTime: time.Second, Created: time.Unix(100, 5), Expires: time.Unix(200, 0), StaleUntil: time.Unix(300, 0),
	}
}

// bodyOf is the body that a form writes.
func bodyOf(form func(*codec)) []byte {
	var c codec
	form(&c)
	return c.b
}

// TestForms: each form is read as it was written, and no part of an entry is an entry.
func TestForms(t *testing.T) {
	e := sample()
	body := bodyOf(func(c *codec) { c.entry(&e) })
	for cut := range body {
		if err := decode("entry", body[:cut], func(c *codec) { c.entry(&Entry{}) }); err == nil {
			t.Errorf("an entry cut at %d is taken", cut)
		}
	}
	got := Entry{ID: e.ID}
	readAs(t, &got, &e, body, func(c *codec) { c.entry(&got) })
	for _, turn := range []int32{300, 0} { // 0 as it was written before there were turns
		s, back := entryState{last: 5, turn: turn, policy: policy.EntryState{ID: 7, Parent: 6, Freq: 2, Dep: 1.5, Born: 3, Last: 5}}, entryState{}
		readAs(t, &back, &s, bodyOf(func(c *codec) { c.state(&s) }), func(c *codec) { c.state(&back) })
	}
	topic, back := policy.TopicState{LogW: -2.5, Last: 9}, policy.TopicState{}
	readAs(t, &back, &topic, bodyOf(func(c *codec) { c.topic(&topic) }), func(c *codec) { c.topic(&back) })
	n, again := counters{seq: 1, at: 2.5, nextID: 3, maxTopic: 4}, counters{}
	readAs(t, &again, &n, bodyOf(func(c *codec) { c.counters(&n) }), func(c *codec) { c.counters(&again) })
}

func readAs(t *testing.T, got, want any, body []byte, form func(*codec)) {
	t.Helper()
	if err := decode("form", body, form); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v: %v", got, want, err)
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
	e, n, topic := sample(), counters{seq: 1}, policy.TopicState{LogW: 1}
	f.Add(uint8(KindEntry), bodyOf(func(c *codec) { c.entry(&e) }))
	f.Add(uint8(KindVector), appendVector(nil, spaceMark("x"), []float32{1, 2}))
	f.Add(uint8(KindAliases), bodyOf(func(c *codec) { c.aliases(&[]alias{{Key{1}, 7}, {Key{2}, 0}}) }))
	f.Add(uint8(KindAliases), make([]byte, 64))
	for _, s := range []entryState{{last: 1}, {last: 1, turn: 2}} {
		f.Add(uint8(KindState), bodyOf(func(c *codec) { c.state(&s) }))
	}
	f.Add(uint8(KindTopic), bodyOf(func(c *codec) { c.topic(&topic) }))
	f.Add(uint8(KindCounters), bodyOf(func(c *codec) { c.counters(&n) }))
	f.Fuzz(func(t *testing.T, kind uint8, body []byte) {
		l := newLoader(&space{name: "x"})
		if err := l.decode(Record{Kind: Kind(kind), ID: 7, Body: body}); err != nil || Kind(kind) != KindEntry {
			return
		}
		first := bodyOf(func(c *codec) { c.entry(l.entries[7].entry(l.entries[7].more)) })
		var again Entry
		err := decode("entry", first, func(c *codec) { c.entry(&again) })
		if err != nil || !bytes.Equal(bodyOf(func(c *codec) { c.entry(&again) }), first) {
			t.Errorf("%x does not read again: %v", body, err)
		}
	})
}

// TestVectorCodec: a vector is read as it was written, bit by bit, and one with many zeros takes less. No part of it is a vector.
func TestVectorCodec(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	mark := spaceMark("x")
	for _, zeros := range []int{0, 10, 50, 90, 100} {
		for _, n := range []int{1, 7, 8, 9, 384, 1536} {
			v := make([]float32, n)
			for i := range v {
				if rng.IntN(100) >= zeros {
					v[i] = math.Float32frombits(rng.Uint32())
				}
			}
			body := appendVector([]byte("before"), mark, v)[len("before"):]
			got, err := decodeVector("x", body)
			if err != nil || !slices.EqualFunc(got, v, func(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) }) {
				t.Errorf("%d numbers, %d %% zeros: %v", n, zeros, err)
			}
			if most := 8 + 4*n; len(body) > most || zeros == 90 && n > 300 && len(body) > most/5 {
				t.Errorf("%d numbers, %d %% zeros: %d bytes", n, zeros, len(body))
			}
			if other, err := decodeVector("y", body); err != nil || other != nil {
				t.Errorf("in another space: %v, %v", other, err)
			}
			for _, cut := range []int{1, 2, 3, 5} {
				if _, err := decodeVector("x", body[:len(body)-cut]); err == nil {
					t.Errorf("%d numbers, %d %% zeros, %d bytes cut: no error", n, zeros, cut)
				}
			}
		}
	}
}
