package store

import (
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"reprise/policy"
)

// wireEntry is an entry with every field set that a record or an answer has.
func wireEntry() *Entry {
	at := time.Unix(1700000000, 123456789)
	return &Entry{
		ID: 7, Key: Key{1, 2}, Scope: Scope{3}, Chain: [32]byte{4}, AnswerHash: [32]byte{5},
		Labels: &Labels{"tenant", "space", "model", "/v1/chat/completions"}, Prompt: "What?", Topic: 9, Parent: 3, Turn: 2, Size: 5000,
		InputTokens: 10, OutputTokens: 20, UpstreamTime: time.Second, Created: at, Expires: at.Add(time.Hour), StaleUntil: at.Add(2 * time.Hour),
		Answer: []byte("because"),
	}
}

func TestRecordOnTheWire(t *testing.T) {
	vector := []float32{.5, -.5, 0, .5, .5} // of length 1
	for title, change := range map[string]func(*Entry){
		"full":     func(*Entry) {},
		"few":      func(e *Entry) { *e = Entry{ID: e.ID, Labels: &Labels{}, Size: 1} },
		"no chain": func(e *Entry) { e.Chain = [32]byte{} },
		"for ever": func(e *Entry) { e.Expires, e.StaleUntil = time.Time{}, time.Time{} },
	} {
		e := wireEntry()
		change(e)
		got, v, err := decodeRecord(e.ID, AppendRecord(nil, e, vector, "plane"), "plane")
		if err != nil {
			t.Fatalf("%s: %v", title, err)
		}
		want := *e
		want.Answer, want.unpacked = nil, int32(len(e.Answer))
		if !reflect.DeepEqual(got, &want) || !reflect.DeepEqual(v, vector) {
			t.Errorf("%s: %+v %v, want %+v", title, got, v, &want)
		}
	}
}

func TestAnswerOnTheWire(t *testing.T) {
	for _, size := range []int{0, 10, wirePackAbove + 1, packAbove, packAbove + 1} {
		e := wireEntry()
		e.Answer = make([]byte, size)
		b := AppendAnswer(nil, e)
		if size > wirePackAbove && len(b) > size/2 {
			t.Errorf("%d bytes of a large answer", len(b))
		}
		got, err := DecodeAnswer(e.ID, e.Key, b)
		if err != nil {
			t.Fatal(err)
		}
		if recording, err := got.Recording(); err != nil || len(recording) != size || (got.unpacked == 0) != (size <= packAbove) {
			t.Errorf("%d bytes: %d %v", size, len(recording), err)
		}
		if got.Labels.Model != "model" || !got.StaleUntil.Equal(e.StaleUntil) || got.Topic != e.Topic {
			t.Errorf("got %+v", got)
		}
		if whole, err := e.WithAnswer(got).Recording(); err != nil || len(whole) != size {
			t.Errorf("together %d %v", len(whole), err)
		}
	}
}

func TestLabelsOnTheWire(t *testing.T) {
	for text, size := range map[string]int{
		"": 1, "t": 2, "gpt-4o": 7, "00ff": 3, "00FF": 5, "0ff": 4, "0123456789abcdef0123456789abcdef": 17, "/v1/embeddings": 1, "/v1/other": 10, "a\x1fb": 4,
	} {
		b := putLabel(nil, text)
		r := codec{b: b, reading: true}
		if got := r.label(); got != text || r.bad || len(r.b) > 0 || len(b) != size {
			t.Errorf("%q: %q in %d bytes, want %d", text, got, len(b), size)
		}
	}
	r := codec{b: []byte{255, 1}, reading: true}
	if r.label(); !r.bad {
		t.Error("an unknown path is read")
	}
}

func TestEventsOnTheWire(t *testing.T) {
	e := wireEntry()
	evs := []Event{
		{Kind: EventInsert, ID: 7, At: policy.Tick{Seq: 5, At: 1.5}, Entry: e, Vector: []float32{1, 0}, Replaced: true},
		{Kind: EventUse, ID: 7, At: policy.Tick{Seq: 6, At: 2}, Parent: 3, Searched: true, Detected: 4},
		{Kind: EventAlias, ID: 7, Key: Key{9}, Basis: 1<<63 + 5},
		{Kind: EventAnchor, ID: 7},
		{Kind: EventArrive, At: policy.Tick{Seq: 7, At: 3}, Topic: 8},
		{Kind: EventEvict, ID: 7, Key: Key{1}}, {Kind: EventExpire, ID: 8, Key: Key{2}}, {Kind: EventPurge, ID: 9, Key: Key{3}},
		{Kind: EventInsert, ID: 10, Entry: &Entry{Labels: &Labels{}}},
		{Kind: EventVector, ID: 11, Vector: []float32{0, 0, 0, 0, 0, 0, 0, 0, 0, 1}},
		{Kind: EventVector, ID: 12, Vector: []float32{0, 1}},
		{Kind: EventSample, Sample: []byte("counted")},
	}
	b, records := AppendEvents(nil, evs, "plane")
	got, err := DecodeEvents(b, "plane")
	if err != nil {
		t.Fatal(err)
	}
	for i := range evs {
		want := evs[i]
		if want.Entry != nil {
			bare := *want.Entry
			bare.ID, bare.unpacked, bare.Answer = want.ID, int32(len(bare.Answer)), nil
			want.Entry = &bare
		}
		if !reflect.DeepEqual(got[i], want) {
			t.Errorf("got %+v, want %+v", got[i], want)
		}
	}
	if len(records) != 4 {
		t.Fatalf("%d records", len(records))
	}
	l := newLoader(&space{name: "plane"})
	if err := VectorIn(11, b[records[2].From:records[2].To], "plane", l.add); err != nil || l.skipped > 0 || l.vectors[11][9] != 1 {
		t.Errorf("the record of a vector: %v, %v", l.vectors, err)
	}
	if first, v, err := decodeRecord(7, b[records[0].From:records[0].To], "plane"); err != nil || first.Prompt != e.Prompt || len(v) != 2 {
		t.Errorf("the record of an insert is %+v %v", first, err)
	}
}

// TestSpacesOnTheWire: vectors of another space are left out, wherever they are, and nothing else is.
func TestSpacesOnTheWire(t *testing.T) {
	e, v := wireEntry(), []float32{1, 0}
	b, records := AppendEvents(nil, []Event{{Kind: EventInsert, ID: 7, Entry: e, Vector: v}, {Kind: EventVector, ID: 7, Vector: v}}, "sphere")
	got, err := DecodeEvents(b, "plane")
	if err != nil || len(got) != 2 || got[0].Entry.Prompt != e.Prompt || got[0].Vector != nil || got[1].Kind != EventVector || got[1].Vector != nil {
		t.Fatalf("%+v, %v", got, err)
	}
	for _, one := range []space{{name: "plane"}, {name: "sphere"}} {
		l, space := newLoader(&one), one.name
		at := func(i int) []byte { return b[records[i].From:records[i].To] }
		if err := errors.Join(RecordsIn(7, at(0), space, l.add), VectorIn(8, at(1), space, l.add)); err != nil || l.skipped > 0 {
			t.Fatal(err, l.skipped)
		}
		if want := space == "sphere"; len(l.entries) != 1 || (l.vectors[7] != nil) != want || (l.vectors[8] != nil) != want {
			t.Errorf("%s: %d entries, vectors %v", space, len(l.entries), l.vectors)
		}
	}
}

// TestHalf compares with the nearest of all halves.
func TestHalf(t *testing.T) {
	for h := range uint32(1 << 16) {
		f := single(uint16(h))
		if h&infHalf == infHalf {
			continue
		}
		if back := half(f); uint32(back) != h {
			t.Fatalf("%04x is %g, and that %04x", h, f, back)
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 100000 {
		f := float32(math.Ldexp(rng.Float64()*2-1, rng.IntN(45)-28))
		h := half(f)
		off := math.Abs(float64(single(h)) - float64(f))
		for _, other := range []uint16{h - 1, h + 1} {
			if other&infHalf == infHalf || other&^signHalf == 0 || h&^signHalf == 0 {
				continue
			}
			if math.Abs(float64(single(other))-float64(f)) < off {
				t.Fatalf("%g is %g, and %g is nearer", f, single(h), single(other))
			}
		}
	}
	if half(1e9) != half(65504) || half(-1e9) != half(-65504) {
		t.Error("a number beyond the range")
	}
}

func FuzzWire(f *testing.F) {
	e := wireEntry()
	b, _ := AppendEvents(nil, []Event{{Kind: EventInsert, ID: 7, Entry: e, Vector: []float32{1, 0, 0, 0, 0, 0, 0, 0, 0, .5}}, {Kind: EventUse, ID: 7}, {Kind: EventAlias, ID: 7}, {Kind: EventVector, ID: 7, Vector: []float32{1, 2}}}, "plane")
	f.Add(b)
	other, _ := AppendEvents(nil, []Event{{Kind: EventVector, ID: 7, Vector: []float32{1, 2}}}, "another")
	f.Add(other)
	f.Add(AppendRecord(nil, e, []float32{1, 2, 3}, "plane"))
	f.Add(AppendAnswer(nil, e))
	f.Fuzz(func(t *testing.T, b []byte) {
		if evs, err := DecodeEvents(b, "plane"); err == nil {
			evs = slices.DeleteFunc(evs, func(ev Event) bool { return ev.Kind == EventVector && ev.Vector == nil }) // of another space, and left out by its reader
			again, _ := AppendEvents(nil, evs, "plane")
			if back, err := DecodeEvents(again, "plane"); err != nil || len(back) != len(evs) {
				t.Errorf("events are not read again: %v", err)
			}
		}
		if e, v, err := decodeRecord(1, b, "plane"); err == nil {
			if back, _, err := decodeRecord(1, AppendRecord(nil, e, v, "plane"), "plane"); err != nil || back.Key != e.Key || back.Size != e.Size {
				t.Errorf("a record is not read again: %v", err)
			}
		}
		if e, err := DecodeAnswer(1, Key{}, b); err == nil {
			e.Recording()
		}
	})
}
