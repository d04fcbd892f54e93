package llamatest

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
)

// Model is the shape of a llama with random weights. Its answers mean nothing; its prefill and its KV cache work as those of any other.
type Model struct {
	Layers, Width, Heads, Inner int // Inner is the width of the feed-forward layers
	Context                     int // tokens that it was "trained" with
}

// Small evaluates some 6,000 tokens a second on one core, and its file has 9 MB.
var Small = Model{Layers: 2, Width: 256, Heads: 4, Inner: 704, Context: 8192}

// The vocabulary has a token for each byte, and one for each of 1,024 words of a consonant, a vowel and a consonant. With the space before
// it a word has four bytes, so that a prompt of words has a token for each four bytes, as the proxy's prefix chains assume.
const (
	consonants = "bcdfghklmnprstvz"
	vowels     = "aeio"
	wordSpace  = "\u2581" // the tokenizer's form of a space
)

// Words is the number of words of the vocabulary.
const Words = len(consonants) * len(vowels) * len(consonants)

// Word is one of the words, with the space before it. i is from 0 to Words-1.
func Word(i int) string {
	vowel, last := i/len(consonants)%len(vowels), i%len(consonants)
	return " " + string(consonants[i/len(consonants)/len(vowels)]) + string(vowels[vowel]) + string(consonants[last])
}

// token is one entry of the vocabulary. The tokenizer joins the pair of neighbours that has the highest score first.
type token struct {
	text  string
	score float32
	kind  int32 // of the format: 1 normal, 2 unknown, 3 control, 6 byte
}

// vocabulary lists the tokens. A word is joined in three steps, so its two beginnings are tokens too.
func vocabulary() []token {
	all := []token{{"<unk>", 0, 2}, {"<s>", 0, 3}, {"</s>", 0, 3}}
	for b := range 256 {
		all = append(all, token{fmt.Sprintf("<0x%02X>", b), 0, 6})
	}
	for i := range len(consonants) * len(vowels) {
		syllable := Word(i * len(consonants))[1:3]
		all = append(all, token{syllable, -1, 1}, token{wordSpace + syllable, -2, 1})
	}
	for i := range Words {
		all = append(all, token{wordSpace + Word(i)[1:], -3, 1})
	}
	return all
}

// firstWord is the id of the token of the first word.
func firstWord() int { return len(vocabulary()) - Words }

// Write writes the model to a new file, in version 3 of the format GGUF. Equal models are equal files. It takes a tenth of a second for each
// 10 million weights.
func (m Model) Write(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(f, 1<<20)
	err = m.write(out)
	if err == nil {
		err = out.Flush()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}

func (m Model) write(out io.Writer) error {
	tensors := m.tensors()
	var head bytes.Buffer
	meta, n := m.metadata()
	head.WriteString("GGUF")
	put(&head, uint32(3), uint64(len(tensors)), uint64(n))
	head.Write(meta)
	offset := uint64(0)
	for _, t := range tensors {
		text(&head, t.name)
		put(&head, uint32(len(t.shape)), t.shape, uint32(0), offset) // 0: 32-bit floats
		offset += uint64(aligned(4 * t.size()))
	}
	head.Write(make([]byte, aligned(head.Len())-head.Len()))
	if _, err := out.Write(head.Bytes()); err != nil {
		return err
	}
	random := rand.NewPCG(1, 2)
	for _, t := range tensors {
		if _, err := out.Write(t.data(random)); err != nil {
			return err
		}
	}
	return nil
}

// aligned rounds up to the alignment of tensors.
func aligned(n int) int { return (n + 31) / 32 * 32 }

// metadata is the keys and values that a llama needs, and their number.
func (m Model) metadata() (b []byte, n int) {
	const u32, f32, str, list, i32 = 4, 6, 8, 9, 5 // types of values
	var w bytes.Buffer
	add := func(key string, kind uint32, values ...any) {
		text(&w, key)
		put(&w, kind)
		put(&w, values...)
		n++
	}
	add("general.architecture", str)
	text(&w, "llama")
	add("general.name", str)
	text(&w, "random")
	for _, v := range []struct {
		key string
		n   int
	}{{"context_length", m.Context}, {"embedding_length", m.Width}, {"block_count", m.Layers}, {"feed_forward_length", m.Inner}, {"attention.head_count", m.Heads},
		{"attention.head_count_kv", m.Heads}, {"rope.dimension_count", m.Width / m.Heads}, {"vocab_size", len(vocabulary())}} {
		add("llama."+v.key, u32, uint32(v.n))
	}
	add("llama.attention.layer_norm_rms_epsilon", f32, float32(1e-5))
	add("general.file_type", u32, uint32(0))
	add("tokenizer.ggml.model", str)
	text(&w, "llama")
	all := vocabulary()
	count := uint64(len(all))
	add("tokenizer.ggml.tokens", list, uint32(str), count)
	for _, t := range all {
		text(&w, t.text)
	}
	add("tokenizer.ggml.scores", list, uint32(f32), count)
	for _, t := range all {
		put(&w, t.score)
	}
	add("tokenizer.ggml.token_type", list, uint32(i32), count)
	for _, t := range all {
		put(&w, t.kind)
	}
	for i, name := range []string{"unknown", "bos", "eos"} {
		add("tokenizer.ggml."+name+"_token_id", u32, uint32(i))
	}
	return w.Bytes(), n
}

// tensor is a matrix or, of one dimension, the gains of a normalisation.
type tensor struct {
	name  string
	shape []uint64
	zero  int // rows at the beginning that are zero
}

func (m Model) tensors() (all []tensor) {
	add := func(name string, shape ...int) {
		t := tensor{name: name}
		for _, n := range shape {
			t.shape = append(t.shape, uint64(n))
		}
		all = append(all, t)
	}
	tokens := len(vocabulary())
	add("token_embd.weight", m.Width, tokens)
	for i := range m.Layers {
		layer := func(name string, shape ...int) { add(fmt.Sprintf("blk.%d.%s.weight", i, name), shape...) }
		layer("attn_norm", m.Width)
		for _, name := range []string{"attn_q", "attn_k", "attn_v", "attn_output"} {
			layer(name, m.Width, m.Width)
		}
		layer("ffn_norm", m.Width)
		layer("ffn_gate", m.Width, m.Inner)
		layer("ffn_up", m.Width, m.Inner)
		layer("ffn_down", m.Inner, m.Width)
	}
	add("output_norm.weight", m.Width)
	add("output.weight", m.Width, tokens)
	// With a logit of 0 for all but the words, the most probable token is a word: answers are words, and the tokens of an answer's text are
	// those that were generated, which is what makes the next turn of a conversation find them in the cache.
	all[len(all)-1].zero = firstWord()
	return all
}

func (t tensor) size() int {
	n := 1
	for _, d := range t.shape {
		n *= int(d)
	}
	return n
}

// data is the tensor's bytes. Weights are uniform with the deviation 0.04, of single bits of the source: equal on every machine.
func (t tensor) data(random *rand.PCG) []byte {
	b := make([]byte, aligned(4*t.size()))
	zero := t.zero * int(t.shape[0])
	for i := range t.size() {
		v := float32(1) // a gain
		switch {
		case len(t.shape) == 1:
		case i < zero:
			v = 0
		default:
			const widest = 0.07 // 0.04 * sqrt(3)
			v = float32(int32(random.Uint64()>>40)-1<<23) * (widest / (1 << 23))
		}
		binary.LittleEndian.PutUint32(b[4*i:], math.Float32bits(v))
	}
	return b
}

func text(w *bytes.Buffer, s string) {
	put(w, uint64(len(s)))
	w.WriteString(s)
}

// put writes values of fixed size.
func put(w *bytes.Buffer, values ...any) {
	for _, v := range values {
		if err := binary.Write(w, binary.LittleEndian, v); err != nil {
			panic(err) // a value without a fixed size
		}
	}
}
