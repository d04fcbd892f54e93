package evidence

import (
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"reprise/topics/reuse/edits"
)

func filled() *Book {
	b := NewBook(dense)
	rng := rand.New(rand.NewPCG(5, 5))
	for range 2000 {
		s := near(uint64(rng.IntN(5)), uint64(rng.IntN(100)), 0.8+0.2*rng.Float64(), Outcome(1+rng.IntN(2)))
		s.Explained, s.Family, s.Question = rng.IntN(2) == 0, uint64(rng.IntN(3)), rng.Uint64()
		if rng.IntN(20) == 0 {
			s.Source, s.Closeness = Repeated, rng.Float64()
		}
		if len(edits.Table) > 2 && rng.IntN(2) == 0 {
			s.Edits = []edits.Class{1, 2}
		}
		b.Add(s)
	}
	return b
}

func TestStateComesBack(t *testing.T) {
	b := filled()
	data := b.Rates().Append(nil)
	t.Logf("%d bytes", len(data))
	c, err := Decode(data, dense)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(b.rates, c.rates) {
		t.Error("the state changed")
	}
	other, err := Decode(data, Embedder{Space: "another", Gate: 0.7})
	if err != nil {
		t.Fatal(err)
	}
	shown := func(b *Book) (by [kinds]int) {
		for _, s := range b.Rates().Scopes(0.01) {
			for k, t := range s.Trust {
				by[k] += t.Same + t.Wrong
			}
		}
		return by
	}
	before, after := shown(b), shown(other)
	if after[Vectors] != 0 || after[Form] != before[Form] || after[Edits] != before[Edits] || before[Vectors]*before[Form]*before[Edits] == 0 {
		t.Errorf("with another embedder %v became %v", before, after)
	}
	unknown, err := Decode(data, Embedder{Gate: dense.Gate})
	if err != nil || !reflect.DeepEqual(b.rates, unknown.rates) {
		t.Errorf("the state changed while the embedder is not known: %v", err)
	}
	for n := 0; n < len(data); n += 131 {
		if _, err := Decode(data[:n], dense); !errors.Is(err, errState) {
			t.Fatalf("%d bytes of %d: %v", n, len(data), err)
		}
	}
}

func TestSampleComesBack(t *testing.T) {
	samples := []Sample{{}, near(1, 2, 0.934, Same), formIn(3, 4, Different)}
	if len(edits.Table) > 2 {
		samples = append(samples, Sample{Case{Family: 9, Question: 4, Explained: true, Edits: []edits.Class{2, 1}}, Different, Operator, 0.5, 3})
	}
	for _, s := range samples {
		got, err := DecodeSample(s.Append(nil))
		if err != nil || !reflect.DeepEqual(got, s) {
			t.Errorf("%+v, %v, want %+v", got, err, s)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(filled().Rates().Append(nil))
	f.Add([]byte{version, 0, 1, 4, 'f', 'o', 'r', 'm', 1, 0, 0, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := Decode(data, dense)
		if err != nil {
			return
		}
		for _, s := range []Sample{formIn(1, 1, Same), near(1, 1, 0.9, Different)} {
			if p := b.Rates().P(&s.Case); !(p >= 0 && p <= 1) {
				t.Errorf("probability %v", p)
			}
			b.Add(s)
		}
		again, err := Decode(b.Rates().Append(nil), dense)
		if err != nil || !reflect.DeepEqual(again.rates.served, b.rates.served) || again.rates.curious != b.rates.curious {
			t.Errorf("not the same again: %v", err)
		}
	})
}

func FuzzDecodeSample(f *testing.F) {
	s := near(1, 2, 0.934, Same)
	f.Add(s.Append(nil))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := DecodeSample(data)
		if err != nil {
			return
		}
		NewBook(dense).Add(s)
		again, err := DecodeSample(s.Append(nil))
		if err != nil {
			t.Fatal(err)
		}
		if math.IsNaN(s.Similarity) || math.IsNaN(s.Closeness) {
			s.Similarity, again.Similarity, s.Closeness, again.Closeness = 0, 0, 0, 0
		}
		if !reflect.DeepEqual(again, s) {
			t.Errorf("%+v became %+v", s, again)
		}
	})
}
