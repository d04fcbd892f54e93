package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/tidwall/gjson"

	"reprise/internal/built"
	"reprise/internal/redistest"
)

// constant is an upstream that gives every request the same answer.
func constant(t *testing.T) (setting string) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"id":"a","object":"chat.completion","created":1,"model":"gpt-4o-mini","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"The same answer for all."}}],"usage":{"prompt_tokens":5,"completion_tokens":5,"total_tokens":10}}`)
	}))
	t.Cleanup(srv.Close)
	return "REPRISE_UPSTREAM=" + srv.URL + "/v1"
}

// compared is how many answers were compared with the upstream's, by the admin API.
func (p *process) compared() int {
	p.t.Helper()
	return p.stat("reuse.error.compared")
}

// stat is a number of GET /admin/stats, by its path.
func (p *process) stat(path string) int {
	p.t.Helper()
	stats := p.get("/admin/stats")
	n := gjson.Get(stats, path)
	if n.Type != gjson.Number {
		p.t.Fatalf("no %s in %s", path, stats)
	}
	return int(n.Int())
}

// compare makes n answers be compared: in shadow mode every one that would be reused is.
func (p *process) compare(n int) {
	p.t.Helper()
	before := p.compared()
	p.cached(prompt("What is the tallest tree of the garden?"))
	for i := range n {
		p.cached(prompt([]string{"Hello, what", "Quick question: what", "What"}[i%3] + " is the tallest tree of the garden? Thank you!"))
	}
	built.Until(p.t, "the comparisons", func() bool { return p.compared() == before+n })
}

// TestEvidenceSurvives: what was compared is counted on after a restart, and after a kill, without that of the last half-minute at most.
func TestEvidenceSurvives(t *testing.T) {
	env := []string{"REPRISE_STORE=file:" + filepath.Join(t.TempDir(), "a.db"), constant(t), built.Granted(t), "REPRISE_MODE=shadow"}
	p := start(t, env...)
	p.compare(3)
	p.stop()
	p = start(t, env...)
	if n := p.compared(); n != 3 {
		t.Errorf("%d comparisons after a restart, want 3", n)
	}
	p.Process.Kill()
	p.end()
	if n := start(t, env...).compared(); n != 3 {
		t.Errorf("%d comparisons after a kill, want 3", n)
	}
}

// TestEvidenceOfSeveral: proxies on one Redis count what each of them compares, and one that starts counts on from that.
func TestEvidenceOfSeveral(t *testing.T) {
	server := redistest.Start(t, redistest.Options{})
	env := []string{"REPRISE_STORE=redis://" + server.Addr, constant(t), built.Granted(t), "REPRISE_MODE=shadow"}
	one, two := start(t, env...), start(t, env...)
	one.awaitShared()
	two.awaitShared()
	one.compare(3)
	built.Until(t, "the other proxy to count", func() bool { return two.compared() == 3 })
	for _, p := range []*process{one, two} {
		p.stop()
	}
	if n := start(t, env...).compared(); n != 3 {
		t.Errorf("%d comparisons after a restart of all, want 3", n)
	}
}
