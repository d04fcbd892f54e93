package answer

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"strings"
	"testing"
)

// version1 is the encoding that builds before version 2 wrote for every answer.
func version1(z *Frozen) []byte {
	b := append([]byte(magic), inPlain, z.Form.Code, 0)
	if z.Stream {
		b[len(b)-1] = 1
	}
	b = binary.AppendUvarint(b, uint64(len(z.ContentType)))
	b = append(b, z.ContentType...)
	b = binary.AppendUvarint(b, uint64(len(z.Slots)))
	at := 0
	for _, s := range z.Slots {
		b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(s.Off-at)), uint64(s.Len))
		b = append(b, byte(s.Kind))
		at = s.Off
	}
	b = append(binary.AppendUvarint(b, uint64(len(z.Body))), z.Body...)
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

// streamOf is a stream of n chunks, each with a word of its own.
func streamOf(n int) (body []byte) {
	for i := range n {
		body = fmt.Appendf(body, `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"m","choices":[{"index":0,"delta":{"content":" w%d"},"finish_reason":null}],"obfuscation":"%x"}`+"\n\n", i, i*i)
	}
	return append(body, "data: [DONE]\n\n"...)
}

// TestFold: any stream is what it was, in either version, and most are much shorter than before.
func TestFold(t *testing.T) {
	form := &Form{Code: 9}
	bodies := []string{"", "\n", "\n\n\n", "data", "data: a\n\ndata: a\n\n", "data: aa\n\ndata: a\n\n", "data: a\n\ndata: aa\n\ndata: aaa\n\n", "a\r\nb\r\n\r\na\r\nb\r\n\r\n",
		"data: x\rdata: x\r\r", "aaaaaaaaaaaaaaaaaaaaaaaa\naaaaaaaaaaaaaaaaaaaaaaa\naaaaaaaa", string(streamOf(1)), string(streamOf(300)), strings.Repeat("event: e\ndata: {}\n\n", 50),
		strings.Repeat("x", 100_000) + "\n" + strings.Repeat("x", 100_000) + "\n", strings.Repeat(strings.Repeat("x", 10_000)+"\n", 200)}
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		var b strings.Builder
		for range r.IntN(12) {
			b.WriteString(strings.Repeat([]string{"a", "ab", "data: ", "\n", "\n\n", "\r\n", "é"}[r.IntN(7)], 1+r.IntN(9)))
		}
		bodies = append(bodies, b.String())
	}
	for _, body := range bodies {
		z := &Frozen{Form: form, Stream: true, ContentType: typeStream, Body: []byte(body)}
		if n := len(body); n > 20 {
			z.Slots = []Slot{{Off: 3, Len: 2, Kind: SlotID}, {Off: n - 4, Len: 4, Kind: SlotCreated}}
		}
		old := version1(z)
		for _, b := range [][]byte{z.Encode(nil), old} {
			got, err := Decode(b, []*Form{form})
			if err != nil || !bytes.Equal(got.Body, z.Body) || fmt.Sprint(got.Slots) != fmt.Sprint(z.Slots) || !got.Stream || got.ContentType != typeStream {
				t.Fatalf("%.200q became %.200q, %v", body, got.Body, err)
			}
			if len(b) > len(old) || Unfolded(b) != 0 && Unfolded(b) != len(body) {
				t.Errorf("%.200q: %d bytes, before %d; unfolded %d", body, len(b), len(old), Unfolded(b))
			}
		}
	}
	if long := streamOf(300); foldedSize(long) > len(long)/3 {
		t.Errorf("%d bytes of a stream are folded to %d", len(long), foldedSize(long))
	}
}

// TestUnfoldIsBounded: an encoding that would be very long is refused, and none may name bytes that are not there.
func TestUnfoldIsBounded(t *testing.T) {
	const n = 1000
	line := func(first byte, head, tail, middle uint64, text string) []byte {
		b := binary.AppendUvarint([]byte{first}, head)
		return append(binary.AppendUvarint(binary.AppendUvarint(b, tail), middle), text...)
	}
	good := line('a', 0, 0, 4, "abc\n")
	for name, tc := range map[string]struct {
		lines []byte
		size  int
		ok    bool
	}{
		"a line":                      {good, 4, true},
		"the same again":              {append(bytes.Clone(good), line('a', 4, 0, 0, "")...), 8, true},
		"head and tail":               {append(bytes.Clone(good), line('a', 1, 2, 1, "x")...), 8, true},
		"like a line that is not":     {line('a', 1, 0, 0, ""), 1, false},
		"like another line":           {append(bytes.Clone(good), line('b', 1, 0, 0, "")...), 5, false},
		"more than the line":          {append(bytes.Clone(good), line('a', 3, 2, 0, "")...), 9, false},
		"an empty line":               {append(bytes.Clone(good), line('a', 0, 0, 0, "")...), 4, false},
		"a middle that is not there":  {line('a', 0, 0, 5, "abc\n"), 5, false},
		"shorter than it says":        {good, 5, false},
		"longer than it says":         {good, 3, false},
		"lines without an end":        {bytes.Repeat([]byte{0xff}, 20), 4, false},
		"a head without an end":       {append([]byte{'a'}, bytes.Repeat([]byte{0xff}, 20)...), 4, false},
		"nothing":                     {nil, 0, true},
		"nothing of a hundred bytes":  {nil, 100, false},
		"a body that is far too long": {bytes.Repeat(line('a', 4, 0, 0, ""), n), 4 * n, false},
	} {
		d := decoder{b: tc.lines}
		if d.unfolded(tc.size); d.bad == tc.ok {
			t.Errorf("%s: bad %t", name, d.bad)
		}
	}
	b := append([]byte(magic), inFolds, 9, 1)
	b = binary.AppendUvarint(b, 1<<40)
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
	if _, err := Decode(b, []*Form{{Code: 9}}); err == nil || Unfolded(b) != 0 {
		t.Errorf("a terabyte: %v, %d", err, Unfolded(b))
	}
}

// BenchmarkFold encodes and decodes a stream, which are both on the path of a request.
func BenchmarkFold(b *testing.B) {
	form := &Form{Code: 9}
	for _, n := range []int{20, 300} {
		z := &Frozen{Form: form, Stream: true, ContentType: typeStream, Body: streamOf(n)}
		encoded := z.Encode(nil)
		b.Run(fmt.Sprintf("%d chunks", n), func(b *testing.B) {
			for b.Loop() {
				z.Encode(nil)
			}
			b.ReportMetric(float64(len(encoded)), "bytes")
			b.ReportMetric(float64(len(z.Body)), "bytes-before")
		})
		b.Run(fmt.Sprintf("%d chunks back", n), func(b *testing.B) {
			for b.Loop() {
				if _, err := Decode(encoded, []*Form{form}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
