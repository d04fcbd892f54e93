package proxy_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// job is a load that the client is to play.
type job struct {
	Addr  string
	Kind  string // one of kinds
	Text  string // one of prompts
	Conns int
	N     int     // requests
	Rate  float64 // requests a second, begun on time however slow the answers are; 0: each connection asks again as soon as it has its answer
	Until bool    // end with the first job of the batch that is not Until

	From  int // number of the first prompt; the next ones follow
	Among int // above 0: prompts are drawn from the numbers 0 to Among instead; From is the seed of the draw
	Scope int // number of the credential, which makes a scope
}

// kinds are what a job asks with a prompt as its request number k; each request is made before the load begins.
var kinds = map[string]func(j *job, prompt string, k int) []byte{
	"models": func(j *job, _ string, _ int) []byte { return raw(j, "GET /v1/models", "") },
	"nostore": func(j *job, prompt string, _ int) []byte {
		return raw(j, "POST /v1/chat/completions", chatBody(prompt, ""), "Cache-Control: no-cache, no-store")
	},
	"chat": func(j *job, prompt string, _ int) []byte {
		return raw(j, "POST /v1/chat/completions", chatBody(prompt, ""))
	},
	"variant": func(j *job, prompt string, k int) []byte {
		return raw(j, "POST /v1/chat/completions", chatBody(variant(prompt, k), ""))
	},
	"stream": func(j *job, prompt string, _ int) []byte {
		return raw(j, "POST /v1/chat/completions", chatBody(prompt, `,"stream":true`))
	},
}

func chatBody(prompt, more string) string {
	text, _ := json.Marshal(prompt)
	return `{"model":"gpt-4o-mini","messages":[{"role":"user","content":` + string(text) + `}]` + more + `}`
}

func raw(j *job, line, body string, headers ...string) []byte {
	out := fmt.Appendf(nil, "%s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer sk-user-%06d\r\nAccept: application/json\r\nUser-Agent: OpenAI/Python 1.99.0\r\n", line, j.Addr, j.Scope)
	for _, h := range headers {
		out = append(append(out, h...), "\r\n"...)
	}
	if body != "" {
		out = fmt.Appendf(out, "Content-Type: application/json\r\nContent-Length: %d\r\n", len(body))
	}
	return append(append(out, "\r\n"...), body...)
}

// result is what a job has measured: latencies in microseconds.
type result struct {
	N                         int
	Seconds                   float64
	P50, P99, First50         float64
	Exact, Semantic, Miss, No int // answers by their X-Cache
	Dialed                    int
	Error                     string
}

// serveClient plays batches of jobs, those of one batch at the same time. Connections stay open between batches.
func serveClient(string) error {
	t, err := newTexts()
	if err != nil {
		return err
	}
	c := &loadClient{texts: t, idle: map[string]chan *clientConn{}}
	fmt.Println("ready")
	return answerLines(func(line []byte) (any, error) {
		var batch []*job
		if err := json.Unmarshal(line, &batch); err != nil {
			return nil, err
		}
		return c.play(batch), nil
	})
}

// loadClient keeps a pool of open connections to each address.
type loadClient struct {
	texts *texts
	mu    sync.Mutex // protects idle
	idle  map[string]chan *clientConn
}

type clientConn struct {
	net.Conn
	in *bufio.Reader
}

// pool is the open connections to an address.
func (c *loadClient) pool(addr string) chan *clientConn {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.idle[addr] == nil {
		c.idle[addr] = make(chan *clientConn, 64)
	}
	return c.idle[addr]
}

func (c *loadClient) play(batch []*job) []result {
	all, requests := make([]result, len(batch)), make([][][]byte, len(batch))
	for i, j := range batch {
		for k := range j.N {
			n := j.From + k
			if j.Among > 0 {
				n = int(uint64(n) * 0x9E3779B97F4A7C15 >> 16 % uint64(j.Among))
			}
			requests[i] = append(requests[i], kinds[j.Kind](j, prompts[j.Text](c.texts, n), j.From+k))
		}
	}
	var stop atomic.Bool
	var main, rest sync.WaitGroup
	for i, j := range batch {
		group := &main
		if j.Until {
			group = &rest
		}
		group.Go(func() { all[i] = c.playOne(j, requests[i], &stop) })
	}
	main.Wait()
	stop.Store(true)
	rest.Wait()
	return all
}

func (c *loadClient) playOne(j *job, requests [][]byte, stop *atomic.Bool) (sum result) {
	var mu sync.Mutex
	var took, first []float64
	var next atomic.Int64
	var workers sync.WaitGroup
	start, pool := time.Now(), c.pool(j.Addr)
	for range j.Conns {
		workers.Go(func() {
			w := worker{}
			if err := w.connect(pool, j.Addr); err != nil {
				w.result.Error = err.Error()
			}
			for w.result.Error == "" {
				i := int(next.Add(1)) - 1
				if i >= len(requests) || j.Until && stop.Load() {
					pool <- w.conn
					break
				}
				begin := time.Now()
				if j.Rate > 0 {
					begin = start.Add(time.Duration(float64(i) / j.Rate * 1e9))
					time.Sleep(time.Until(begin))
				}
				if err := w.ask(requests[i], begin); err != nil {
					w.result.Error = err.Error()
				}
			}
			mu.Lock()
			defer mu.Unlock()
			took, first = append(took, w.took...), append(first, w.first...)
			sum.add(&w.result)
		})
	}
	workers.Wait()
	sum.Seconds, sum.N = time.Since(start).Seconds(), len(took)
	sum.P50, sum.P99, sum.First50 = quantile(took, .5), quantile(took, .99), quantile(first, .5)
	return sum
}

func (r *result) add(o *result) {
	r.Exact, r.Semantic, r.Miss, r.No, r.Dialed = r.Exact+o.Exact, r.Semantic+o.Semantic, r.Miss+o.Miss, r.No+o.No, r.Dialed+o.Dialed
	if r.Error == "" {
		r.Error = o.Error
	}
}

// worker asks over one connection.
type worker struct {
	conn        *clientConn
	result      result
	took, first []float64
}

// connect takes an open connection, or makes one.
func (w *worker) connect(pool chan *clientConn, addr string) error {
	select {
	case w.conn = <-pool:
		return nil
	default:
	}
	conn, err := net.Dial("tcp", addr)
	w.conn = &clientConn{conn, bufio.NewReaderSize(conn, 64<<10)}
	w.result.Dialed++
	return err
}

func (w *worker) ask(request []byte, begin time.Time) error {
	if _, err := w.conn.Write(request); err != nil {
		return fmt.Errorf("write request: %w", err)
	}
	first, err := w.readAnswer()
	if err != nil {
		return fmt.Errorf("read answer to %.300q: %w", request, err)
	}
	w.first = append(w.first, float64(first.Sub(begin).Nanoseconds())/1e3)
	w.took = append(w.took, float64(time.Since(begin).Nanoseconds())/1e3)
	return nil
}

// readAnswer reads one answer to its end, and returns when the first bytes of its body had come.
func (w *worker) readAnswer() (first time.Time, err error) {
	in, status, cache := w.conn.in, false, &w.result.No
	length, err := readHead(in, func(line []byte) error {
		name, value, _ := bytes.Cut(line, []byte(": "))
		switch {
		case !status:
			if status = true; !bytes.HasPrefix(line, []byte("HTTP/1.1 200")) {
				return fmt.Errorf("status %q", line)
			}
		case bytes.EqualFold(name, []byte("X-Cache")):
			cache = w.result.of(string(value))
		}
		return nil
	})
	if err != nil {
		return first, err
	}
	*cache++
	if length >= 0 {
		if _, err = in.Peek(min(length, 1)); err == nil {
			first = time.Now()
			_, err = in.Discard(length)
		}
		return first, err
	}
	for {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return first, err
		}
		size, err := strconv.ParseInt(string(bytes.TrimRight(line, "\r\n")), 16, 32)
		if err != nil {
			return first, err
		}
		if first.IsZero() {
			first = time.Now()
		}
		if _, err := in.Discard(int(size) + 2); err != nil || size == 0 {
			return first, err
		}
	}
}

func (r *result) of(cache string) *int {
	switch cache {
	case "exact":
		return &r.Exact
	case "semantic":
		return &r.Semantic
	case "miss":
		return &r.Miss
	}
	return &r.No
}

func quantile(v []float64, q float64) float64 {
	if len(v) == 0 {
		return 0
	}
	v = slices.Sorted(slices.Values(v))
	return v[min(int(q*float64(len(v))), len(v)-1)]
}
