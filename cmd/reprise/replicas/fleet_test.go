package replicas_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// fleet is some proxies on one Redis, with one upstream behind them.
type fleet struct {
	t    testing.TB
	up   *engine
	env  []string
	urls []string // of the store, by replica

	fresh atomic.Int64 // numbers prompts that were not asked before

	witness witness
	servers []any // that the witness asks

	mu       sync.Mutex // guards what follows
	replicas []*process
	started  int // processes so far
	asks     []*ask
	purges   []*purge
	cuts     []cut
}

// ask is one request and its answer.
type ask struct {
	question
	replica    int
	process    string // that answered
	start, end time.Time
	reply
	err  error
	text string
}

// question is what a client asks.
type question struct {
	tenant, namespace, prompt string
	stream                    bool
}

// purge is a purge of a namespace; "" is all.
type purge struct {
	replica    int
	namespace  string
	start, end time.Time
	status     int
	everywhere time.Time // when all replicas had it, of one that was not durable at its end
}

// cut is a time in which a replica had no Redis.
type cut struct {
	replica  int
	from, to time.Time // to is zero while it lasts
}

// newFleet starts a replica for each URL of the store. They start together, as behind a load balancer.
func newFleet(t testing.TB, urls []string, env ...string) *fleet {
	t.Helper()
	f := &fleet{t: t, up: newEngine(t), env: env, urls: urls, replicas: make([]*process, len(urls)), witness: witness{late: map[any][]*span{}}}
	var starting []*process
	for i := range urls {
		starting = append(starting, f.launch(i))
	}
	for i, p := range starting {
		f.await(i, p)
	}
	f.witnessed()
	return f
}

// launch starts a process for a replica.
func (f *fleet) launch(i int) *process {
	f.t.Helper()
	f.mu.Lock()
	f.started++
	name := fmt.Sprint("process-", f.started)
	f.mu.Unlock()
	return launch(f.t, name, append([]string{"REPRISE_STORE=" + f.urls[i], f.up.setting(name)}, f.env...)...)
}

// await waits until a process serves, which is the replica then.
func (f *fleet) await(i int, p *process) {
	f.t.Helper()
	if err := p.AwaitReady(); err != nil {
		f.t.Fatal(err)
	}
	p.listening()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.replicas[i] = p
}

// again starts a replica whose process has ended.
func (f *fleet) again(i int) { f.await(i, f.launch(i)) }

// listening waits until the first load of the entries is over.
func (p *process) listening() {
	p.t.Helper()
	eventually(p.t, "the replica is ready", func() bool {
		r, err := p.Try(context.Background(), http.MethodGet, p.Admin+"/readyz", "")
		return err == nil && r.Status == http.StatusOK
	})
}

func (f *fleet) replica(i int) *process {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.replicas[i]
}

func (f *fleet) size() int { return len(f.urls) }

// ask sends one question to a replica and records the answer; header has names and values in turns.
func (f *fleet) ask(i int, q question, header ...string) *ask {
	return f.askWithin(context.Background(), i, q, header...)
}

// askWithin is ask for a client that leaves when ctx ends: that is not recorded.
func (f *fleet) askWithin(ctx context.Context, i int, q question, header ...string) *ask {
	p := f.replica(i)
	header = append(header, "Authorization", q.tenant)
	if q.namespace != "" {
		header = append(header, "X-Reprise-Namespace", q.namespace)
	}
	body := fmt.Sprintf(`{"model":"m","stream":%v,"messages":[{"role":"user","content":%s}]}`, q.stream, quoted(q.prompt))
	a := &ask{question: q, replica: i, process: p.name, start: time.Now()}
	a.reply, a.err = p.Try(ctx, http.MethodPost, p.API+"/v1/chat/completions", body, header...)
	a.end = time.Now()
	if a.err != nil && (p.gone.Load() || ctx.Err() != nil) {
		return a // it was killed
	}
	a.text, _ = textOf(a.Body)
	f.mu.Lock()
	f.asks = append(f.asks, a)
	f.mu.Unlock()
	return a
}

// cached asks for an answer that the replica has, nil for none.
func (f *fleet) cached(i int, q question) *ask {
	if a := f.ask(i, q, "Cache-Control", "only-if-cached"); a.err == nil && a.Status == http.StatusOK {
		return a
	}
	return nil
}

// everywhere reports whether all replicas have an answer.
func (f *fleet) everywhere(q question) bool {
	for i := range f.size() {
		if f.cached(i, q) == nil {
			return false
		}
	}
	return true
}

// result is the value of X-Cache: exact, semantic, miss and so on.
func (a *ask) result() string { return a.Header.Get("X-Cache") }

func (a *ask) String() string {
	if a == nil {
		return "no answer"
	}
	return fmt.Sprintf("status %d, X-Cache %q, %q, error %v", a.Status, a.result(), a.text, a.err)
}

// hit reports whether the answer was stored, or shared with a request that was under way.
func (a *ask) hit() bool {
	return a.Status == http.StatusOK && slices.Contains([]string{"exact", "semantic", "shared", "stale"}, a.result())
}

// purge sends a purge to a replica until it is durable, and records each attempt. An empty namespace purges all. One that is not durable is a
// fault of the replica, unless that has no Redis or the machine was late; then it is repeated, as its answer says.
func (f *fleet) purge(i int, namespace string) *purge {
	for end := time.Now().Add(limit); ; {
		p := f.replica(i)
		u, body, err := f.purgeOnce(i, p, namespace)
		notYet := u.status == http.StatusServiceUnavailable
		switch {
		case u.status == http.StatusOK, notYet && f.wasCut(i, u.start), err != nil && p.gone.Load():
			return u
		case notYet && f.lateFor(u.start.Add(-time.Second), u.end, i) > 0 && time.Now().Before(end):
			continue
		}
		f.t.Errorf("purge at replica %d, which took %v: %d %s %v", i, u.end.Sub(u.start), u.status, body, err)
		return u
	}
}

// purgeOnce sends one purge. Without an answer its status is 0: it may have been made.
func (f *fleet) purgeOnce(i int, p *process, namespace string) (u *purge, answer string, err error) {
	body := `{"all":true,"dry_run":false}`
	if namespace != "" {
		body = `{"namespace":` + quoted(namespace) + `,"dry_run":false}`
	}
	u = &purge{replica: i, namespace: namespace, start: time.Now()}
	r, err := p.Try(context.Background(), http.MethodPost, p.Admin+"/admin/purge", body)
	u.end = time.Now()
	if err == nil {
		u.status = r.Status
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.purges = append(f.purges, u)
	return u, r.Body, err
}

// cutOff records that these replicas have no Redis from now on, until rejoined.
func (f *fleet) cutOff(replicas ...int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, i := range replicas {
		f.cuts = append(f.cuts, cut{replica: i, from: time.Now()})
	}
}

// rejoined waits until an answer of each replica is a hit at all others, and reports how long that took. A replica applies what the others
// did in the order of the log, so it then has all of their earlier purges too.
func (f *fleet) rejoined() time.Duration {
	f.t.Helper()
	begin := time.Now()
	for i := range f.size() {
		f.sharedFrom(i)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	for k := range f.cuts {
		if f.cuts[k].to.IsZero() {
			f.cuts[k].to = now
		}
	}
	for _, u := range f.purges {
		if u.status == http.StatusServiceUnavailable && u.everywhere.IsZero() {
			u.everywhere = now
		}
	}
	return now.Sub(begin)
}

// sharedFrom waits until answers that replica i stores are hits at all replicas. A purge of another client may remove one.
func (f *fleet) sharedFrom(i int) {
	f.t.Helper()
	eventually(f.t, fmt.Sprint("answers of replica ", i, " are shared"), func() bool {
		q := f.freshQuestion("Bearer sk-probe")
		if a := f.ask(i, q); a.err != nil || a.Status != http.StatusOK {
			return false
		}
		for end := time.Now().Add(2 * time.Second); time.Now().Before(end); time.Sleep(3 * time.Millisecond) {
			if f.everywhere(q) {
				return true
			}
		}
		return false
	})
}

// wasCut reports whether a replica had no Redis at a moment since then.
func (f *fleet) wasCut(i int, since time.Time) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.ContainsFunc(f.cuts, func(c cut) bool { return c.replica == i && (c.to.IsZero() || c.to.After(since)) })
}

// allCut reports whether no replica has Redis.
func (f *fleet) allCut() bool {
	for i := range f.size() {
		if !f.wasCut(i, time.Now()) {
			return false
		}
	}
	return true
}

// freshQuestion is one that was not asked before, in a namespace that is not purged alone.
func (f *fleet) freshQuestion(tenant string) question {
	return question{tenant: tenant, prompt: fmt.Sprintf("How tall is the canary statue number %d?", f.fresh.Add(1))}
}

// stats is GET /admin/stats of a replica.
func (p *process) stats() (s struct{ Entries, Bytes int }) {
	r, err := p.Try(context.Background(), http.MethodGet, p.Admin+"/admin/stats", "")
	if err != nil {
		return s
	}
	_ = json.Unmarshal([]byte(r.Body), &s) // of a process that ends
	return s
}

// group is equal for prompts that may share an answer.
func group(prompt string) string { return strings.ToLower(strings.TrimRight(prompt, "?")) }
