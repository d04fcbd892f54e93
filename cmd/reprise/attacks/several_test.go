package attacks_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// takeOne returns the only request since the last take; health checks are none.
func (u *witness) takeOne(t *testing.T) seen {
	t.Helper()
	calls := slices.DeleteFunc(u.take(), func(c seen) bool { return c.method != http.MethodPost })
	if len(calls) != 1 {
		t.Fatalf("the upstream got %+v", calls)
	}
	return calls[0]
}

// TestCredentialsStayAtTheirProvider is line 29 of the list in SECURITY.md: a fallback at another host gets its own key and nothing of a client's,
// and without a key the program does not start.
func TestCredentialsStayAtTheirProvider(t *testing.T) {
	t.Parallel()
	var first, second witness
	url := func(setting string) string { return strings.TrimPrefix(setting, "REPRISE_UPSTREAM=") }
	a := url(upstream(t, func(w http.ResponseWriter, r *http.Request) {
		first.note(r)
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	text := echo()
	b := url(upstream(t, func(w http.ResponseWriter, r *http.Request) {
		second.note(r)
		text(w, r)
	}))
	list := "REPRISE_UPSTREAM=a=" + a + ",b=" + b + ";fallback"
	for _, more := range [][]string{nil, {"REPRISE_UPSTREAM_KEY=sk-of-the-first"}} {
		if _, err := tryStart(t, append(more, list)...); err == nil || !strings.Contains(err.Error(), "upstream b: a fallback on a host of its own needs key-env or key-file") {
			t.Errorf("%q: %v", more, err)
		}
	}
	if _, err := tryStart(t, list+";key-env=SECOND", "SECOND=sk-of-the-second", "REPRISE_LISTEN=0.0.0.0:0"); err == nil || !strings.Contains(err.Error(), "REPRISE_CLIENT_KEYS") {
		t.Errorf("beyond loopback: %v", err)
	}
	p := start(t, list+";key-env=SECOND", "SECOND=sk-of-the-second")
	r := p.Do(http.MethodPost, p.API+"/v1/chat/completions?api_key=client-query", chat("a question"), "Authorization", "Bearer client-secret", "Cookie", "c=client-cookie",
		"X-Api-Key", "client-other")
	if r.Status != http.StatusOK || !strings.Contains(r.Header.Get("Cache-Status"), "upstream=b") {
		t.Fatalf("%d %s %s", r.Status, r.Header.Get("Cache-Status"), r.Body)
	}
	if c := first.takeOne(t); c.key != "Bearer client-secret" || strings.Contains(fmt.Sprint(c.header, c.path), "sk-of-the-second") {
		t.Errorf("the first upstream got %+v", c)
	}
	if c := second.takeOne(t); strings.Contains(fmt.Sprint(c.header, c.path), "client-") || c.key != "Bearer sk-of-the-second" {
		t.Errorf("the second upstream got %+v", c)
	}
}

// TestPurgeChangesNames is line 30 of the list in SECURITY.md: after a purge, a tenant has another salt at an upstream; before, and over a restart,
// it has the same, and never that of another tenant.
func TestPurgeChangesNames(t *testing.T) {
	t.Parallel()
	var got witness
	text := echo()
	setting := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		got.note(r)
		text(w, r)
	}) + ";dialect=vllm;version=0.29;salt"
	file := "REPRISE_STORE=file:" + filepath.Join(t.TempDir(), "answers.db")
	p := start(t, setting, file)
	asked := 0
	salt := func(tenant string) string {
		t.Helper()
		asked++
		p.ask(fmt.Sprintf("question %d of many words", asked), "Authorization", "Bearer "+tenant)
		var sent struct {
			Salt string `json:"cache_salt"`
		}
		if c := got.takeOne(t); json.Unmarshal([]byte(c.body), &sent) != nil || sent.Salt == "" {
			t.Fatalf("request %d: %s", asked, c.body)
		}
		return sent.Salt
	}
	generation := func(r reply) string {
		t.Helper()
		var reply struct {
			Hints struct {
				Generation json.Number
				Durable    bool
				Salted     []string
			}
		}
		if err := json.Unmarshal([]byte(r.Body), &reply); err != nil || !reply.Hints.Durable || len(reply.Hints.Salted) != 1 {
			t.Fatalf("%v: %s", err, r.Body)
		}
		return reply.Hints.Generation.String()
	}
	first, other := salt("one"), salt("two")
	if first == other || first != salt("one") {
		t.Error("two tenants have one salt, or one tenant has two")
	}
	before := generation(p.purge(`{"tenant":"all","dry_run":false}`))
	second := salt("one")
	if second == first || second == other {
		t.Error("a purge has not changed the salt")
	}
	p.Kill()
	p = start(t, setting, file)
	if salt("one") != second {
		t.Error("a restart has changed the salt")
	}
	if after := generation(p.purge(`{"all":true,"dry_run":false}`)); after == before {
		t.Errorf("two purges have the generation %s", after)
	}
	if s := salt("one"); s == second || s == first {
		t.Error("the second purge has not changed the salt")
	}
}
