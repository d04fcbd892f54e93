package model2vec

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"reprise/embed"
	"reprise/embed/embedtest"
)

// part is a tensor to be written.
type part struct {
	kind  string
	shape []int
	data  []byte
}

func numbers(kind string, xs ...float64) (b []byte) {
	for _, x := range xs {
		switch kind {
		case "F64":
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
		case "F32":
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(x)))
		case "BF16":
			b = binary.LittleEndian.AppendUint16(b, uint16(math.Float32bits(float32(x))>>16))
		case "I64":
			b = binary.LittleEndian.AppendUint64(b, uint64(int64(x)))
		case "I32":
			b = binary.LittleEndian.AppendUint32(b, uint32(int32(x)))
		case "I8":
			b = append(b, byte(int8(x)))
		}
	}
	return b
}

func safetensors(parts map[string]part) []byte {
	header, data := map[string]any{"__metadata__": map[string]string{"format": "pt"}}, []byte{}
	for name, p := range parts {
		header[name] = map[string]any{"dtype": p.kind, "shape": p.shape, "data_offsets": []int{len(data), len(data) + len(p.data)}}
		data = append(data, p.data...)
	}
	h, _ := json.Marshal(header)
	return append(append(binary.LittleEndian.AppendUint64(nil, uint64(len(h))), h...), data...)
}

func wordPieces(words ...string) string {
	vocab := map[string]int{}
	for i, w := range append([]string{"[UNK]"}, words...) {
		vocab[w] = i
	}
	b, _ := json.Marshal(map[string]any{
		"normalizer":    map[string]any{"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": nil, "lowercase": true},
		"pre_tokenizer": map[string]any{"type": "BertPreTokenizer"},
		"model":         map[string]any{"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100, "vocab": vocab},
	})
	return string(b)
}

const unigrams = `{"normalizer":{"type":"Sequence","normalizers":[{"type":"Replace","pattern":{"String":"."},"content":" . "},{"type":"Lowercase"},{"type":"Replace","pattern":{"Regex":" {2,}"},"content":" "}]},
"pre_tokenizer":{"type":"Metaspace","replacement":"▁","prepend_scheme":"always"},
"model":{"type":"Unigram","unk_id":0,"vocab":[["<unk>",0],["▁",-2],["▁new",-3],["▁news",-5],["s",-4],["paper",-3],["▁newspaper",-12],["p",-6],["a",-6],["per",-4],["▁.",-3]]}}`

// write makes the folder of a model.
func write(t testing.TB, weights []byte, tokenizer string) string {
	t.Helper()
	dir := t.TempDir()
	for name, b := range map[string][]byte{"model.safetensors": weights, "tokenizer.json": []byte(tokenizer), "config.json": []byte(`{"normalize":true}`)} {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// letters is a model with a token for each letter and digit, at the start of a word and inside.
func letters(t testing.TB) string {
	var words []string
	random := rand.New(rand.NewPCG(1, 2))
	xs := make([]float64, 32) // of [UNK]
	for _, r := range "abcdefghijklmnopqrstuvwxyz0123456789" {
		for _, prefix := range []string{"", "##"} {
			words = append(words, prefix+string(r))
			for range 32 {
				xs = append(xs, random.NormFloat64())
			}
		}
	}
	return write(t, safetensors(map[string]part{"embeddings": {"F32", []int{len(words) + 1, 32}, numbers("F32", xs...)}}), wordPieces(words...))
}

func TestConformance(t *testing.T) {
	e, err := Open(letters(t))
	if err != nil {
		t.Fatal(err)
	}
	embedtest.Run(t, e)
}

func one(t *testing.T, e *Embedder, text string) []float32 {
	t.Helper()
	v, err := e.Embed(context.Background(), []string{text})
	if err != nil {
		t.Fatal(err)
	}
	return v[0]
}

// TestMean computes the vector of a text by hand: the mean of the rows of its tokens, by the mapping and with the weights.
func TestMean(t *testing.T) {
	for _, kind := range []string{"F64", "F32", "BF16", "I8"} {
		parts := map[string]part{
			"embeddings": {kind, []int{2, 2}, numbers(kind, 3, 0, 0, 4)},
			"weights":    {"F64", []int{4}, numbers("F64", 0, 1, 2, 0.5)},
			"mapping":    {"I64", []int{4}, numbers("I64", 0, 0, 1, 1)},
		}
		e, err := Open(write(t, safetensors(parts), wordPieces("red", "blue", "##s")))
		if err != nil {
			t.Fatal(err)
		}
		// red: (3, 0), blue: 2·(0, 4), s: ½·(0, 4)
		x, y := 3.0, 10.0
		n := math.Hypot(x, y)
		if v := one(t, e, "RED blues, green"); math.Abs(float64(v[0])-x/n) > 1e-6 || math.Abs(float64(v[1])-y/n) > 1e-6 {
			t.Errorf("%s: %v, want %v", kind, v, []float64{x / n, y / n})
		}
		if v := one(t, e, "green ?"); v != nil {
			t.Errorf("%s: a text without a known token has the vector %v", kind, v)
		}
	}
}

func TestHalf(t *testing.T) {
	for bits, want := range map[uint16]float64{0: 0, 0x3c00: 1, 0xc000: -2, 0x7bff: 65504, 0x0001: math.Ldexp(1, -24), 0x3555: 0.333251953125} {
		if got := half(bits); got != want {
			t.Errorf("half(%#x) = %v, want %v", bits, got, want)
		}
	}
	if !math.IsInf(half(0xfc00), -1) || !math.IsNaN(half(0x7e00)) {
		t.Error("infinity or NaN")
	}
}

func TestWordPiece(t *testing.T) {
	tok, pieces, err := newTokenizer([]byte(wordPieces("un", "##want", "##ed", "want", "run", "##ning", ",", "!", "cafe", "中", "国", "##x")))
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"UNwanted running,unwanted!": "un ##want ##ed run ##ning , un ##want ##ed !",
		"Café\u0000 中国\tCAFE\u0301":  "cafe 中 国 cafe",
		"runs want":                  "want", // no piece for s: the word is unknown
		strings.Repeat("x", 101):     "",
		"":                           "",
		"[UNK] want":                 "want", // a special token that is written is text
	} {
		var got []string
		for _, id := range tok.tokenize(nil, text, maxTokens) {
			got = append(got, pieces[id])
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestUnigram(t *testing.T) {
	tok, pieces, err := newTokenizer([]byte(unigrams))
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"Newspaper.":     "▁news paper ▁.", // -8; ▁new s paper has -10, ▁newspaper -12
		"new  newspaper": "▁new ▁news paper",
		"newzpaper":      "▁new paper", // z is unknown
		"papa":           "▁ p a p a",
		"":               "",
	} {
		var got []string
		for _, id := range tok.tokenize(nil, text, maxTokens) {
			got = append(got, pieces[id])
		}
		if strings.TrimSuffix(strings.Join(got, " "), " ▁") != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestLong: of a long text the end would not count, and texts that differ there alone would be equal.
func TestLong(t *testing.T) {
	e, err := Open(letters(t))
	if err != nil {
		t.Fatal(err)
	}
	if one(t, e, strings.Repeat("a ", 250)) == nil || one(t, e, strings.Repeat("a ", 600)) != nil || one(t, e, strings.Repeat("abc", 5000)) != nil {
		t.Error("up to 512 tokens have a vector, more have none")
	}
}

func TestRefused(t *testing.T) {
	good := part{"F32", []int{2, 2}, numbers("F32", 1, 2, 3, 4)}
	with := func(name string, p part) []byte { return safetensors(map[string]part{"embeddings": good, name: p}) }
	raw := func(header string, data int) []byte {
		return append(append(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), header...), make([]byte, data)...)
	}
	words := wordPieces("a")
	for want, model := range map[string][2]string{
		"shorter than its header":               {"abc", words},
		"its header should have":                {string(binary.LittleEndian.AppendUint64(nil, 1<<40)) + "{}", words},
		"no tensor embeddings":                  {string(safetensors(map[string]part{"other": good})), words},
		"outside of the 4 bytes":                {string(raw(`{"embeddings":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]}}`, 4)), words},
		"takes 32 bytes, and it has 16":         {string(raw(`{"embeddings":{"dtype":"F32","shape":[4,2],"data_offsets":[0,16]}}`, 16)), words},
		"does not fit":                          {string(raw(`{"embeddings":{"dtype":"F32","shape":[9000000000000000000,9000000000000000000],"data_offsets":[0,16]}}`, 16)), words},
		"want rows of 2 to 8192 numbers":        {string(safetensors(map[string]part{"embeddings": {"F32", []int{4}, good.data}})), words},
		"embeddings are of type I32":            {string(safetensors(map[string]part{"embeddings": {"I32", []int{2, 2}, good.data}})), words},
		"weight 1 is NaN":                       {string(with("weights", part{"F32", []int{2}, numbers("F32", 1, math.NaN())})), words},
		"there are 3 weights for 2 vectors":     {string(with("weights", part{"F32", []int{3}, numbers("F32", 1, 1, 1)})), words},
		"mapping of token 1 is row 7":           {string(with("mapping", part{"I32", []int{2}, numbers("I32", 0, 7)})), words},
		"has 4 tokens, model.safetensors":       {string(safetensors(map[string]part{"embeddings": good})), wordPieces("a", "b", "c")},
		"its model is of type \"BPE\"":          {string(safetensors(map[string]part{"embeddings": good})), `{"model":{"type":"BPE"}}`},
		"it has no model":                       {string(safetensors(map[string]part{"embeddings": good})), `{}`},
		"without a BertPreTokenizer":            {string(safetensors(map[string]part{"embeddings": good})), `{"model":{"type":"WordPiece","vocab":{"a":0}}}`},
		"normalizer is of type \"Precompiled\"": {string(safetensors(map[string]part{"embeddings": good})), `{"model":{"type":"Unigram"},"normalizer":{"type":"Precompiled"}}`},
		"has the id -1":                         {string(safetensors(map[string]part{"embeddings": good})), `{"pre_tokenizer":{"type":"BertPreTokenizer"},"model":{"type":"WordPiece","vocab":{"a":-1}}}`},
		"byte_fallback":                         {string(safetensors(map[string]part{"embeddings": good})), `{"model":{"type":"Unigram","byte_fallback":true,"vocab":[["a",-1]]}}`},
	} {
		_, err := Open(write(t, []byte(model[0]), model[1]))
		if !errors.Is(err, errModel) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	for want, dir := range map[string]string{"no such file": filepath.Join(t.TempDir(), "absent"), "has no model.safetensors": t.TempDir()} {
		if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestLayout: the folders of Sentence Transformers are read, and another file is another space.
func TestLayout(t *testing.T) {
	dir := t.TempDir()
	sub := filepath.Join(dir, "0_StaticEmbedding")
	if err := os.Mkdir(sub, 0o700); err != nil {
		t.Fatal(err)
	}
	spaces := map[string]bool{}
	for _, x := range []float64{1, 2} {
		weights := safetensors(map[string]part{"embedding.weight": {"F32", []int{2, 2}, numbers("F32", 1, x, 3, 4)}})
		for name, b := range map[string][]byte{"model.safetensors": weights, "tokenizer.json": []byte(wordPieces("a"))} {
			if err := os.WriteFile(filepath.Join(sub, name), b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		e, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		spaces[e.Space()] = true
	}
	if len(spaces) != 2 {
		t.Errorf("two models have the spaces %v", spaces)
	}
}

func FuzzOpen(f *testing.F) {
	weights := safetensors(map[string]part{"embeddings": {"F16", []int{11, 2}, make([]byte, 44)}, "weights": {"F32", []int{11}, make([]byte, 44)}})
	f.Add(weights, []byte(unigrams), "Newspaper. ▁ papa")
	f.Add(weights, []byte(wordPieces("un", "##want", "a")), "Unwanted\u200d 中 a")
	f.Fuzz(func(t *testing.T, weights, tokenizer []byte, text string) {
		e := &Embedder{}
		if e.decode(bytes.Clone(weights), tokenizer) != nil {
			return
		}
		v, err := e.Embed(context.Background(), []string{text, text})
		if err != nil || !slices.Equal(v[0], v[1]) {
			t.Fatalf("%v, %v, %v", err, v[0], v[1])
		}
		if v[0] != nil && embed.Check(v[0], e.Dim()) != nil {
			t.Fatal(fmt.Sprint(v[0]))
		}
	})
}

func BenchmarkEmbed(b *testing.B) {
	e, err := Open(letters(b))
	if err != nil {
		b.Fatal(err)
	}
	texts := []string{"how do i change the address of the account that i opened for my company last year"}
	for b.Loop() {
		if _, err := e.Embed(context.Background(), texts); err != nil {
			b.Fatal(err)
		}
	}
}
