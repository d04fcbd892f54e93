package embed

import (
	"context"
	"fmt"
	"hash/fnv"
	"strings"
	"testing"
)

const prompt18 = "Could you please explain to me how the garbage collector of Go decides when it should start running?"

func embedOne(t testing.TB, text string) []float32 {
	t.Helper()
	v, err := NewBuiltin().Embed(context.Background(), []string{text})
	if err != nil {
		t.Fatal(err)
	}
	return v[0]
}

func tokensOf(text string) string {
	var out []string
	buf, words := tokenize(text, not, nil)
	for _, w := range words {
		out = append(out, string(buf[w.from:w.to]))
	}
	return strings.Join(out, " ")
}

func TestTokens(t *testing.T) {
	for text, want := range map[string]string{
		"Hello, World!":                 "hello world",
		"version 3.5. Next":             "version 3.5 next",
		"C++ or C#, not c+ or f#x":      "c++ or c# n't c or f x",
		"a+b":                           "a b",
		"I can't, won't and don’t":      "i can n't wo n't and do n't",
		"cannot dont NEVER nothing":     "n't n't n't n't",
		"the user's 'quoted' words":     "the user quoted words",
		"北京天气 today":                    "北 京 天 气 today",
		"日本語 한국":                        "日 本 語 한 국",
		"café naïve Ünder":              "café naïve ünder",
		"bad \xff\xfe utf8":             "bad utf8",
		"... !? \n\t":                   "",
		"snake_case http://a.b/c 1,000": "snake case http a b c 1 000",
	} {
		if got := tokensOf(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestStemsOfOneWordAreEqual(t *testing.T) {
	for _, group := range []string{
		"bake bakes baked baking", "plan plans planned planning", "city cities", "class classes", "note notes noted noting",
		"study studies studied studying", "call calls called calling", "box boxes", "address addresses", "server servers",
	} {
		words := strings.Fields(group)
		for _, w := range words[1:] {
			if a, b := string(stem([]byte(words[0]))), string(stem([]byte(w))); a != b {
				t.Errorf("%s is %s, %s is %s", words[0], a, w, b)
			}
		}
	}
}

func TestStemsOfOtherWordsDiffer(t *testing.T) {
	for _, pair := range [][2]string{{"string", "str"}, {"analysis", "analyst"}, {"relativity", "relate"}, {"not", "nothing"}, {"speed", "spe"}} {
		if a, b := string(stem([]byte(pair[0]))), string(stem([]byte(pair[1]))); a == b {
			t.Errorf("%v have the same stem %s", pair, a)
		}
	}
}

// TestVectorIsFrozen fails where a change of tokens, tables, shares or hash changes vectors: then Space needs a new version.
func TestVectorIsFrozen(t *testing.T) {
	h := fnv.New64a()
	for _, text := range []string{prompt18, "I can't find the C++ 3.5 notes", "北京天气", "a a a b"} {
		for _, x := range embedOne(t, text) {
			fmt.Fprintf(h, "%.4f ", x)
		}
	}
	if got := h.Sum64(); got != 0xab06b054440af182 {
		t.Errorf("vectors of %s hash to %#x", NewBuiltin().Space(), got)
	}
}

func TestNoVector(t *testing.T) {
	long := strings.Repeat("word ", MaxText)
	if embedOne(t, long[:MaxText]) == nil || embedOne(t, long[:MaxText+1]) != nil {
		t.Error("the limit is not MaxText")
	}
}

func TestCosines(t *testing.T) {
	for _, c := range []struct {
		a, b     string
		min, max float32
	}{
		{"What is the capital of France?", "what is the capital of france", 1, 1.001},
		{"What is the capital of France?", "what's the capital of France", 0.97, 1.001},
		{"What is the capital of France?", "please, tell me the capital of France", 0.8, 1},
		{"reset my password", "reseting my pasword", 0.5, 0.97},
		{"reset my password", "grilled cheese sandwich", -0.2, 0.2},
		{"dog bites man", "man bites dog", 0.85, 0.9999},
	} {
		if got := Dot(embedOne(t, c.a), embedOne(t, c.b)); got < c.min-1e-5 || got > c.max {
			t.Errorf("%q, %q: %.4f, want %.2f to %.2f", c.a, c.b, got, c.min, c.max)
		}
	}
}

func FuzzBuiltin(f *testing.F) {
	f.Add("C++ isn't 3.5")
	f.Add("\xff’'n't#+.")
	f.Add("北 can't")
	f.Add("work working works, 3.5 don't won’t not")
	f.Fuzz(func(t *testing.T, text string) {
		equalBits(t, text)
		v := embedOne(t, text)
		if v == nil {
			return
		}
		if err := Check(v, builtinDim); err != nil {
			t.Fatal(err)
		}
		if Dot(v, embedOne(t, text)) < 0.9999 {
			t.Fatal("not deterministic")
		}
	})
}

func TestAllocations(t *testing.T) {
	texts, e := []string{prompt18}, NewBuiltin()
	if got := testing.AllocsPerRun(100, func() { e.Embed(t.Context(), texts) }); got > 2 {
		t.Errorf("a short prompt takes %g allocations, want the vector and the list", got)
	}
}

func BenchmarkBuiltin(b *testing.B) { benchmarkText(b, prompt18, 18, "word") }
