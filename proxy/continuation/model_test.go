package continuation

import (
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// form is one of a model of two windows.
func form() Form {
	return Form{Embedder: "test-3", Dim: 3, Windows: []int{1, 2}, Tokens: 16, Layers: []int{7, 5, 4, 1}, Slope: 0.8, TurnSlope: 0.5, Turns: []float64{1, -1, 0.25}, Intercept: 0.1, Threshold: 0.5, Seed: 7,
		Training: Summary{Sources: []string{"a.jsonl"}, Examples: 3, MCC: 0.5}}
}

func aModel(t testing.TB, f Form) *Model {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	weights := make([]float32, f.size())
	for i := range weights {
		weights[i] = float32(rng.NormFloat64())
	}
	m, err := NewModel(f, weights)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// naive is Predict as the paper describes it, in float64.
func naive(m *Model, vector []float32, turn int) float64 {
	var in []float64
	for _, x := range vector {
		in = append(in, float64(x))
	}
	in = append(in, 10*math.Log(1+float64(turn))/math.Log(32))
	at := 0
	for l := 1; l < len(m.form.Layers); l++ {
		out := make([]float64, m.form.Layers[l])
		for o := range out {
			for _, x := range in {
				out[o] += x * float64(m.weights[at])
				at++
			}
		}
		for o := range out {
			out[o] += float64(m.weights[at])
			at++
			if l < len(m.form.Layers)-1 && out[o] < 0 {
				out[o] = 0
			}
		}
		in = out
	}
	return 1 / (1 + math.Exp(-m.form.Slope*in[0]-m.form.TurnSlope*m.form.Turns[min(turn, 3)-1]-m.form.Intercept))
}

func TestModelPredicts(t *testing.T) {
	m := aModel(t, form())
	rng := rand.New(rand.NewPCG(3, 4))
	for turn := 1; turn < 50; turn++ {
		vector := make([]float32, 6)
		for i := range vector {
			vector[i] = float32(rng.NormFloat64())
		}
		if got, want := m.Predict(vector, turn), naive(m, vector, turn); math.Abs(got-min(max(want, certain), 1-certain)) > 1e-5 {
			t.Errorf("turn %d: %v, want %v", turn, got, want)
		}
	}
	without := form()
	without.Turns, without.TurnSlope = nil, 0
	if p := aModel(t, without).Predict(nil, 0); !(p > 0 && p < 1) {
		t.Errorf("without odds of turns: %v", p)
	}
	zeros := m.Predict(make([]float32, 6), 2)
	if m.Predict(nil, 2) != zeros || m.Predict(make([]float32, 5), 2) != zeros {
		t.Error("a vector of another length is not one of zeros")
	}
	if n := testing.AllocsPerRun(100, func() { m.Predict(nil, 1) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestPredictHasOdds: no weights make a probability of 0 or 1, or none.
func TestPredictHasOdds(t *testing.T) {
	f := form()
	weights := make([]float32, f.size())
	for i := range weights {
		weights[i] = math.MaxFloat32 * float32(1-2*(i%2))
	}
	m, err := NewModel(f, weights)
	if err != nil {
		t.Fatal(err)
	}
	if p := m.Predict([]float32{1, 1, 1, 1, 1, 1}, 3); !(p > 0 && p < 1) {
		t.Errorf("p = %v", p)
	}
}

func TestTextsAndJoin(t *testing.T) {
	m := aModel(t, form())
	if got := m.Texts([]string{"one", "two", "three"}); !reflect.DeepEqual(got, []string{"three", "two\nthree"}) {
		t.Errorf("texts %q", got)
	}
	if got := m.Join(nil, [][]float32{{1, 2, 3}, nil}); !reflect.DeepEqual(got, []float32{1, 2, 3, 0, 0, 0}) {
		t.Errorf("joined %v", got)
	}
}

func TestRoundTrip(t *testing.T) {
	m := aModel(t, form())
	b, err := m.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	again, err := Load(b)
	if err != nil || !reflect.DeepEqual(m, again) {
		t.Errorf("%v\n%+v\n%+v", err, m, again)
	}
	if err := again.Suits("test-3", 3); err != nil {
		t.Error(err)
	}
	for _, err := range []error{again.Suits("test-4", 3), again.Suits("test-3", 4)} {
		if !errors.Is(err, errEmbedder) || !strings.Contains(err.Error(), "trained with embedder test-3 of 3 dimensions") {
			t.Error(err)
		}
	}
}

func TestLoadRefuses(t *testing.T) {
	b, _ := aModel(t, form()).Marshal()
	text := string(b)
	for _, c := range []struct{ name, in, want string }{
		{"empty", "", `begins with ""`},
		{"another file", "PK\x03\x04 and more of it, so that it is long", "want \"reprise continues 1"},
		{"a later version", strings.Replace(text, "continues 1", "continues 2", 1), "want \"reprise continues 1"},
		{"no header", magic + "{", "line 2 does not end"},
		{"no JSON", magic + "{]\n", "line 2"},
		{"cut", text[:len(text)-9], "the file is cut"},
		{"longer", text + "x", "another one is behind it"},
		{"damaged", text[:len(text)-9] + "\x55" + text[len(text)-8:], "checksum"},
		{"other width", strings.Replace(text, `"dim":3`, `"dim":4`, 1), "layer 1 7, want 9"},
		{"huge", strings.Replace(text, `[7,5,4,1]`, `[7,99999999,4,1]`, 1), "layer 2 99999999, want 1 to 256"},
		{"two outputs", strings.Replace(text, `[7,5,4,1]`, `[7,5,4,2]`, 1), "the last layer 2"},
		{"no embedder", strings.Replace(text, `"embedder":"test-3"`, `"embedder":""`, 1), "embedder is empty"},
		{"no window", strings.Replace(text, `"windows":[1,2]`, `"windows":[0,2]`, 1), "window 0, want 1 to 64"},
		{"odds without end", strings.Replace(text, `[1,-1,0.25]`, `[1,-1,1e99]`, 1), "turns 1e+99, want -1000 to 1000"},
		{"falling", strings.Replace(text, `"slope":0.8`, `"slope":-1`, 1), "slope -1, want 0"},
	} {
		if _, err := Load([]byte(c.in)); !errors.Is(err, errModel) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	weights := make([]float32, 2)
	f := form()
	if _, err := NewModel(f, weights); err == nil || !strings.Contains(err.Error(), "2 weights, want 69") {
		t.Error(err)
	}
	weights = make([]float32, f.size())
	weights[5] = float32(math.NaN())
	if _, err := NewModel(f, weights); err == nil || !strings.Contains(err.Error(), "weight 5 is NaN") {
		t.Error(err)
	}
}

func FuzzLoad(f *testing.F) {
	b, _ := aModel(f, form()).Marshal()
	f.Add(b)
	f.Add(b[:40])
	f.Add([]byte(magic + `{"dim":1}` + "\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := Load(data)
		if err != nil {
			if !errors.Is(err, errModel) {
				t.Error(err)
			}
			return
		}
		if p := m.Predict(m.Join(nil, nil), 3); !(p > 0 && p < 1) {
			t.Errorf("p = %v", p)
		}
		again, err := m.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		if twice, err := Load(again); err != nil || !reflect.DeepEqual(twice, m) {
			t.Errorf("%v", err)
		}
	})
}

func BenchmarkPredict(b *testing.B) {
	f := form()
	f.Dim, f.Layers = 384, []int{769, 128, 128, 128, 1}
	m := aModel(b, f)
	vector := make([]float32, 768)
	b.ReportAllocs()
	for b.Loop() {
		m.Predict(vector, 3)
	}
}

// TestOpenRefuses: what cannot be the file of a model is refused before it is read.
func TestOpenRefuses(t *testing.T) {
	large := filepath.Join(t.TempDir(), "large")
	if err := errors.Join(os.WriteFile(large, nil, 0o600), os.Truncate(large, mostBytes+1)); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"none":      "no such file",
		os.DevNull:  "it is a pipe or a device",
		large:       "it has 67108865 bytes, and a model at most 67108864",
		t.TempDir(): "is a directory",
	} {
		if _, err := Open(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", path, err, want)
		}
	}
}
