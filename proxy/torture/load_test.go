package torture

import (
	"bufio"
	"context"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/tidwall/gjson"
)

// load is how much is asked: clients at one time, and requests of each.
type load struct {
	clients, each int
	leave         int           // one in so many leaves early; 0: one in ten
	patience      time.Duration // a client that leaves does so within this time; default 30 ms
	quiet         bool          // no purges
}

// run lets clients ask until each has asked its number, while entries are purged and the capacity is watched.
func (w *world) run(phase uint64, l load) {
	ctx, stop := context.WithCancel(context.Background())
	var clients, others sync.WaitGroup
	for i := range l.clients {
		clients.Go(func() {
			rng := rand.New(rand.NewPCG(w.seed, phase<<32+uint64(i)))
			for range l.each {
				w.client1(rng, l)
			}
		})
	}
	others.Go(func() { w.watch(ctx) })
	if !l.quiet {
		others.Go(func() { w.purges(ctx, rand.New(rand.NewPCG(w.seed, phase<<32+1<<20))) })
	}
	clients.Wait()
	stop()
	others.Wait()
}

// client1 asks one thing.
func (w *world) client1(rng *rand.Rand, l load) {
	q := newQuestion(rng)
	leave, patience := l.leave, l.patience
	if leave == 0 {
		leave = 10
	}
	if patience == 0 {
		patience = 30 * time.Millisecond
	}
	var after time.Duration
	if rng.IntN(leave) == 0 {
		after = time.Duration(1 + rng.Int64N(int64(patience)))
	}
	w.ask(q, after)
}

// ask sends q and records what came back; a client with after > 0 leaves then.
func (w *world) ask(q question, after time.Duration) *ask {
	ctx := context.Background()
	a := w.h.asked(q)
	if after > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, after)
		defer cancel()
		a.aborted = true
	}
	a.began = time.Now()
	body, err := w.post(ctx, a)
	a.took = time.Since(a.began)
	a.received(body)
	a.end, a.err = w.h.tick(), err
	return a
}

func (w *world) post(ctx context.Context, a *ask) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.api+"/v1/chat/completions", strings.NewReader(a.body()))
	if err != nil {
		panic(err) // a mistake in this test
	}
	req.Header = a.question.header(a.n)
	resp, err := w.client.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	a.seen(resp)
	b, err := io.ReadAll(resp.Body)
	return string(b), err
}

func (a *ask) seen(resp *http.Response) {
	a.status, a.cache, a.age, a.cacheNote = resp.StatusCode, resp.Header.Get("X-Cache"), resp.Header.Get("Age"), resp.Header.Get("Cache-Status")
}

// purges removes entries now and then.
func (w *world) purges(ctx context.Context, rng *rand.Rand) {
	for w.sleep(ctx, time.Duration(5+rng.IntN(40))*time.Millisecond) {
		switch rng.IntN(3) {
		case 0:
			w.purge(purge{}, `{"all":true,"dry_run":false}`)
		case 1:
			m := models[rng.IntN(len(models))]
			w.purge(purge{model: m}, `{"model":"`+m+`","dry_run":false}`)
		case 2:
			w.purge(purge{namespace: "red"}, `{"namespace":"red","dry_run":false}`)
		}
	}
}

func (w *world) sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// purge removes what body names, and records it if the proxy has confirmed it.
func (w *world) purge(p purge, body string) purge {
	p.start = w.h.tick()
	_, p.status = w.adminCall(http.MethodPost, "/admin/purge", body)
	p.end = w.h.tick()
	w.h.purged(p)
	return p
}

// adminCall calls the admin API; status 0 is no answer.
func (w *world) adminCall(method, path, body string) (string, int) {
	req, err := http.NewRequest(method, w.admin+path, strings.NewReader(body))
	if err != nil {
		panic(err) // a mistake in this test
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer canary-admin-token")
	resp, err := w.client.Do(req)
	if err != nil {
		return "", 0
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return "", 0
	}
	return string(b), resp.StatusCode
}

// watch notes the highest use of the capacity.
func (w *world) watch(ctx context.Context) {
	for w.sleep(ctx, 5*time.Millisecond) {
		body, status := w.adminCall(http.MethodGet, "/admin/stats", "")
		if status == http.StatusOK {
			w.h.mu.Lock()
			w.h.peak = max(w.h.peak, gjson.Get(body, "bytes").Int())
			w.h.mu.Unlock()
		}
	}
}

// settle waits until nothing is under way, and takes the figures of the end from the admin API.
func (w *world) settle() {
	w.t.Helper()
	eventually(w.t, "the upstream has no call", func() bool { return w.up.active.Load() == 0 })
	w.h.texts["the log"] = w.log.String()
	if !w.over && !w.alive() {
		text := w.log.String()
		w.t.Errorf("the process of the proxy has ended:\n%s", text[max(0, len(text)-2000):])
		w.over = true
	}
	if w.over {
		return
	}
	answered := 0.0
	for _, a := range w.h.asks {
		if a.status != 0 {
			answered++
		}
	}
	w.readMetrics()
	if !w.u.recounts {
		// A request whose client has left ends when it likes: a page that is read meanwhile can have its time and not yet its count.
		eventually(w.t, "all requests are counted and timed", func() bool {
			w.readMetrics()
			counted := w.h.sum("reprise_requests_total{")
			return counted >= answered && counted == w.h.sum("reprise_request_duration_seconds_count{")
		})
	}
	w.readEntries()
}

// sum returns the sum of the metrics whose names begin with prefix.
func (h *history) sum(prefix string) (sum float64) {
	for name, v := range h.metrics {
		if strings.HasPrefix(name, prefix) {
			sum += v
		}
	}
	return sum
}

func (w *world) readMetrics() {
	body, status := w.adminCall(http.MethodGet, "/metrics", "")
	if status != http.StatusOK {
		w.t.Errorf("metrics: status %d", status)
		return
	}
	w.h.metrics = map[string]float64{}
	for line := range strings.Lines(body) {
		if i := strings.LastIndexByte(strings.TrimSpace(line), ' '); i > 0 && line[0] != '#' {
			w.h.metrics[line[:i]], _ = strconv.ParseFloat(strings.TrimSpace(line[i:]), 64)
		}
	}
	w.h.texts["the metrics"] = body
}

// readEntries reads every stored answer by the admin API.
func (w *world) readEntries() {
	body, status := w.adminCall(http.MethodGet, "/admin/entries?limit=100000", "")
	if status != http.StatusOK {
		w.t.Errorf("entries: status %d", status)
		return
	}
	for _, e := range gjson.Get(body, "entries").Array() {
		s := stored{id: e.Get("id").Int(), life: e.Get("expires").Time().Sub(e.Get("created").Time())}
		one, status := w.adminCall(http.MethodGet, "/admin/entries/"+e.Get("id").String(), "")
		switch status {
		case http.StatusOK:
			s.form = formOf(gjson.Get(one, "answer").String()) // a stream that has no object is a text
		case http.StatusNotFound: // it has expired or was evicted meanwhile
			continue
		default:
			s.err = one
		}
		w.h.entries = append(w.h.entries, s)
	}
}

// reader is a client that reads the first event of a stream and waits.
type reader struct {
	*ask
	leave context.CancelFunc
	first error
	ended chan struct{}
}

// open asks for a stream in the background and returns when its first event is here; finished waits for its end.
func (w *world) open(q question) *reader {
	ctx, cancel := context.WithCancel(context.Background())
	r := &reader{ask: w.h.asked(q), leave: cancel, ended: make(chan struct{})}
	first := make(chan error, 1)
	go func() {
		defer close(r.ended)
		req, _ := http.NewRequestWithContext(ctx, http.MethodPost, w.api+"/v1/chat/completions", strings.NewReader(q.body()))
		req.Header = q.header(r.n)
		r.began = time.Now()
		resp, err := w.client.Do(req)
		var body strings.Builder
		if err == nil {
			defer resp.Body.Close()
			r.seen(resp)
			br := bufio.NewReader(resp.Body)
			line, lineErr := br.ReadString('\n')
			body.WriteString(line)
			first <- lineErr
			if err = lineErr; err == nil {
				_, err = io.Copy(&body, br)
			}
		} else {
			first <- err
		}
		r.took = time.Since(r.began)
		r.received(body.String())
		r.err, r.end = err, w.h.tick()
	}()
	r.first = <-first
	return r
}

// checkFlight: clients with one question share one call; those who leave cancel nothing for the others, and the last one
// cancels the call. Where the upstream has a limit that a busy machine has used up meanwhile, that shows nothing, and it is done again.
func (w *world) checkFlight(r *report) {
	for end := time.Now().Add(time.Minute); ; {
		began, found := time.Now(), newReport()
		w.flight(found)
		if w.u.limit == 0 || time.Since(began) < w.u.limit || time.Now().After(end) {
			r.add(found)
			return
		}
	}
}

func (w *world) flight(r *report) {
	ask := func() question {
		return question{tenant: tenants[0], model: models[0], prompt: w.freshPrompt(), stream: true}
	}
	q := ask()
	release := w.up.holds.hold(q.prompt)
	var all []*reader
	for range 4 {
		all = append(all, w.open(q))
	}
	r.check("I5", w.up.holds.calls(q.prompt) == 1, "4 clients with one question made %d calls", w.up.holds.calls(q.prompt))
	all[0].aborted, all[2].aborted = true, true
	all[0].leave() // the one that started the call
	<-all[0].ended
	all[2].leave()
	<-all[2].ended
	release()
	for _, i := range []int{1, 3} {
		<-all[i].ended
		r.check("I6", all[i].err == nil && all[i].form.whole, "client %d of a flight that others left: %v, %q", i, all[i].err, all[i].head)
		all[i].leave()
	}
	q = ask()
	release = w.up.holds.hold(q.prompt)
	defer release()
	two := []*reader{w.open(q), w.open(q)}
	for _, x := range two {
		x.aborted = true
		x.leave()
		<-x.ended
	}
	r.check("I6", eventually(w.t, "the call that all have left is cancelled", func() bool { return w.up.active.Load() == 0 }), "the call of a flight that all have left goes on")
}

// checkHealed: a fresh question is answered by the upstream, and its repetition by the cache.
func (w *world) checkHealed(r *report) {
	ok := eventually(w.t, "the proxy works again", func() bool {
		if !w.alive() {
			return true
		}
		q := question{tenant: tenants[0], model: models[0], prompt: w.freshPrompt()}
		first := w.ask(q, 0)
		return first.status == 200 && first.cache == "miss" && w.ask(q, 0).cache == "exact"
	})
	r.check("I1", ok, "after the fault a question is not answered, or its answer is not kept")
}

// checkMeaning: a paraphrase of a fresh question is answered by meaning.
func (w *world) checkMeaning(r *report) {
	ok := eventually(w.t, "paraphrases are found again", func() bool {
		q := question{tenant: tenants[0], model: models[0], prompt: w.freshPrompt()}
		first := w.ask(q, 0)
		q.prompt = strings.ToLower(strings.TrimSuffix(q.prompt, "?"))
		ok := first.cache == "miss" && w.ask(q, 0).cache == "semantic"
		if !ok {
			time.Sleep(20 * time.Millisecond)
		}
		return ok
	})
	r.check("I8", ok, "after the fault no paraphrase is found by meaning")
}

// notes are the parameters of Cache-Status.
func (a *ask) notes() []string { return strings.Split(a.cacheNote, "; ") }
