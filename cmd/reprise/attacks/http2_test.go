package attacks_test

import (
	"bufio"
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"reprise/internal/built"
)

// certificate returns the settings of a listener that serves TLS.
func certificate(t *testing.T) []string {
	t.Helper()
	f := newFiles(t)
	f.certificate("localhost")
	return []string{f.set("REPRISE_TLS_CERT", "cert.pem"), f.set("REPRISE_TLS_KEY", "key.pem")}
}

// Types and flags of HTTP/2 frames (RFC 9113, section 6).
const (
	frameData, frameHeaders, frameReset, frameSettings, frameGoAway = 0, 1, 3, 4, 7
	endStream, endHeaders, ack                                      = 1, 4, 1
)

func frame(kind, flags byte, stream uint32, payload string) string {
	head := binary.BigEndian.AppendUint32(nil, uint32(len(payload))<<8|uint32(kind))
	return string(binary.BigEndian.AppendUint32(append(head, flags), stream)) + payload
}

// headers is the payload of a HEADERS frame, without compression: names and values in turns.
func headers(fields ...string) (payload string) {
	for i := 0; i < len(fields); i += 2 {
		payload += "\x00" + string(rune(len(fields[i]))) + fields[i] + string(rune(len(fields[i+1]))) + fields[i+1]
	}
	return payload
}

// dial2 opens an HTTP/2 connection; settings is the payload of the client's first frame.
func (p *process) dial2(settings string) *tls.Conn {
	p.t.Helper()
	c := tls.Client(p.dialTo(p.API), &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}})
	if err := c.Handshake(); err != nil {
		p.t.Fatal(err)
	}
	io.WriteString(c, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"+frame(frameSettings, 0, 0, settings)+frame(frameSettings, ack, 0, ""))
	return c
}

// ends reads frames until the server ends stream 1 or the connection.
func ends(t *testing.T, what string, c net.Conn) {
	t.Helper()
	c.SetReadDeadline(time.Now().Add(time.Minute)) // a stream that is held stays open for ever
	for in := bufio.NewReader(c); ; {
		var head [9]byte
		_, err := io.ReadFull(in, head[:])
		if ne, ok := err.(net.Error); ok && ne.Timeout() {
			t.Errorf("%s: the stream is still open", what)
		}
		if err != nil {
			return
		}
		in.Discard(int(binary.BigEndian.Uint32(head[:]) >> 8))
		kind, flags, stream := head[3], head[4], binary.BigEndian.Uint32(head[5:])
		if kind == frameGoAway || stream == 1 && (kind == frameReset || kind <= frameHeaders && flags&endStream != 0) {
			return
		}
	}
}

// TestHTTP2FrameReservesNoMemory is line 10 of the list in SECURITY.md: over HTTP/2 the length of a frame is announced.
func TestHTTP2FrameReservesNoMemory(t *testing.T) {
	t.Parallel()
	const n = 300
	p := start(t, append(certificate(t), upstream(t, echo()))...)
	open := func() {
		c := p.dial2("")
		io.WriteString(c, frame(frameHeaders, endHeaders, 1, headers(":method", "POST", ":scheme", "https", ":path", "/v1/chat/completions",
			":authority", "127.0.0.1", "content-type", "application/json")))
		io.WriteString(c, "\x10\x00\x00\x00\x00\x00\x00\x00\x01{") // a DATA frame of 1 MiB
	}
	open()
	before := p.gauge("go_memstats_heap_alloc_bytes")
	for range n {
		open()
	}
	used := 0.0
	for range 20 { // the frames are read in their own time, or refused and their connections closed
		used = max(used, p.gauge("go_memstats_heap_alloc_bytes")-before)
	}
	t.Logf("measured: %d HTTP/2 connections with a frame of 1 MiB announced hold %.0f MiB of heap", n, used/(1<<20))
	if used > 100<<20 {
		t.Errorf("%d half-sent frames hold %.0f MiB of heap, want at most 100", n, used/(1<<20))
	}
}

// TestHTTP2SlowClients is lines 15 and 16 of the list in SECURITY.md, over HTTP/2: streams that stall, drip or never take their
// answer end, and a client that takes nothing from its connection is disconnected.
func TestHTTP2SlowClients(t *testing.T) {
	t.Parallel()
	settings := append(certificate(t), slow...)
	p := start(t, append(settings, upstream(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/large") {
			w.Write(make([]byte, 32<<20))
			return
		}
		io.Copy(io.Discard, r.Body)
		io.WriteString(w, "{}")
	}))...)
	before := p.gauge("go_goroutines")
	request := func(method, path string) string {
		return headers(":method", method, ":scheme", "https", ":path", path, ":authority", "127.0.0.1", "content-type", "application/json")
	}
	large := frame(frameHeaders, endHeaders|endStream, 1, request("GET", "/v1/large"))
	for _, path := range []string{"/v1/chat/completions", "/v1/files"} {
		c := p.dial2("")
		io.WriteString(c, frame(frameHeaders, endHeaders, 1, request("POST", path))+frame(frameData, 0, 1, "{"))
		ends(t, "a stalled body of "+path, c)
		c = p.dial2("")
		io.WriteString(c, frame(frameHeaders, endHeaders, 1, request("POST", path)))
		stop := make(chan struct{})
		go func() {
			for pace := time.NewTicker(50 * time.Millisecond); ; {
				select {
				case <-stop:
					return
				case <-pace.C:
					io.WriteString(c, frame(frameData, 0, 1, " "))
				}
			}
		}()
		ends(t, "a dripped body of "+path, c)
		close(stop)
	}
	c := p.dial2("\x00\x04\x00\x00\x00\x00") // an initial window of 0
	io.WriteString(c, large)
	ends(t, "a window that never opens", c)

	for range 20 {
		io.WriteString(p.dial2("\x00\x04\x7f\xff\xff\xff"), frame(8, 0, 0, "\x7f\x00\x00\x00")+large) // and nothing is read
	}
	for range 20 {
		io.WriteString(p.dial2(""), frame(frameHeaders, 0, 1, request("POST", "/v1/files"))) // the rest of the header never comes
	}
	c = p.dial2("")
	for i := range uint32(2000) { // streams that are reset at once
		id := 2*i + 1
		if _, err := io.WriteString(c, frame(frameHeaders, endHeaders|endStream, id, request("GET", "/v1/models"))+frame(frameReset, 0, id, "\x00\x00\x00\x08")); err != nil {
			break
		}
	}
	built.Until(t, "the goroutines of slow clients end", func() bool { return p.gauge("go_goroutines") < before+15 })
}

// TestHTTP2QuietAnswerIsNotCut: an answer that pauses for longer than a write may take, or a whole request, goes on. The limits are
// longer than a busy machine keeps an honest client waiting.
func TestHTTP2QuietAnswerIsNotCut(t *testing.T) {
	t.Parallel()
	settings := append(certificate(t), "REPRISE_CLIENT_TIMEOUT=6s")
	p := start(t, append(settings, upstream(t, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}]}\n\n")
		http.NewResponseController(w).Flush()
		time.Sleep(13 * time.Second) // the pause is what is tested
		io.WriteString(w, "data: [DONE]\n\n")
	}))...)
	http2 := &http.Client{Transport: &http.Transport{ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	var all sync.WaitGroup
	for _, path := range []string{"/v1/chat/completions", "/v1/threads"} {
		all.Go(func() {
			resp, err := http2.Post(p.API+path, "application/json", strings.NewReader(`{"stream":true,`+chat(fmt.Sprint(path))[1:]))
			if err != nil {
				t.Errorf("%s: %v", path, err)
				return
			}
			defer resp.Body.Close()
			body, err := io.ReadAll(resp.Body)
			if resp.Proto != "HTTP/2.0" || err != nil || !strings.HasSuffix(string(body), "[DONE]\n\n") {
				t.Errorf("%s: %s %d, %v: %q", path, resp.Proto, resp.StatusCode, err, body)
			}
		})
	}
	all.Wait()
}

// TestHTTP2LargeBodyIsRefusedLegibly is line 15 of the list in SECURITY.md, over HTTP/2.
func TestHTTP2LargeBodyIsRefusedLegibly(t *testing.T) {
	t.Parallel()
	p := start(t, append(certificate(t), upstream(t, echo()))...)
	http2 := &http.Client{Transport: &http.Transport{ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	for _, announced := range []int64{40 << 20, -1} {
		req, _ := http.NewRequest(http.MethodPost, p.API+"/v1/chat/completions", io.LimitReader(zeros{}, 40<<20))
		req.Header.Set("Content-Type", "application/json")
		req.ContentLength = announced
		resp, err := http2.Do(req)
		if err != nil {
			t.Errorf("announced %d: %v", announced, err)
			continue
		}
		if body, err := io.ReadAll(resp.Body); resp.StatusCode != 413 || err != nil || !strings.Contains(string(body), "request_too_large") {
			t.Errorf("announced %d: %d %s, %v", announced, resp.StatusCode, body, err)
		}
		resp.Body.Close()
	}
}

// zeros is an endless body.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }
