package wire

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// follow scans a stream in pieces of at most size bytes, and returns where its messages begin, and how many bytes pass.
func follow(stream []byte, size int) (starts []int, passed int, err error) {
	var f framer
	for len(stream) > passed {
		// Byte by byte inside, so that beginnings are seen.
		piece := stream[passed:min(passed+size, len(stream))]
		n, err := f.scan(piece)
		passed += n
		if err != nil {
			return nil, passed, err
		}
	}
	f = framer{}
	for i := range stream {
		was := f.at
		_, _ = f.scan(stream[i : i+1])
		if was == before && f.at == request {
			starts = append(starts, i)
		}
	}
	return starts, passed, nil
}

const hello = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

func TestFramer(t *testing.T) {
	for _, tc := range []struct {
		name, stream string
		messages     int // 0: refused
	}{
		{"no body", hello, 1},
		{"pipelined", hello + hello + hello, 3},
		{"empty lines before", "\r\n\r\n" + hello, 1},
		{"length", "POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello" + hello, 2},
		{"length 0", "POST / HTTP/1.1\r\ncontent-length:0\r\n\r\n" + hello, 2},
		{"length twice", "POST / HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello" + hello, 2},
		{"a message in a body", "POST / HTTP/1.1\r\nContent-Length: 27\r\n\r\n" + hello + hello, 2},
		{"ambiguous bytes in a body", "POST / HTTP/1.1\r\nContent-Length: 52\r\n\r\nA: b\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r" + hello, 2},
		{"chunks", "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nA;x=y\r\n0123456789\r\n0\r\n\r\n" + hello, 2},
		{"trailer", "POST / HTTP/1.1\r\nTransfer-Encoding: Chunked\r\n\r\n1 \r\na\r\n00\r\nX: y\r\nContent-Length: 3\r\n\r\n" + hello, 2},
		{"HTTP/1.0", "POST / HTTP/1.0\r\nContent-Length: 1\r\n\r\na", 1},
		{"long names and values", "POST /" + strings.Repeat("x", 500) + " HTTP/1.1\r\nTransfer-" + strings.Repeat("x", 500) + ": 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + hello, 2},
		{"LF in the value of a long line", "GET / HTTP/1.1\r\nX: " + strings.Repeat("x", 5000) + "\r\n\r\n" + hello, 2},

		{"bad size", "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n\r\n" + hello, 1},
		{"size with LF", "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\na\r\n0\r\n\r\n" + hello, 1},
		{"huge size", "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n\r\n" + hello, 1},
		{"trailer with LF", "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA: b\n\r\n" + hello, 2},

		{"both", "POST / HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 0},
		{"both, the other way", "POST / HTTP/1.1\r\nTRANSFER-ENCODING: chunked\r\nHost: a\r\ncontent-length: 5\r\n\r\n0\r\n\r\n", 0},
		{"both, length 0", "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 0\r\n\r\n0\r\n\r\n", 0},
		{"both, in the second", hello + "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 0\r\n\r\n0\r\n\r\n", 0},
		{"both, after a body", "POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nhelloPOST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 0\r\n\r\n", 0},
		{"chunked in HTTP/1.0", "POST / HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 0},
		{"chunked in HTTP/1.0, long path", "POST /" + strings.Repeat("x", 100) + " HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 0},
		{"chunked in HTTP/1.2", "POST / HTTP/1.2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 0},
		{"folded", "GET / HTTP/1.1\r\nHost: a\r\nX: y\r\n z\r\n\r\n", 0},
		{"folded by a tab", "GET / HTTP/1.1\r\nX:\r\n\tTransfer-Encoding: chunked\r\n\r\n", 0},
		{"LF", "GET / HTTP/1.1\nHost: a\n\n", 0},
		{"LF within", "GET / HTTP/1.1\r\nX: y\nTransfer-Encoding: chunked\r\n\r\n", 0},
		{"LF at the end", "GET / HTTP/1.1\r\nHost: a\r\n\n", 0},
		{"bad length", "POST / HTTP/1.1\r\nContent-Length: +5\r\n\r\nhello", 0},
		{"two lengths", "POST / HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello", 0},
		{"list of lengths", "POST / HTTP/1.1\r\nContent-Length: 5, 5\r\n\r\nhello", 0},
		{"length behind spaces", "POST / HTTP/1.1\r\nContent-Length: " + strings.Repeat(" ", 100) + "5\r\n\r\nhello", 0},
	} {
		for _, size := range []int{1, 2, 3, 7, 64, 1 << 20} {
			starts, _, err := follow([]byte(tc.stream), size)
			if len(starts) != tc.messages || (err != nil) != (tc.messages == 0) {
				t.Errorf("%s in pieces of %d: messages at %v, %v", tc.name, size, starts, err)
			}
		}
	}
}

// FuzzFramer: where net/http reads the messages of a stream that passes, it divides them as the framer does.
func FuzzFramer(f *testing.F) {
	for _, seed := range []string{hello + hello, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello" + hello,
		"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5;a\r\nhello\r\n0\r\nA: b\r\n\r\n" + hello, "A / HTTP/1.0\r\nC:\r\n\r\n", "\r\n" + hello,
		"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n"} {
		f.Add([]byte(seed), uint8(3))
	}
	f.Fuzz(func(t *testing.T, stream []byte, size uint8) {
		_, whole, _ := follow(stream, len(stream)+1)
		starts, passed, err := follow(stream, int(size)+1)
		if whole != passed {
			t.Fatalf("%d bytes pass at once, %d in pieces", whole, passed)
		}
		if err != nil {
			return
		}
		if theirs := messages(stream); !slices.Equal(theirs, starts[:min(len(starts), len(theirs))]) {
			t.Fatalf("net/http divides at %v, the framer at %v", theirs, starts)
		}
	})
}

// messages are the beginnings of the messages that net/http reads from a stream, up to the first that it refuses.
func messages(stream []byte) (starts []int) {
	in := bytes.NewReader(stream)
	buf := bufio.NewReader(in)
	for {
		for { // as the server does after a POST
			c, err := buf.Peek(1)
			if err != nil || c[0] != '\r' && c[0] != '\n' {
				break
			}
			buf.Discard(1)
		}
		start := len(stream) - in.Len() - buf.Buffered()
		r, err := http.ReadRequest(buf)
		if err != nil {
			return starts
		}
		starts = append(starts, start)
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return starts
		}
	}
}

// BenchmarkFramer is the cost of one request of an SDK.
func BenchmarkFramer(b *testing.B) {
	message := []byte("POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nAccept-Encoding: gzip, deflate\r\nConnection: keep-alive\r\nAccept: application/json\r\n" +
		"Content-Type: application/json\r\nUser-Agent: OpenAI/Python 1.99.0\r\nX-Stainless-Lang: python\r\nX-Stainless-Package-Version: 1.99.0\r\nX-Stainless-OS: Linux\r\n" +
		"X-Stainless-Arch: x64\r\nX-Stainless-Runtime: CPython\r\nX-Stainless-Runtime-Version: 3.13\r\nAuthorization: Bearer sk-1234567890\r\nContent-Length: 100\r\n\r\n" + strings.Repeat("x", 100))
	var f framer
	b.ReportAllocs()
	for b.Loop() {
		if _, err := f.scan(message); err != nil {
			b.Fatal(err)
		}
	}
}
