package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"reprise/internal/built"
	"reprise/internal/redistest"
)

// models is a server of /v1/embeddings. Its models are named after the length of their vectors, and prompts have one direction for each first
// word.
type models struct {
	url     string
	granted string       // the setting by which scopes are trusted
	held    atomic.Bool  // it does not answer
	texts   atomic.Int64 // so far
	other   atomic.Int64 // the length of its vectors instead of that of the model; 0: none

	mu    sync.Mutex     // protects asked
	asked map[string]int // how often for each text
}

func newModels(t *testing.T) *models {
	m := &models{asked: map[string]int{}, granted: built.Granted(t)}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked struct {
			Model string
			Input []string
		}
		dim := 0
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || m.held.Load() {
			http.Error(w, "not now", http.StatusServiceUnavailable)
			return
		}
		fmt.Sscan(asked.Model, &dim)
		dim = cmp.Or(int(m.other.Load()), dim)
		m.count(asked.Input)
		var rows []string
		for i, text := range asked.Input {
			v := make([]float32, dim)
			for _, c := range strings.Fields(text)[0] {
				v[int(c)%dim]++
			}
			numbers, _ := json.Marshal(v)
			rows = append(rows, fmt.Sprintf(`{"object":"embedding","index":%d,"embedding":%s}`, i, numbers))
		}
		m.texts.Add(int64(len(rows)))
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"object":"list","model":%q,"data":[%s]}`, asked.Model, strings.Join(rows, ","))
	}))
	t.Cleanup(srv.Close)
	m.url = srv.URL + "/v1"
	return m
}

func (m *models) count(texts []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, text := range texts {
		m.asked[text]++
	}
}

// times is how often a vector of text was asked for.
func (m *models) times(text string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.asked[text]
}

// env are the settings of an embedder of so many dimensions.
func (m *models) env(dim string) []string {
	return []string{"REPRISE_EMBEDDER=openai:" + m.url, "REPRISE_EMBEDDER_MODEL=" + dim, m.granted}
}

// logged waits for a message, unless it came before the start line.
func (p *process) logged(msg string) {
	p.t.Helper()
	if !strings.Contains(p.Logs(), msg) {
		p.waitFor(msg)
	}
}

// lacking is how many entries wait for a vector, by the admin API.
func (p *process) lacking() int {
	p.t.Helper()
	return p.stat("entries_without_vector")
}

// firstWords are first words of prompts: entries of one are found by meaning from a prompt that begins with it.
var firstWords = []string{"Describe", "Summarise", "Outline", "Sketch", "Portray", "Characterise", "Illustrate", "Depict"}

// TestAnotherEmbedder: after a restart with another embedder every answer is there for its request at once, and by meaning once its vector is
// computed; a kill in between loses nothing of either.
func TestAnotherEmbedder(t *testing.T) {
	m, up := newModels(t), newEngine(t)
	env := append([]string{"REPRISE_STORE=file:" + filepath.Join(t.TempDir(), "a.db"), up.setting}, m.env("64")...)
	p := start(t, env...)
	for _, word := range firstWords {
		p.cached(prompt(word + " the taste of fresh bread."))
	}
	if n := p.lacking(); n != 0 {
		t.Errorf("%d entries without a vector", n)
	}
	p.stop()

	env = append(env, m.env("128")...)
	m.held.Store(true)
	p = start(t, env...)
	p.logged("entries have no vectors of this embedder: they answer their exact requests, and are found by meaning once their vectors are computed, which begins now")
	p.exact(t)
	if n := p.lacking(); n != len(firstWords) {
		t.Errorf("%d entries without a vector while the embedder is down", n)
	}
	p.Process.Kill()
	p.end()

	m.held.Store(false)
	p = start(t, env...)
	if p.entries != float64(len(firstWords)) {
		t.Errorf("%v entries after a kill", p.entries)
	}
	p.exact(t)
	p.logged("all entries have vectors of this embedder")
	if n := p.lacking(); n != 0 {
		t.Errorf("%d entries without a vector in the end", n)
	}
	for _, word := range firstWords {
		if got := p.finds(prompt(word + " the flavor of newly baked bread.")); got != "semantic" {
			t.Errorf("%s by meaning: %s", word, got)
		}
	}
	p.stop()

	before := m.texts.Load()
	p = start(t, env...)
	if n, asked := p.lacking(), m.texts.Load()-before; n != 0 || asked > 1 { // one is asked at the start, for the length
		t.Errorf("%d entries without a vector after another restart, %d texts embedded", n, asked)
	}
}

// exact checks that the answers are there.
func (p *process) exact(t *testing.T) {
	t.Helper()
	for _, word := range firstWords {
		if got := p.finds(prompt(word + " the taste of fresh bread.")); got != "exact" {
			t.Errorf("%s: %s", word, got)
		}
	}
}

// TestAnotherEmbedderOfSeveral: proxies on one Redis get another embedder one after the other: each has all answers at any time, and finds by
// meaning what the others have stored.
func TestAnotherEmbedderOfSeveral(t *testing.T) {
	server, m, up := redistest.Start(t, redistest.Options{}), newModels(t), newEngine(t)
	env := func(dim string) []string {
		return append([]string{"REPRISE_STORE=redis://" + server.Addr, up.setting}, m.env(dim)...)
	}
	one, two := start(t, env("64")...), start(t, env("64")...)
	for _, word := range firstWords {
		one.cached(prompt(word + " the taste of fresh bread."))
	}
	built.Until(t, "the answer at the other proxy", func() bool { return two.finds(prompt(firstWords[7]+" the taste of fresh bread.")) == "exact" })
	two.exact(t)
	two.stop()

	two = start(t, env("128")...)
	two.exact(t)
	one.exact(t)
	built.Until(t, "all vectors", func() bool { return two.lacking() == 0 })
	if n := one.lacking(); n != 0 {
		t.Errorf("%d entries lack a vector in the proxy with the former embedder", n)
	}
	two.cached(prompt("Recall the taste of fresh bread."))
	for _, p := range []*process{one, two} {
		built.Until(t, "a hit by meaning", func() bool { return p.finds(prompt("Recall the flavor of newly baked bread.")) == "semantic" })
	}

	one.stop()
	texts := m.texts.Load()
	one = start(t, env("128")...)
	one.exact(t)
	if n, asked := one.lacking(), m.texts.Load()-texts; n != 0 || asked > 1 {
		t.Errorf("%d entries lack a vector although another proxy has computed them, %d texts embedded", n, asked)
	}
}
