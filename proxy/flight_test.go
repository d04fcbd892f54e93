package proxy

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"reprise/proxy/api/registry"
)

// stage is an upstream that a test controls: it reports each request, and answers by the next function of script.
type stage struct {
	arrived chan *http.Request
	script  chan func(http.ResponseWriter)
	asked   atomic.Int64
	left    chan struct{} // one for each request whose caller left before its answer
}

func newStage() *stage {
	return &stage{arrived: make(chan *http.Request, 100), script: make(chan func(http.ResponseWriter), 100), left: make(chan struct{}, 100)}
}

func (s *stage) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.asked.Add(1)
	io.Copy(io.Discard, r.Body)
	s.arrived <- r
	select {
	case f := <-s.script:
		f(w)
	case <-r.Context().Done():
		s.left <- struct{}{}
	}
}

// answers is a step of a script: the answer upstreamReply.
func answers(w http.ResponseWriter) { instantUpstream(w, &http.Request{Body: http.NoBody}) }

// start asks for a chat answer, which comes later.
func (r *rig) start(body string, header ...string) <-chan reply {
	done := make(chan reply, 1)
	go func() {
		got, _ := r.try("/v1/chat/completions", body, header...) // an error is status 0
		done <- got
	}()
	return done
}

// leaving asks for a chat answer until leave is called; gone gets the error of the end.
func (r *rig) leaving(t testing.TB, body string) (leave func(), gone <-chan error) {
	ctx, leave := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		req, _ := http.NewRequestWithContext(ctx, "POST", r.api.URL+"/v1/chat/completions", strings.NewReader(body))
		req.Header = http.Header{"Content-Type": {"application/json"}, "Authorization": {"Bearer sk-test"}}
		resp, err := r.api.Client().Do(req)
		if err == nil {
			resp.Body.Close()
		}
		ended <- err
	}()
	return leave, ended
}

// within receives from c. Its time limit bounds a hang; it is no measure of speed.
func within[T any](t testing.TB, c <-chan T, what string) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(2 * time.Minute):
		t.Fatalf("timeout while waiting for %s", what)
		panic("unreachable")
	}
}

// eventually polls until ok. Its time limit bounds a hang too.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	tick, end := time.NewTicker(time.Millisecond), time.After(2*time.Minute)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-end:
			t.Fatalf("timeout while waiting for %s", what)
		}
	}
}

// counted waits until n requests are counted, which happens after their last bytes are sent.
func (r *rig) counted(t testing.TB, n int64) Stats {
	t.Helper()
	eventually(t, fmt.Sprint(n, " requests to be counted"), func() bool { return r.Stats().Requests >= n })
	return r.Stats()
}

// waiters waits until n requests wait for flights.
func (r *rig) waiters(t testing.TB, n int) {
	t.Helper()
	eventually(t, fmt.Sprint(n, " waiters"), func() bool {
		_, got := r.flights.Count()
		return got == n
	})
}

// TestBurstIsOneRequest: equal requests at one time are one upstream call, and every one gets its answer.
func TestBurstIsOneRequest(t *testing.T) {
	up := newStage()
	r := newRigAt(t, nil, up)
	const n = 20
	replies := make(chan reply, n)
	for i := range n {
		body := chat(capital)
		if i%2 == 1 {
			body = chat(capital, `"stream":true`) // some want the other form
		}
		go func() {
			got, err := r.try("/v1/chat/completions", body)
			if err != nil {
				t.Error(err)
			}
			replies <- got
		}()
	}
	within(t, up.arrived, "the upstream call")
	r.waiters(t, n)
	up.script <- func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Set-Cookie", "session=the leader's")
		w.Write(upstreamReply)
	}
	results, forms := map[string]int{}, map[string]int{}
	for range n {
		got := within(t, replies, "an answer")
		results[got.cache()]++
		if got.cache() == "shared" {
			forms[strings.TrimSuffix(got.header.Get("Content-Type"), "; charset=utf-8")]++
		}
		if own := got.header.Get("Set-Cookie") != ""; own != (got.cache() == "miss") {
			t.Errorf("%s: has the leader's cookie: %v", got.cache(), own)
		}
		if !strings.Contains(got.body, "All work and no play.") {
			t.Errorf("%d %s", got.status, got.body)
		}
		if got.cache() == "shared" && got.header.Get("Cache-Status") != "reprise; fwd=uri-miss; collapsed; stored" {
			t.Errorf("Cache-Status %q", got.header.Get("Cache-Status"))
		}
	}
	if up.asked.Load() != 1 || results["miss"] != 1 || results["shared"] != n-1 {
		t.Errorf("%d upstream calls, results %v", up.asked.Load(), results)
	}
	if forms["text/event-stream"] < n/2-1 || forms["application/json"] < n/2-1 {
		t.Errorf("followers got %v", forms)
	}
}

// TestFlightLooksAgain: an answer that was stored between a request's lookup and its flight is served.
func TestFlightLooksAgain(t *testing.T) {
	r := newRig(t)
	r.ask(t, "/v1/chat/completions", chat(capital))
	req := httptest.NewRequest("POST", "/v1/chat/completions", strings.NewReader(chat(capital)))
	req.Header = http.Header{"Content-Type": {"application/json"}, "Authorization": {"Bearer sk-test"}}
	c := r.ids.count(req.Header, new(few))
	x := &work{s: r.Server, w: httptest.NewRecorder(), r: request{s: r.Server, http: req, family: registry.APIs.ByPath("/v1/chat/completions"),
		d: Directives{MaxAge: -1}, mem: unlimited()}}
	if err := x.read(&c); err != nil {
		t.Fatal(err)
	}
	f := r.flights.Solo()
	x.find(f)
	if o, err := f.Outcome(); err != nil || o.served == nil || o.served.result != Exact {
		t.Errorf("outcome %+v, %v", o, err)
	}
}

// open starts a streaming request and returns its reader after the header has come.
func (r *rig) open(t testing.TB, ctx context.Context, body string) (*bufio.Reader, *http.Response) {
	t.Helper()
	req, _ := http.NewRequestWithContext(ctx, "POST", r.api.URL+"/v1/chat/completions", strings.NewReader(body))
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer sk-test")
	resp, err := r.api.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return bufio.NewReader(resp.Body), resp
}

func event(text string) string {
	return `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"gpt-4o","choices":[{"index":0,"delta":{"content":"` + text + `"},"finish_reason":null}]}` + "\n\n"
}

const lastEvents = `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"gpt-4o","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n" + usageEvent + "data: [DONE]\n\n"

// usageEvent is the event that clients see who ask for usage.
const usageEvent = `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"gpt-4o","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":2}}` + "\n\n"

// TestLateFollowerReadsFromTheStart: a request that joins a stream gets the same bytes, from the first.
func TestLateFollowerReadsFromTheStart(t *testing.T) {
	up, step := newStage(), make(chan string)
	r := newRigAt(t, nil, up)
	up.script <- writesEach("text/event-stream", step)
	body := chat(capital, `"stream":true`)
	ctx := context.Background()
	opened := make(chan *bufio.Reader)
	go func() { in, _ := r.open(t, ctx, body); opened <- in }()
	step <- event("one")
	leader := within(t, opened, "the leader's header")
	if line, err := leader.ReadString('\n'); err != nil || !strings.Contains(line, "one") {
		t.Fatalf("leader read %q, %v", line, err)
	}
	follower, resp := r.open(t, ctx, body)
	if got := resp.Header.Get("X-Cache"); got != "shared" {
		t.Fatalf("X-Cache %q", got)
	}
	step <- event("two")
	step <- lastEvents
	close(step)
	rest, err := io.ReadAll(follower)
	if err != nil || streamedText(string(rest)) != "onetwo" {
		t.Errorf("follower read %q, %v", rest, err)
	}
	if up.asked.Load() != 1 {
		t.Errorf("%d upstream calls", up.asked.Load())
	}
}

// TestClientLeavesAtDone: clients close a stream at [DONE]; the answer is complete even if the upstream has not closed it.
func TestClientLeavesAtDone(t *testing.T) {
	up := newStage()
	r := newRigAt(t, nil, up)
	hold := make(chan struct{})
	defer close(hold)
	up.script <- func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, event("one")+lastEvents)
		w.(http.Flusher).Flush()
		<-hold
	}
	ctx, leave := context.WithCancel(context.Background())
	in, _ := r.open(t, ctx, chat(capital, `"stream":true`))
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(line, "data: [DONE]") {
			break
		}
	}
	leave()
	r.waiters(t, 0)
	wait, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := r.Wait(wait); err != nil {
		t.Fatal(err)
	}
	if st := r.counted(t, 1); st.Misses != 1 || st.Errors != 0 {
		t.Errorf("stats %+v", st)
	}
	if got := r.ask(t, "/v1/chat/completions", chat(capital)); got.cache() != "exact" || got.content(t) != "one" {
		t.Errorf("afterwards: %s %s", got.cache(), got.body)
	}
}

// TestCutBehindTheEnd: an answer is complete if the connection breaks after the terminal event.
func TestCutBehindTheEnd(t *testing.T) {
	r := newRigAt(t, nil, http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, event("one")+lastEvents)
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}))
	if got, err := r.try("/v1/chat/completions", chat(capital, `"stream":true`)); err != nil || streamedText(got.body) != "one" {
		t.Errorf("%q, %v", got.body, err)
	}
	if got := r.ask(t, "/v1/chat/completions", chat(capital)); got.cache() != "exact" {
		t.Errorf("afterwards: %s", got.cache())
	}
}

// TestPrivateFlights: a request with directives does not share its flight.
func TestPrivateFlights(t *testing.T) {
	up := newStage()
	r := newRigAt(t, nil, up)
	done := make(chan reply, 2)
	for _, h := range []string{"User-Agent: none", "Cache-Control: no-store"} {
		go func() { got, _ := r.try("/v1/chat/completions", chat(capital), h); done <- got }()
		within(t, up.arrived, "an upstream call of its own for "+h)
	}
	for range 2 {
		up.script <- answers
	}
	for range 2 {
		if got := within(t, done, "an answer"); got.cache() != "miss" {
			t.Errorf("X-Cache %s", got.cache())
		}
	}
}

// TestPurgeReachesFlights: a request after a purge does not join a flight that began before it, whose answer is not stored.
func TestPurgeReachesFlights(t *testing.T) {
	up := newStage()
	r := newRigAt(t, nil, up)
	before := r.start(chat(capital))
	within(t, up.arrived, "the first call")
	r.call(t, "POST", "/admin/purge", `{"all":true,"dry_run":false}`)
	up.script <- answers
	if got := within(t, before, "the answer"); got.status != 200 || !strings.Contains(status(got), "not-stored=purged") || r.Stats().Entries != 0 {
		t.Errorf("%d %s, %d entries", got.status, status(got), r.Stats().Entries)
	}
	before = r.start(chat(capital))
	within(t, up.arrived, "the second call")
	r.call(t, "POST", "/admin/purge", `{"all":true,"dry_run":false}`)
	after := r.start(chat(capital))
	within(t, up.arrived, "a call of its own for the third")
	for range 2 {
		up.script <- answers
	}
	for _, one := range []<-chan reply{before, after} {
		if got := within(t, one, "an answer"); got.status != 200 || got.cache() != "miss" {
			t.Errorf("%d %s", got.status, got.cache())
		}
	}
}

// TestClosed: after Close an exact hit is still answered, a request for the upstream is a 503, and neither holds memory.
func TestClosed(t *testing.T) {
	r := newRig(t)
	r.ask(t, "/v1/chat/completions", chat(capital))
	r.Close()
	if got := r.ask(t, "/v1/chat/completions", chat(capital)); got.cache() != "exact" {
		t.Errorf("%d %s", got.status, got.body)
	}
	got := r.ask(t, "/v1/chat/completions", chat("What is the boiling point of water?"))
	if got.status != 503 || !strings.Contains(got.body, "shutting_down") {
		t.Errorf("%d %s", got.status, got.body)
	}
	r.counted(t, 3)
	eventually(t, "the memory to be given back", func() bool { used := r.budget.Used(); return used["bodies"] == 0 && used["recordings"] == 0 })
}

// TestReloadKeepsTheKindOfKey: an upstream key is replaced, but none is added or removed while requests are under way.
func TestReloadKeepsTheKindOfKey(t *testing.T) {
	for _, c := range []struct {
		before, after string
		ok            bool
	}{{"", "", true}, {"a", "b", true}, {"", "b", false}, {"a", "", false}} {
		r := newRig(t, func(o *Options) { o.UpstreamKey = c.before })
		o := r.opts
		o.UpstreamKey = c.after
		if err := r.Reload(o); (err == nil) != c.ok {
			t.Errorf("from %q to %q: %v", c.before, c.after, err)
		}
	}
}
