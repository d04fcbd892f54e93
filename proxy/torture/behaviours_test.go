package torture

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"net/http"
	"time"
)

// behaviour is how the upstream answers one call. run reports whether the connection can be used again.
type behaviour struct {
	name   string
	spoils bool // the client may see a failure, or an answer without its end
	keep   bool // the answer may be stored
	run    func(*exchange) bool
}

// healthy answers as it should. A prompt under hold waits after its first event.
var healthy = behaviour{name: "healthy", keep: true, run: func(x *exchange) bool {
	gate := x.u.holds.enter(x.call)
	if !x.call.stream && gate == nil {
		return x.whole()
	}
	if !x.start() {
		return false
	}
	for i, ev := range x.events {
		if i == 1 && gate != nil {
			select {
			case <-gate:
			case <-x.left:
				x.call.gone = true
				return false
			case <-x.u.ctx.Done():
				return false
			}
		}
		if !x.chunk(ev) {
			return false
		}
	}
	return x.end()
}}

// whole sends an answer with its length.
func (x *exchange) whole() bool {
	body := bytes.Join(x.events, nil)
	x.ended = x.header(http.StatusOK, "Content-Type: "+x.contentType, fmt.Sprint("Content-Length: ", len(body))) && x.body(body)
	return x.ended
}

// failing is an error of the upstream with a status, and header lines.
func failing(status int, lines ...string) behaviour {
	return behaviour{name: fmt.Sprint("status ", status, " ", lines), spoils: true, run: func(x *exchange) bool {
		body := fmt.Appendf(nil, `{"error":{"message":"Fault of call %d.","type":"server_error","code":null,"param":null}}`, x.call.n)
		x.u.h.sentError(sha256.Sum256(body))
		x.ended = x.header(status, append([]string{"Content-Type: application/json", fmt.Sprint("Content-Length: ", len(body))}, lines...)...) && x.body(body)
		return x.ended
	}}
}

// says answers with a body of its own, which ends with the number of the call, and status 200.
func says(name string, start []byte, lines ...string) behaviour {
	return behaviour{name: name, spoils: true, run: func(x *exchange) bool {
		body := fmt.Append(bytes.Clone(start), "<!-- call ", x.call.n, " -->\n")
		x.ended = x.header(http.StatusOK, append(lines, fmt.Sprint("Content-Length: ", len(body)))...) && x.body(body)
		return x.ended
	}}
}

// silent accepts the request and says nothing.
var silent = behaviour{name: "silent", spoils: true, run: (*exchange).silence}

// silentAfterHeader sends its header and, every other time, the first event, and then nothing.
var silentAfterHeader = behaviour{name: "silent after the header", spoils: true, run: func(x *exchange) bool {
	if x.start() && x.pick%2 == 0 && len(x.events) > 1 {
		x.chunk(x.events[0])
	}
	return x.silence()
}}

// slow sends its first n bytes one at a time, with pauses; that takes long and stays within the limit of silence.
func slow(n int) behaviour {
	return behaviour{name: "slow", keep: true, run: func(x *exchange) bool {
		if !x.start() {
			return false
		}
		body := bytes.Join(x.events, nil)
		n := min(n, len(body))
		for _, p := range split(body[:n], 1) {
			if !x.chunk(p) || !x.pause(time.Millisecond) {
				return false
			}
		}
		return x.chunk(body[n:]) && x.end()
	}}
}

// cutAt resets the connection after a part of the body, i of n parts; 0 is before the header.
func cutAt(i, n int) behaviour {
	return behaviour{name: fmt.Sprintf("cut at %d of %d", i, n), spoils: true, run: func(x *exchange) bool {
		body := bytes.Join(x.events, nil)
		if i == 0 || !x.start() {
			return x.reset()
		}
		if part := body[:len(body)*(i-1)/n]; len(part) > 0 {
			x.chunk(part)
		}
		x.pause(time.Duration(x.pick%3) * time.Millisecond)
		return x.reset()
	}}
}

// cutsAt is a cut at each of n offsets.
func cutsAt(n int) (all []behaviour) {
	for i := range n {
		all = append(all, cutAt(i, n))
	}
	return all
}

// withoutEnd ends a stream regularly without its last events, and closes the connection within an object.
var withoutEnd = behaviour{name: "no terminal event", spoils: true, run: func(x *exchange) bool {
	if !x.start() {
		return false
	}
	if !x.call.stream {
		x.chunk(x.events[0][:len(x.events[0])/2])
		return false
	}
	for _, ev := range x.events[:len(x.events)/2] {
		x.chunk(ev)
	}
	return x.end()
}}

// errorInside sends an error object inside a stream, under status 200.
var errorInside = behaviour{name: "error inside the stream", spoils: true, run: func(x *exchange) bool {
	if !x.call.stream {
		return failing(500).run(x)
	}
	if !x.start() {
		return false
	}
	for _, ev := range x.events[:2] {
		x.chunk(ev)
	}
	x.chunk([]byte(`data: {"error":{"message":"overloaded","type":"server_error","code":503}}` + "\n\n"))
	if x.pick%2 == 0 {
		x.chunk([]byte("data: [DONE]\n\n"))
	}
	return x.end()
}}

// wrongLength announces a length that differs from the body's.
func wrongLength(by int) behaviour {
	return behaviour{name: fmt.Sprint("length ", by), spoils: true, run: func(x *exchange) bool {
		body := bytes.Join(x.events, nil)
		by := max(by, 1-len(body))
		x.call.keep = by > 0 && x.call.stream // all of it came, to its terminal event
		x.header(http.StatusOK, "Content-Type: "+x.contentType, fmt.Sprint("Content-Length: ", len(body)+by))
		x.note(body[:len(body)+min(by, 0)]) // what a reader takes for the body
		x.write(body)
		return false
	}}
}

// gzipped are answers with a Content-Encoding: one that lies, and one of zeros that unpack to n bytes.
func gzipped(n int) []behaviour {
	bomb := pack(make([]byte, n))
	lie := behaviour{name: "gzip that is none", spoils: true, run: func(x *exchange) bool {
		body := bytes.Join(x.events, nil)
		x.ended = x.header(http.StatusOK, "Content-Type: "+x.contentType, "Content-Encoding: gzip", fmt.Sprint("Content-Length: ", len(body))) && x.body(body)
		return x.ended
	}}
	return []behaviour{lie, {name: "gzip bomb", spoils: true, run: func(x *exchange) bool {
		body := append(pack(fmt.Append(nil, "call ", x.call.n)), bomb...) // two members are one file
		x.ended = x.header(http.StatusOK, "Content-Type: application/json", "Content-Encoding: gzip", fmt.Sprint("Content-Length: ", len(body))) && x.body(body)
		return x.ended
	}}}
}

func pack(p []byte) []byte {
	var packed bytes.Buffer
	w, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression) // a valid level
	w.Write(p)
	w.Close()
	return packed.Bytes()
}

// odd sends the events changed, in pieces of size bytes (0: one per event).
func odd(name string, size int, change func(i int, ev []byte) []byte) behaviour {
	return behaviour{name: name, keep: true, run: func(x *exchange) bool {
		if !x.call.stream {
			return x.whole()
		}
		if !x.start() {
			return false
		}
		for i, ev := range x.events {
			ev = change(i, ev)
			for _, p := range split(ev, size) {
				if !x.chunk(p) {
					return false
				}
			}
		}
		return x.end()
	}}
}

func split(p []byte, size int) (parts [][]byte) {
	if size == 0 {
		return [][]byte{p}
	}
	for ; len(p) > size; p = p[size:] {
		parts = append(parts, p[:size])
	}
	return append(parts, p)
}

// oddEvents are streams in unusual forms, all of them valid.
var oddEvents = []behaviour{
	odd("split at every byte", 1, func(_ int, ev []byte) []byte { return ev }),
	odd("CR LF", 0, func(_ int, ev []byte) []byte { return bytes.ReplaceAll(ev, []byte("\n"), []byte("\r\n")) }),
	odd("comments", 0, func(i int, ev []byte) []byte { return append([]byte(": keep-alive\n\n:\n"), ev...) }),
	odd("comments, CR LF and split", 3, func(i int, ev []byte) []byte {
		return append([]byte(": keep-alive\r\n\r\n"), bytes.ReplaceAll(ev, []byte("\n"), []byte("\r\n"))...)
	}),
	odd("an event of 1 MiB", 0, func(i int, ev []byte) []byte {
		if i != 1 {
			return ev
		}
		padding := append([]byte(`data: {"padding":"`), bytes.Repeat([]byte("x"), 1<<20)...)
		return append(padding, append([]byte(`",`), bytes.TrimPrefix(ev, []byte("data: {"))...)...)
	}),
}

// oddEnds are streams with two finish reasons, and without usage.
var oddEnds = []behaviour{
	odd("two finish reasons", 0, func(_ int, ev []byte) []byte {
		if bytes.Contains(ev, []byte(`"finish_reason":"stop"`)) {
			return append(bytes.Clone(ev), ev...)
		}
		return ev
	}),
	odd("no usage", 0, func(_ int, ev []byte) []byte {
		if bytes.Contains(ev, []byte(`"usage"`)) {
			return nil
		}
		return ev
	}),
}

// late answers after a while, whether or not the proxy is still there.
func late(after time.Duration) behaviour {
	return behaviour{name: "late", keep: true, run: func(x *exchange) bool {
		select {
		case <-time.After(after):
		case <-x.u.ctx.Done():
			return false
		}
		return healthy.run(x)
	}}
}

// redirect sends the client elsewhere.
func redirect(status int, to string) behaviour {
	return behaviour{name: fmt.Sprint("redirect ", status), spoils: true, run: func(x *exchange) bool {
		body := fmt.Appendf(nil, "moved, call %d\n", x.call.n)
		x.u.h.sentError(sha256.Sum256(body))
		x.ended = x.header(status, "Location: "+to, "Content-Type: text/plain", fmt.Sprint("Content-Length: ", len(body))) && x.body(body)
		return x.ended
	}}
}
