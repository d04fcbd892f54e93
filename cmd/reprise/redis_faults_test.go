package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"reprise/internal/built"
	"reprise/internal/redistest"
)

// purgeAll purges everything.
const purgeAll = `{"all":true,"dry_run":false}`

// purge purges, and returns the status and the error's text.
func (p *process) purge(what string) (status int, message string) {
	p.t.Helper()
	r := p.do(http.MethodPost, p.Admin+"/admin/purge", what)
	return r.Status, gjson.Get(r.Body, "error.message").Str
}

// purges purges everything, until that is confirmed: a machine that is busy for a second can keep Redis from answering in time.
func (p *process) purges() {
	p.t.Helper()
	built.Until(p.t, "a purge to be confirmed", func() bool { status, _ := p.purge(purgeAll); return status == http.StatusOK })
}

// TestPurgeWithoutRedis: a purge that cannot be sent is a 503 that says so. It is sent when Redis is back, before anything is served there.
func TestPurgeWithoutRedis(t *testing.T) {
	server, up := redistest.Start(t, redistest.Options{AppendOnly: true}), newEngine(t)
	env := []string{"REPRISE_STORE=redis://" + server.Addr, up.setting}
	a, b := start(t, env...), start(t, env...)
	shares(t, a, b, question)
	server.Kill()
	if status, message := a.purge(purgeAll); status != http.StatusServiceUnavailable || !strings.Contains(message, "shared store") {
		t.Errorf("%d %s", status, message)
	}
	server.Restart()
	a.purges()
	if b.has(question) {
		t.Error("the purged answer is served at the other")
	}
	a.stop()
	b.stop()
}

// TestPurgeHoldsWhereCutOff: line 26 of the list in SECURITY.md. A proxy that has an answer at hand and is cut off from Redis does not serve it
// once a purge at another proxy is answered with 200.
func TestPurgeHoldsWhereCutOff(t *testing.T) {
	server, up := redistest.Start(t, redistest.Options{}), newEngine(t)
	net := redistest.NewProxy(t, server.Addr)
	a, b := start(t, "REPRISE_STORE=redis://"+server.Addr, up.setting), start(t, "REPRISE_STORE=redis://"+net.Addr, up.setting)
	shares(t, a, b, question)
	for _, fault := range []func(){net.Hold, net.Cut} {
		fault()
		a.purges()
		if b.has(question) {
			t.Error("the purged answer is served")
		}
		net.Heal()
		shares(t, a, b, question)
	}
	a.stop()
	b.stop()
}

// purgeEntry purges an entry so that it can be taken back, and returns what does that.
func (p *process) purgeEntry(entry string) (undo func() built.Reply) {
	p.t.Helper()
	purged := p.do(http.MethodPost, p.Admin+"/admin/purge", fmt.Sprintf(`{"entry":%s,"dry_run":false,"undo":true}`, entry))
	return func() built.Reply {
		return p.do(http.MethodPost, p.Admin+"/admin/purge/undo", fmt.Sprintf(`{"undo":%q}`, gjson.Get(purged.Body, "undo").Str))
	}
}

// entryOf is the number of the entry of the question.
func (p *process) entryOf() string {
	p.t.Helper()
	return gjson.Get(p.get("/admin/entries?limit=1"), "entries.0.id").Raw
}

// TestUndoAcross: line 5 of the list in SECURITY.md. What one proxy has put back is served by the other, except where a purge of that has named it: a
// proxy that is cut off from Redis meanwhile, and has not read it, puts nothing back.
func TestUndoAcross(t *testing.T) {
	server, up := redistest.Start(t, redistest.Options{}), newEngine(t)
	net := redistest.NewProxy(t, server.Addr)
	a, b := start(t, "REPRISE_STORE=redis://"+server.Addr, up.setting), start(t, "REPRISE_STORE=redis://"+net.Addr, up.setting)
	built.Until(t, "an undo", func() bool { // which is refused where the machine was busy for a second
		shares(t, a, b, question)
		return b.purgeEntry(b.entryOf())().Status == http.StatusOK
	})
	built.Until(t, "the answer at the other", func() bool { return a.has(question) })
	for _, named := range []string{purgeAll, `{"entry":%s,"dry_run":false}`} {
		shares(t, a, b, question)
		entry := b.entryOf()
		undo := b.purgeEntry(entry)
		net.Hold()
		if strings.Contains(named, "%s") {
			named = fmt.Sprintf(named, entry)
		}
		built.Until(t, "a purge to be confirmed", func() bool {
			status, _ := a.purge(named)
			return status == http.StatusOK
		})
		if r := undo(); r.Status == http.StatusOK || b.has(question) {
			t.Errorf("after %s: undo: %d %s", named, r.Status, r.Body)
		}
		net.Heal()
		b.awaitShared()
		if a.has(question) || b.has(question) {
			t.Errorf("after %s: the purged answer is back", named)
		}
	}
	a.stop()
	b.stop()
}

// TestStartWithFrozenRedis: a server that accepts connections and answers nothing does not hang the start; it is joined when it answers.
func TestStartWithFrozenRedis(t *testing.T) {
	server, up := redistest.Start(t, redistest.Options{}), newEngine(t)
	env := []string{"REPRISE_STORE=redis://" + server.Addr, up.setting}
	server.Freeze()
	a := start(t, env...)
	if status, body := a.ready(); status != http.StatusOK || !strings.Contains(body, "redis: away") || !strings.Contains(a.Logs(), "cannot be reached") {
		t.Errorf("readyz: %d %s; the log:\n%s", status, body, a.Logs())
	}
	if first, again := a.cached(question), a.cached(question); first != "miss" || again != "exact" {
		t.Errorf("without Redis: %s, then %s", first, again)
	}
	server.Thaw()
	a.waitFor("shared store: answers are shared")
	b := start(t, env...)
	shares(t, a, b, prompt("What is shared after the start?"))
	a.stop()
	b.stop()
}

// TestStopWithoutRedis: a stop does not wait for a server that accepts connections and answers nothing.
func TestStopWithoutRedis(t *testing.T) {
	server, up := redistest.Start(t, redistest.Options{}), newEngine(t)
	a := start(t, "REPRISE_STORE=redis://"+server.Addr, up.setting)
	server.Freeze()
	for i := range 3 {
		a.cached(prompt(fmt.Sprintf("Question %d?", i)))
	}
	a.stop()
	if !strings.Contains(a.Logs(), "stopped before everything was in the shared store") {
		t.Errorf("the log:\n%s", a.Logs())
	}
}

// TestRedisDiffersLater: a proxy that has started without its Redis and then finds another secret there stays alone, and reports it.
func TestRedisDiffersLater(t *testing.T) {
	server, up := redistest.Start(t, redistest.Options{AppendOnly: true}), newEngine(t)
	env := []string{"REPRISE_STORE=redis://" + server.Addr, up.setting}
	a := start(t, append(env, "REPRISE_SECRET=a-secret-of-this-cache")...)
	a.cached(question)
	a.stop()
	server.Kill()
	b := start(t, append(env, "REPRISE_SECRET=another-secret-altogether")...)
	server.Restart()
	line := b.waitFor("the shared store does not accept this proxy, which goes on alone")
	if text := fmt.Sprint(line); !strings.Contains(text, "REPRISE_SECRET") || strings.Contains(text, "altogether") {
		t.Errorf("the log: %v", line)
	}
	if first, again := b.cached(question), b.cached(question); first != "miss" || again != "exact" {
		t.Errorf("alone: %s, then %s", first, again)
	}
	b.stop()
}

// TestWhyWithoutRedis: the miss of a request whose answer is kept, while Redis is away, says so; one in other words too.
func TestWhyWithoutRedis(t *testing.T) {
	server, up := redistest.Start(t, redistest.Options{}), newEngine(t)
	env := []string{"REPRISE_STORE=redis://" + server.Addr, up.setting, built.Granted(t)}
	a, b := start(t, env...), start(t, env...)
	const asked, alike = "Which river flows through the old town of Bern and where does it end?", "which river flows through the old town of Bern and where does it end"
	shares(t, a, b, prompt(asked))
	server.Kill()
	for p, body := range map[*process]string{a: prompt(asked), b: prompt(alike)} {
		var got string
		built.Until(t, "the answer not to be served any more", func() bool {
			resp := p.ask(body)
			got = resp.Header.Get("Cache-Status")
			_ = resp.Body.Close()
			return resp.Header.Get("X-Cache") == "miss"
		})
		if !strings.Contains(got, "why=degraded:fetch") {
			t.Errorf("%s: %s", body, got)
		}
	}
	a.stop()
	b.stop()
}
