package torture

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidwall/gjson"
)

// engine is an API that writes its answers byte by byte, so that it can do what no HTTP server does.
type engine struct {
	t    testing.TB
	h    *history
	addr string
	host string // name in place of the address

	ctx    context.Context // ends with the upstream
	cancel context.CancelFunc
	config *tls.Config // nil: plain

	plan   atomic.Pointer[plan]
	frozen atomic.Pointer[chan struct{}] // open while nothing is read or written
	holds  *holds
	active atomic.Int64 // calls under way
	served sync.WaitGroup

	mu       sync.Mutex // guards what follows
	listener net.Listener
	conns    map[net.Conn]bool
	rng      *rand.Rand
}

// loopback is the address of engines: another one than that of all other listeners, so that none of them takes the port of an engine that is
// shut for a while. Where a machine has one address alone it is that.
var loopback = sync.OnceValue(func() string {
	l, err := net.Listen("tcp", "127.0.0.2:0")
	if err != nil {
		return "127.0.0.1"
	}
	l.Close()
	return "127.0.0.2"
})

// plan is how the upstream behaves: each call takes one of the behaviours.
type plan struct{ behaviours []behaviour }

// newEngine starts an engine, with TLS if config is not nil.
func newEngine(t testing.TB, h *history, seed uint64, config *tls.Config) *engine {
	u := &engine{t: t, h: h, config: config, conns: map[net.Conn]bool{}, rng: rand.New(rand.NewPCG(seed, 77)), holds: newHolds()}
	u.ctx, u.cancel = context.WithCancel(context.Background())
	u.heal()
	l, err := net.Listen("tcp", loopback()+":0")
	if err != nil {
		t.Fatal(err)
	}
	u.addr = l.Addr().String()
	u.listen(l)
	return u
}

func (u *engine) base() string {
	addr, scheme := u.addr, "http://"
	if u.host != "" {
		_, port, _ := net.SplitHostPort(addr)
		addr = net.JoinHostPort(u.host, port)
	}
	if u.config != nil {
		scheme = "https://"
	}
	return scheme + addr + "/v1"
}

// behave makes every call take one of these behaviours until heal.
func (u *engine) behave(b ...behaviour) { u.plan.Store(&plan{b}) }

func (u *engine) heal() { u.plan.Store(&plan{[]behaviour{healthy}}) }

// freeze stops reading and writing on all connections, without closing any; thaw goes on.
func (u *engine) freeze() { gate := make(chan struct{}); u.frozen.Store(&gate) }

func (u *engine) thaw() {
	if gate := u.frozen.Swap(nil); gate != nil {
		close(*gate)
	}
}

func (u *engine) wait() {
	if gate := u.frozen.Load(); gate != nil {
		select {
		case <-*gate:
		case <-u.ctx.Done():
		}
	}
}

// shut refuses new connections and closes the present ones; open accepts them again on the same address.
func (u *engine) shut() {
	u.mu.Lock()
	u.listener.Close()
	u.mu.Unlock()
	u.drop()
}

func (u *engine) open() {
	var last error
	for range 200 { // the port may be taken for a moment, by a client of another test
		l, err := net.Listen("tcp", u.addr)
		if err == nil {
			u.listen(l)
			return
		}
		last = err
		time.Sleep(10 * time.Millisecond)
	}
	u.t.Fatal(last)
}

// drop closes the present connections.
func (u *engine) drop() {
	u.mu.Lock()
	defer u.mu.Unlock()
	for c := range u.conns {
		c.Close()
	}
}

// close ends the upstream and waits for its calls.
func (u *engine) close() {
	u.cancel()
	u.thaw()
	u.shut()
	u.served.Wait()
}

func (u *engine) listen(l net.Listener) {
	u.mu.Lock()
	u.listener = l
	u.mu.Unlock()
	u.served.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			if u.config != nil {
				c = tls.Server(c, u.config)
			}
			u.served.Go(func() { u.serve(c) })
		}
	})
}

func (u *engine) serve(conn net.Conn) {
	defer conn.Close()
	u.mu.Lock()
	u.conns[conn] = true
	u.mu.Unlock()
	defer func() {
		u.mu.Lock()
		delete(u.conns, conn)
		u.mu.Unlock()
	}()
	for br := bufio.NewReader(conn); u.ctx.Err() == nil; {
		req, err := http.ReadRequest(br)
		u.wait()
		if err != nil || !u.answer(conn, br, req) {
			return
		}
	}
}

// answer answers one request and reports whether the connection can be used again.
func (u *engine) answer(conn net.Conn, br *bufio.Reader, req *http.Request) (again bool) {
	u.active.Add(1)
	idle := sync.OnceFunc(func() { u.active.Add(-1) })
	defer idle()
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return false
	}
	c := u.h.called(requestOf(req.Header.Get("Traceparent")))
	c.question = seen(req, body)
	u.mu.Lock()
	behaviours := u.plan.Load().behaviours
	b := behaviours[u.rng.IntN(len(behaviours))]
	pick := u.rng.IntN(1 << 20)
	u.mu.Unlock()
	c.fault, c.spoils, c.keep = b.name, b.spoils, b.keep
	x := &exchange{u: u, call: c, conn: conn, pick: pick, left: make(chan struct{}), includeUsage: gjson.GetBytes(body, "stream_options.include_usage").Bool()}
	watched := make(chan struct{})
	go func() { // a byte that comes now is of the next request
		defer close(watched)
		if _, err := br.Peek(1); err != nil {
			close(x.left)
		}
	}()
	x.render()
	again = b.run(x) && !x.failed
	select {
	case <-x.left:
		c.gone = c.gone || !x.ended
	default:
	}
	c.end = u.h.tick()
	if !again {
		conn.Close()
	}
	idle()
	<-watched
	return again
}

// seen is a request as the upstream sees it.
func seen(req *http.Request, body []byte) question {
	o := gjson.ParseBytes(body)
	q := question{tenant: req.Header.Get("Authorization"), model: o.Get("model").String(), stream: o.Get("stream").Bool()}
	for _, m := range o.Get("messages").Array() {
		if m.Get("role").String() == "system" {
			q.system = m.Get("content").String()
		} else {
			q.prompt, _, _ = strings.Cut(m.Get("content").String(), pad)
			q.prompt = strings.Clone(q.prompt) // without the padding
		}
	}
	return q
}

// exchange is one call while it is answered.
type exchange struct {
	u            *engine
	call         *call
	conn         net.Conn
	left         chan struct{} // closed when the proxy has closed the connection
	pick         int           // a random number
	includeUsage bool

	contentType string
	events      [][]byte // the body: events of a stream, or one object
	sum         []byte   // of what was sent of the body
	failed      bool     // a write failed
	ended       bool     // the whole answer was written
}

// render makes the answer of a sound upstream.
func (x *exchange) render() {
	c := x.call
	id := fmt.Sprintf("chatcmpl-%d", c.n)
	usage := map[string]any{"prompt_tokens": 5, "completion_tokens": 7 + c.n%9, "total_tokens": 12 + c.n%9}
	if !c.stream {
		x.contentType = "application/json"
		x.events = [][]byte{mustJSON(map[string]any{"id": id, "object": "chat.completion", "created": 1700000000, "model": c.model, "usage": usage,
			"choices": []any{map[string]any{"index": 0, "finish_reason": "stop", "message": map[string]any{"role": "assistant", "content": c.text()}}}})}
	} else {
		x.contentType = "text/event-stream"
		event := func(choices []any, more ...any) {
			o := map[string]any{"id": id, "object": "chat.completion.chunk", "created": 1700000000, "model": c.model, "choices": choices}
			for i := 0; i < len(more); i += 2 {
				o[more[i].(string)] = more[i+1]
			}
			x.events = append(x.events, []byte("data: "+string(mustJSON(o))+"\n\n"))
		}
		delta := func(d map[string]any, finish any) []any {
			return []any{map[string]any{"index": 0, "delta": d, "finish_reason": finish}}
		}
		event(delta(map[string]any{"role": "assistant", "content": ""}, nil))
		for i, text := 0, c.text(); i < len(text); i += 23 {
			event(delta(map[string]any{"content": text[i:min(i+23, len(text))]}, nil))
		}
		event(delta(map[string]any{}, "stop"))
		if x.includeUsage {
			event([]any{}, "usage", usage)
		}
		x.events = append(x.events, []byte("data: [DONE]\n\n"))
	}
	c.sent = formOf(string(bytes.Join(x.events, nil)))
}

func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // a mistake in this test
	}
	return b
}

// write sends bytes as they are.
func (x *exchange) write(p []byte) bool {
	x.u.wait()
	x.conn.SetWriteDeadline(time.Now().Add(20 * time.Second)) // bounds a hang of this test
	if _, err := x.conn.Write(p); err != nil {
		x.failed, x.call.gone = true, true
	}
	return !x.failed
}

// header sends a header with these lines "Name: value".
func (x *exchange) header(status int, lines ...string) bool {
	if x.call.begun == 0 {
		x.call.begun = x.u.h.tick()
	}
	head := fmt.Sprintf("HTTP/1.1 %d %s\r\n%s\r\n\r\n", status, http.StatusText(status), strings.Join(lines, "\r\n"))
	return x.write([]byte(head))
}

// chunk sends a piece of a chunked body.
func (x *exchange) chunk(p []byte) bool {
	if len(p) == 0 {
		return !x.failed
	}
	x.note(p)
	return x.write([]byte(fmt.Sprintf("%x\r\n%s\r\n", len(p), p)))
}

// body sends a piece of a body as it is.
func (x *exchange) body(p []byte) bool {
	x.note(p)
	return x.write(p)
}

// note adds to what was sent of the body. A body of megabytes is compared with nothing.
func (x *exchange) note(p []byte) {
	if len(x.sum) < 4<<20 {
		x.sum = append(x.sum, p...)
	}
	x.call.raw = sha256.Sum256(x.sum)
}

// start sends the header of a body of unknown length.
func (x *exchange) start() bool {
	return x.header(http.StatusOK, "Content-Type: "+x.contentType, "Transfer-Encoding: chunked")
}

func (x *exchange) end() bool {
	x.ended = x.write([]byte("0\r\n\r\n"))
	return x.ended
}

// pause waits, and reports whether the proxy is still there.
func (x *exchange) pause(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-x.left:
	case <-x.u.ctx.Done():
	}
	x.call.gone = true
	return false
}

// silence says nothing until the proxy closes the connection.
func (x *exchange) silence() bool {
	x.pause(time.Hour)
	return false
}

// reset closes the connection with a TCP reset.
func (x *exchange) reset() bool {
	under := x.conn
	if t, ok := under.(*tls.Conn); ok {
		under = t.NetConn()
	}
	if tcp, ok := under.(*net.TCPConn); ok {
		tcp.SetLinger(0)
	}
	under.Close()
	return false
}

// holds are prompts whose answers stop after the first event until they are released.
type holds struct {
	mu    sync.Mutex // guards what follows
	gates map[string]chan struct{}
	by    map[string][]*call
}

func newHolds() *holds { return &holds{gates: map[string]chan struct{}{}, by: map[string][]*call{}} }

// hold makes the calls of a prompt stop after their first event. release lets them go on.
func (h *holds) hold(prompt string) (release func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	gate := make(chan struct{})
	h.gates[prompt] = gate
	return sync.OnceFunc(func() { close(gate) })
}

// enter returns the gate of a call, nil for none.
func (h *holds) enter(c *call) chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	gate := h.gates[c.prompt]
	if gate != nil {
		h.by[c.prompt] = append(h.by[c.prompt], c)
	}
	return gate
}

// calls returns how many calls a prompt has had.
func (h *holds) calls(prompt string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.by[prompt])
}
