package proxy_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// The processes of the benchmark beside the program are this test binary, started again with a role. Each prints its address, answers
// each line of its input with a line, and ends with its input.
const roleVariable = "BENCH_ROLE"

var roles = map[string]func(arg string) error{"upstream": serveUpstream, "bare": serveBare, "map": serveMap, "client": serveClient,
	"redis": serveRedis}

func TestMain(m *testing.M) {
	role, arg, _ := strings.Cut(os.Getenv(roleVariable), " ")
	if serve, ok := roles[role]; ok {
		if err := serve(arg); err != nil {
			fmt.Fprintln(os.Stderr, role+":", err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// answerLines reads the parent's lines and writes what answer returns, as JSON.
func answerLines(answer func(line []byte) (any, error)) error {
	in, out := bufio.NewReader(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return nil // the parent has ended
		}
		v, err := answer(line)
		if err != nil {
			return err
		}
		if err := out.Encode(v); err != nil {
			return err
		}
	}
}

const replyHead = `{"id":"chatcmpl-1","object":"chat.completion","created":1700000000,"model":"gpt-4o-mini","choices":[{"index":0,"message":{"role":"assistant","content":"`
const replyTail = `","refusal":null,"annotations":[]},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":20,"completion_tokens":90,"total_tokens":110}}`

// answers is text of users, from which each answer takes a part of its own: one that is repeated would be packed too well.
type answers []byte

func newAnswers() (answers, error) {
	t, err := newTexts()
	if err != nil {
		return nil, err
	}
	var all answers
	for i := range 4000 {
		for _, c := range []byte(t.prompt(i*7) + " ") {
			if c >= ' ' && c < 128 && c != '"' && c != '\\' {
				all = append(all, c)
			}
		}
	}
	return all, nil
}

// reply is answer n: a chat answer of 1.2 KB.
func (a answers) reply(out []byte, n int64) []byte {
	const size = 900
	from := int(uint64(n) * 0x9E3779B97F4A7C15 >> 32 % uint64(len(a)-size))
	return append(append(append(out, replyHead...), a[from:from+size]...), replyTail...)
}

const chunks = 20

// chunk is event i of an answer that is streamed.
func chunk(i int) string {
	delta, finish := `{"content":"All work and no play makes them dull. "}`, "null"
	if i == 0 {
		delta = `{"role":"assistant","content":""}`
	}
	if i == chunks-1 {
		delta, finish = "{}", `"stop"`
	}
	return `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"gpt-4o-mini","system_fingerprint":"fp_1","choices":[{"index":0,"delta":` +
		delta + `,"logprobs":null,"finish_reason":` + finish + "}]}\n\n"
}

// tally counts what an upstream has seen.
type tally struct{ Requests, Conns int64 }

// serveUpstream is an upstream that answers at once: over bare sockets, so that little of the machine goes to it.
func serveUpstream(string) error {
	texts, err := newAnswers()
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	var requests, conns atomic.Int64
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			conns.Add(1)
			go upstreamConn(c, texts, &requests)
		}
	}()
	fmt.Println(l.Addr())
	return answerLines(func([]byte) (any, error) { return tally{requests.Load(), conns.Load()}, nil })
}

func upstreamConn(c net.Conn, texts answers, requests *atomic.Int64) {
	defer c.Close()
	in := bufio.NewReaderSize(c, 32<<10)
	var body, text, out []byte
	for {
		length, err := readHead(in, nil)
		if err != nil {
			return
		}
		body = append(body[:0], make([]byte, max(length, 0))...)
		if _, err := io.ReadFull(in, body); err != nil {
			return
		}
		n := requests.Add(1)
		if bytes.Contains(body, []byte(`"stream":true`)) {
			err = writeStream(c)
		} else {
			text = texts.reply(text[:0], n)
			out = fmt.Appendf(out[:0], "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nDate: Sun, 22 Nov 2026 12:00:00 GMT\r\nContent-Length: %d\r\n\r\n%s", len(text), text)
			_, err = c.Write(out)
		}
		if err != nil {
			return
		}
	}
}

func writeStream(c net.Conn) error {
	head := "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nDate: Sun, 22 Nov 2026 12:00:00 GMT\r\nTransfer-Encoding: chunked\r\n\r\n"
	for i := range chunks {
		event := chunk(i)
		if i == chunks-1 {
			event += "data: [DONE]\n\n"
		}
		if _, err := fmt.Fprintf(c, "%s%x\r\n%s\r\n", head, len(event), event); err != nil {
			return err
		}
		head = ""
	}
	_, err := io.WriteString(c, "0\r\n\r\n")
	return err
}

// readHead reads the first line and the headers of a message, and returns the length of its body: -1 where it is chunked. each gets the
// first line and every header.
func readHead(in *bufio.Reader, each func(line []byte) error) (length int, err error) {
	for {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return 0, err
		}
		if line = bytes.TrimRight(line, "\r\n"); len(line) == 0 {
			return length, nil
		}
		if each != nil {
			if err := each(line); err != nil {
				return 0, err
			}
		}
		name, value, _ := bytes.Cut(line, []byte(": "))
		switch {
		case bytes.EqualFold(name, []byte("Content-Length")):
			length, err = strconv.Atoi(string(value))
		case bytes.EqualFold(name, []byte("Transfer-Encoding")):
			length = -1
		}
		if err != nil {
			return 0, err
		}
	}
}

// serveBare is the least proxy that the standard library makes. Its transport looks for more of a body after the last byte, while an upstream
// that is so fast has the server close that body already, which breaks the connection: hence the reader that ends by itself.
func serveBare(upstream string) error {
	target, err := url.Parse("http://" + upstream)
	if err != nil {
		return err
	}
	return serveHandler(&httputil.ReverseProxy{
		Rewrite: func(p *httputil.ProxyRequest) {
			p.SetURL(target)
			if p.In.ContentLength > 0 {
				p.Out.Body = io.NopCloser(io.LimitReader(p.In.Body, p.In.ContentLength))
			}
		},
		Transport: &http.Transport{MaxIdleConnsPerHost: 256, DisableCompression: true},
	})
}

// serveMap is the least cache: a map of answers by the hash of the body. A body that is not in it gets an answer of the upstream's length,
// and has it from then on.
func serveMap(string) error {
	texts, err := newAnswers()
	if err != nil {
		return err
	}
	var mu sync.RWMutex
	known := map[[32]byte][]byte{}
	return serveHandler(byHash(func(_ context.Context, key [32]byte) ([]byte, error) {
		mu.RLock()
		out := known[key]
		mu.RUnlock()
		if out == nil {
			mu.Lock()
			out = texts.reply(nil, int64(len(known)))
			known[key] = out
			mu.Unlock()
		}
		return out, nil
	}))
}

// serveRedis is the least that a cache in Redis does: a GET by the hash of the body, with a deadline. A body that is new is set to an answer of
// the upstream's length.
func serveRedis(addr string) error {
	texts, err := newAnswers()
	if err != nil {
		return err
	}
	c := redis.NewClient(&redis.Options{Addr: addr, Protocol: 2, ContextTimeoutEnabled: true})
	defer c.Close()
	return serveHandler(byHash(func(ctx context.Context, key [32]byte) ([]byte, error) {
		ctx, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		out, err := c.Get(ctx, "bare:"+string(key[:])).Bytes()
		if errors.Is(err, redis.Nil) {
			out = texts.reply(nil, int64(binary.BigEndian.Uint32(key[:])))
			err = c.Set(ctx, "bare:"+string(key[:]), out, 0).Err()
		}
		return out, err
	}))
}

// byHash answers a request with what get has for the hash of its body.
func byHash(get func(context.Context, [32]byte) ([]byte, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		in, err := io.ReadAll(r.Body)
		if err == nil {
			in, err = get(r.Context(), sha256.Sum256(in))
		}
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(in)))
		w.Write(in)
	})
}

func serveHandler(h http.Handler) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	go (&http.Server{Handler: h}).Serve(l)
	fmt.Println(l.Addr())
	return answerLines(func([]byte) (any, error) { return struct{}{}, nil })
}
