package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"reprise/internal/enginesim"
)

// several is a proxy in this process in front of several engines.
type several struct {
	*service
	t       *testing.T
	engines map[string]*enginesim.Engine
	api     *httptest.Server
}

// newSeveral starts engines with these names, and a proxy in front of them. Settings may name them as {NAME}, which is the URL.
func newSeveral(t *testing.T, names []string, settings ...string) *several {
	t.Helper()
	s := &several{t: t, engines: map[string]*enginesim.Engine{}}
	var list, replace []string
	for _, name := range names {
		s.engines[name] = enginesim.New(enginesim.Options{Models: []string{enginesim.AnyModel}})
		server := httptest.NewServer(s.engines[name])
		t.Cleanup(server.Close)
		list = append(list, name+"={"+name+"}")
		replace = append(replace, "{"+name+"}", server.URL+"/v1")
	}
	environ := append([]string{"REPRISE_STORE=memory", "REPRISE_UPSTREAM=" + strings.Join(list, ",")}, settings...)
	for i := range environ {
		environ[i] = strings.NewReplacer(replace...).Replace(environ[i])
	}
	s.service = inProcess(t, io.Discard, environ...)
	s.api = httptest.NewServer(s.proxy.Handler())
	t.Cleanup(func() {
		s.api.Close()
		s.close(0)
	})
	return s
}

// chat sends the turns of a conversation, a user's first, and returns the answer and the upstream that Cache-Status names.
func (s *several) chat(system string, turns []string) (answer, from string) {
	s.t.Helper()
	messages := []map[string]string{{"role": "system", "content": system}}
	for i, text := range turns {
		messages = append(messages, map[string]string{"role": [2]string{"user", "assistant"}[i%2], "content": text})
	}
	body, err := json.Marshal(map[string]any{"model": "m", "messages": messages})
	if err != nil {
		s.t.Fatal(err)
	}
	resp, err := http.Post(s.api.URL+"/v1/chat/completions", "application/json", bytes.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	var got struct {
		Choices []struct{ Message struct{ Content string } }
	}
	if err != nil || resp.StatusCode != http.StatusOK || json.Unmarshal(raw, &got) != nil || len(got.Choices) != 1 {
		s.t.Fatalf("%v: %d %s", err, resp.StatusCode, raw)
	}
	status := resp.Header.Get("Cache-Status")
	_, from, _ = strings.Cut(status, "upstream=")
	from, _, _ = strings.Cut(strings.Trim(from, `"`), ";")
	return got.Choices[0].Message.Content, from
}

// TestConversationsStay: with the environment alone, requests are spread over two engines, and each conversation stays at the one that has its
// prefix.
func TestConversationsStay(t *testing.T) {
	s := newSeveral(t, []string{"a", "b"})
	used := map[string]int{}
	for c := range 24 { // by chance all are at one of them once in eight million times
		system := strings.Repeat(fmt.Sprintf("You serve customer %d with care. ", c), 60)
		var turns []string
		first := ""
		for turn := range 5 {
			turns = append(turns, fmt.Sprintf("What is step %d of order %d-%d?", turn, c, turn))
			answer, from := s.chat(system, turns)
			if turn == 0 {
				first = from
				used[from]++
			}
			if from != first || s.engines[from] == nil {
				t.Errorf("conversation %d: turn %d was answered by %q, the first by %q", c, turn, from, first)
			}
			turns = append(turns, answer)
		}
	}
	if len(used) != 2 {
		t.Errorf("conversations by upstream: %v", used)
	}
}

// TestSeveralShowWhatTheyHold: the metrics have what the upstreams report of their caches, the admin API the upstreams, and a purge the names
// after it.
func TestSeveralShowWhatTheyHold(t *testing.T) {
	s := newSeveral(t, []string{"a", "b"})
	system, turns := strings.Repeat("You serve one customer with care. ", 60), []string{"What is step 1?"}
	for range 3 {
		answer, _ := s.chat(system, turns)
		turns = append(turns, answer, "And then?")
	}
	ask := func(method, path, body string) string {
		t.Helper()
		w := httptest.NewRecorder()
		r := httptest.NewRequest(method, "http://localhost"+path, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		s.admin.ServeHTTP(w, r)
		if w.Code != http.StatusOK {
			t.Errorf("%s %s: %d %s", method, path, w.Code, w.Body)
		}
		return w.Body.String()
	}
	metrics := ask(http.MethodGet, "/metrics", "")
	for _, want := range []string{`reprise_upstream_health{state="up",upstream="a"} 1`, `reprise_upstream_in_flight{upstream="b"} 0`, "reprise_prefix_predicted_vs_cached_count 3",
		`reprise_prefix_parted_total{class="`} {
		if !strings.Contains(metrics, want) {
			t.Errorf("the metrics lack %s", want)
		}
	}
	cached := 0.0
	for line := range strings.Lines(metrics) {
		if rest, ok := strings.CutPrefix(line, "reprise_upstream_cached_tokens_total{"); ok {
			var n float64
			_, value, _ := strings.Cut(rest, "} ")
			fmt.Sscan(value, &n)
			cached += n
		}
	}
	if cached == 0 {
		t.Error("no upstream has reported cached tokens")
	}
	if got := ask(http.MethodPost, "/admin/upstreams/a/drain", ""); !strings.Contains(got, `"health": "draining"`) {
		t.Errorf("after a drain: %s", got)
	}
	if got := ask(http.MethodGet, "/admin/prefixes", ""); !strings.Contains(got, `"kind": "conversation"`) {
		t.Errorf("prefixes: %s", got)
	}
	ask(http.MethodGet, "/admin/alignment", "")
	first := ask(http.MethodPost, "/admin/purge", `{"all":true,"dry_run":false}`)
	if !strings.Contains(first, `"unsalted": [`) || first == ask(http.MethodPost, "/admin/purge", `{"all":true,"dry_run":false}`) {
		t.Errorf("a purge: %s", first)
	}
}

// TestExplainShowsUpstreams: explain shows what each upstream should hold of a prefix, and does not change it.
func TestExplainShowsUpstreams(t *testing.T) {
	s := newSeveral(t, []string{"a", "b"}, "REPRISE_ADMIN_TOKEN=sesame-open")
	system := strings.Repeat("You serve one customer with care. ", 60)
	_, from := s.chat(system, []string{"What is step 1?"})
	for range 2 {
		body := fmt.Sprintf(`{"model":"m","messages":[{"content":%q,"role":"system"},{"content":"Another question","role":"user"}]}`, system)
		req, _ := http.NewRequest(http.MethodPost, s.api.URL+"/v1/reprise/explain", strings.NewReader(body))
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("X-Reprise-Admin-Token", "sesame-open")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		var got struct {
			Upstreams []struct {
				Name   string
				Cached int `json:"predicted_cached_tokens"`
			}
		}
		err = json.NewDecoder(resp.Body).Decode(&got)
		resp.Body.Close()
		if err != nil || len(got.Upstreams) != 2 {
			t.Fatalf("%v: %+v", err, got)
		}
		for _, u := range got.Upstreams {
			if u.Cached > 0 != (u.Name == from) {
				t.Errorf("%s answered, and %s should hold %d tokens", from, u.Name, u.Cached)
			}
		}
	}
}
