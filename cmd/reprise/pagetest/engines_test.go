package pagetest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"reprise/internal/built"
	"reprise/internal/enginesim"
	"reprise/internal/redistest"
)

// answer is what the admin API has at a path.
func (p *process) answer(t *testing.T, path string, to any) {
	t.Helper()
	resp, err := http.Get(p.Admin + path)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(to); err != nil {
		t.Fatal(path, err)
	}
}

// replica is an engine that refuses cache_salt for the models that its name is part of, and holds requests with the word hold until the end of the
// test.
func replica(t *testing.T, name string) string {
	engine, end := enginesim.New(enginesim.Options{Models: []string{enginesim.AnyModel}}), make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		switch {
		case bytes.Contains(body, []byte(`"model":"not-at-`+name)) && bytes.Contains(body, []byte("cache_salt")):
			http.Error(w, `{"detail":[{"loc":["body","cache_salt"],"msg":"Extra inputs are not permitted"}]}`, http.StatusBadRequest)
			return
		case bytes.Contains(body, []byte(`"content":"hold `)): // a salt may have these letters, too
			<-end
		}
		engine.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	t.Cleanup(func() { close(end) })
	return s.URL
}

// TestReplicas opens the view of engines behind several of them, under load: one is dead, one refuses a hint, and an operator drains one.
func TestReplicas(t *testing.T) {
	dead := httptest.NewServer(nil)
	dead.Close()
	option := ";dialect=vllm;version=0.29;salt"
	p := serve(t, "REPRISE_TENANT_FROM=none", "REPRISE_UPSTREAM=gpu-east-1="+replica(t, "east")+"/v1"+option+
		",gpu-west-1="+replica(t, "west")+"/v1"+option+";models=llama-3.3-70b-instruct>llama|not-at-west|not-at-east;capacity=400000,gpu-spare="+dead.URL+"/v1"+option)
	for c := range 6 {
		system := strings.Repeat(fmt.Sprintf("You serve customer %d with care. ", c), 60)
		for turn := range 4 {
			p.ask(t, "llama-3.3-70b-instruct", system+fmt.Sprintf("What is step %d of order %d?", turn, c))
		}
	}
	built.Until(t, "a refused hint", func() bool {
		p.ask(t, "not-at-west", fmt.Sprint("Which one is it? ", time.Now()))
		p.ask(t, "not-at-east", fmt.Sprint("Which one is it? ", time.Now()))
		var list struct {
			Upstreams []struct {
				Health string
				Hints  []struct {
					Models int `json:"left_out_models"`
				}
			}
		}
		p.answer(t, "/admin/upstreams", &list)
		for _, h := range list.Upstreams[1].Hints {
			if h.Models > 0 && list.Upstreams[2].Health != "up" {
				return true
			}
		}
		return false
	})
	for i := range 3 {
		go func() {
			if resp, err := http.Post(p.API+"/v1/chat/completions", "application/json", strings.NewReader(fmt.Sprintf(`{"model":"llama-3.3-70b-instruct","messages":[{"role":"user","content":"hold %d"}]}`, i))); err == nil {
				resp.Body.Close()
			}
		}()
	}
	script(t, "engines", map[string]any{"site": p.Admin, "name": "replicas"}, nil)
}

// TestShared opens the view of engines where two proxies share a Redis, and when that is away.
func TestShared(t *testing.T) {
	server, upstream := redistest.Start(t, redistest.Options{}), engine(t)
	env := []string{upstream, "REPRISE_TENANT_FROM=none", "REPRISE_STORE=redis://" + server.Addr}
	a, b := serve(t, env...), serve(t, env...)
	members := func(p *process) (n int) {
		var state struct {
			State   string
			Members []any
		}
		if p.answer(t, "/admin/shared", &state); state.State != "shared" {
			return 0
		}
		return len(state.Members)
	}
	built.Until(t, "both members", func() bool { return members(a) == 2 && members(b) == 2 })
	a.fill(t)
	b.fill(t)
	script(t, "engines", map[string]any{"site": a.Admin, "name": "shared"}, func(ask string) string {
		server.Kill()
		return "done"
	})
}
