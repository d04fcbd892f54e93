package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"reprise/internal/built"
	"reprise/internal/redistest"
	"reprise/proxy/api/apitest"
)

// replies is an upstream that has the reply of each case in the form in which it came, and none in the other form. The credential of a request
// names the case.
func replies(t *testing.T, all []apitest.Case) string {
	byName := map[string]apitest.Case{}
	for _, c := range all {
		byName[c.Name] = c
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := byName[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
		body, _ := io.ReadAll(r.Body)
		if streams(c, string(body)) != streams(c, c.Request) {
			http.Error(w, `{"error":{"message":"not in this form"}}`, http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", c.ContentType)
		io.WriteString(w, c.Body)
	}))
	t.Cleanup(srv.Close)
	return "REPRISE_UPSTREAM=" + srv.URL + "/v1"
}

// streams reports whether a request asks for a stream; Ollama streams unless it is asked not to.
func streams(c apitest.Case, request string) bool {
	in := struct{ Stream bool }{strings.HasPrefix(c.Path, "/api/")}
	_ = json.Unmarshal([]byte(request), &in)
	return in.Stream
}

// otherForm is the request of a case for its answer in the other form.
func otherForm(t *testing.T, c apitest.Case) string {
	t.Helper()
	var in map[string]any
	if err := json.Unmarshal([]byte(c.Request), &in); err != nil {
		t.Fatal(err)
	}
	stream := !streams(c, c.Request)
	in["stream"] = stream
	delete(in, "stream_options")
	if stream && strings.HasSuffix(c.Path, "completions") {
		in["stream_options"] = map[string]any{"include_usage": true}
	}
	b, _ := json.Marshal(in)
	return string(b)
}

// blank returns a document, or each document of a stream, without ids and times, which a hit has new ones of.
func blank(body string) (documents []any) {
	for line := range strings.Lines(body) {
		line = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "data:"))
		var v any
		if json.Unmarshal([]byte(line), &v) == nil {
			documents = append(documents, blanked(v))
		} else if line != "" {
			documents = append(documents, line)
		}
	}
	return documents
}

func blanked(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = blanked(v[i])
		}
	case map[string]any:
		for name := range v {
			switch name {
			case "id", "item_id", "call_id", "created", "created_at", "completed_at":
				v[name] = nil
			default:
				v[name] = blanked(v[name])
			}
		}
	}
	return v
}

// TestCasesAreServed: each recorded reply that is kept is a hit in the form in which it came, and in the other form where that says the same; the
// others are none. So it is in memory, after a restart with a file, and at another proxy on the same Redis.
func TestCasesAreServed(t *testing.T) {
	all := apitest.Cases(t, "../../proxy/answer/testdata/cases")
	upstream := replies(t, all)
	for name, store := range map[string]func(t *testing.T) string{
		"memory": func(*testing.T) string { return "memory" },
		"file":   func(t *testing.T) string { return "file:" + filepath.Join(t.TempDir(), "answers.db") },
		"redis":  func(t *testing.T) string { return "redis://" + redistest.Start(t, redistest.Options{}).Addr },
	} {
		t.Run(name, func(t *testing.T) {
			setting := "REPRISE_STORE=" + store(t)
			p := start(t, setting, upstream)
			if name == "redis" {
				p.awaitShared()
			}
			other, last := map[string]string{}, ""
			for _, c := range all {
				if keeps(c) {
					last = c.Name
				}
				first := p.asCase(c, c.Request)
				if first.Body != c.Body {
					t.Errorf("%s: the first client got\n%s", c.Name, first.Body)
				}
				other[c.Name] = p.checkCase(t, c, "")
			}
			if name == "memory" {
				return
			}
			q := p
			if name == "file" {
				p.stop()
				q = start(t, setting, upstream)
			} else {
				q = start(t, setting, upstream)
				q.awaitShared()
				built.Until(t, "the last answer at the other proxy", func() bool {
					c := all[slices.IndexFunc(all, func(c apitest.Case) bool { return c.Name == last })]
					return q.asCase(c, c.Request).Cache == "exact"
				})
			}
			for _, c := range all {
				if keeps(c) {
					q.checkCase(t, c, other[c.Name])
				}
			}
		})
	}
}

func keeps(c apitest.Case) bool { return c.Kept == "yes" || c.Kept == "tool-calls" }

func (p *process) asCase(c apitest.Case, body string) (r struct{ Body, Cache, Why string }) {
	p.t.Helper()
	got := p.do(http.MethodPost, p.API+c.Path, body, "Authorization", "Bearer "+c.Name)
	r.Body, r.Cache, r.Why = got.Body, got.Cache(), got.Header.Get("Cache-Status")
	return r
}

// checkCase checks a reply that the proxy has seen. It returns its other form, which must be want unless that is "".
func (p *process) checkCase(t *testing.T, c apitest.Case, want string) string {
	t.Helper()
	again := p.asCase(c, c.Request)
	if hit := again.Cache == "exact"; hit != keeps(c) {
		t.Errorf("%s: %s (%s), and it is kept: %s", c.Name, again.Cache, again.Why, c.Kept)
		return ""
	}
	if !keeps(c) {
		return ""
	}
	if !reflect.DeepEqual(blank(again.Body), blank(c.Body)) && !strings.HasPrefix(c.Name, "sse-") {
		t.Errorf("%s: the next client got\n%s\nwant\n%s", c.Name, again.Body, c.Body)
	}
	if c.Other == "" {
		return ""
	}
	other := p.asCase(c, otherForm(t, c))
	if hit := other.Cache == "exact"; hit == (c.Other == "none") {
		t.Errorf("%s: the other form is %s (%s)\n%s", c.Name, other.Cache, other.Why, other.Body)
		return ""
	}
	if want != "" && !reflect.DeepEqual(blank(other.Body), blank(want)) {
		t.Errorf("%s: the other form is\n%s\nand was\n%s", c.Name, other.Body, want)
	}
	return other.Body
}
