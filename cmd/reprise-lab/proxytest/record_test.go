package proxytest

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"reprise/cmd/reprise-lab/internal/semantic"
	"reprise/cmd/reprise-lab/sim"
	"reprise/cmd/reprise-lab/sim/trace"
	"reprise/embed"
	"reprise/internal/built"
	"reprise/internal/enginesim"
	"reprise/policy"
	"reprise/proxy/cache"
	"reprise/topics"
	"reprise/topics/reuse"
	"reprise/topics/reuse/evidence"
)

func TestMain(m *testing.M) {
	code := m.Run()
	built.Remove()
	os.Exit(code)
}

// recorded sends requests to a proxy that writes a request log, ends it, and returns the log, and which requests were hits.
func recorded(t *testing.T, name string, n int) (log *sim.Slice, hits []bool) {
	t.Helper()
	engine := httptest.NewServer(enginesim.New(enginesim.Options{Models: []string{enginesim.AnyModel}}))
	defer engine.Close()
	path := filepath.Join(t.TempDir(), "log")
	// Nothing is explored, which is decided at random.
	p := built.Start(t, "REPRISE_UPSTREAM="+engine.URL+"/v1", "REPRISE_STORE=memory", "REPRISE_RECORD="+path, "REPRISE_CAPACITY_ENTRIES=60",
		"REPRISE_MAX_ERROR_RATE=0", built.Granted(t), "REPRISE_LOG_PROMPTS=true", "REPRISE_POLICY="+name)
	hits = chatter(t, p.API, n)
	if !p.Stop(time.Minute) {
		t.Fatal(p.Logs())
	}
	in, err := trace.Open(path, trace.Auto)
	if err != nil {
		t.Fatal(err)
	}
	log = &sim.Slice{Title: path}
	for q, err := range in.Requests() {
		if err != nil {
			t.Fatal(err)
		}
		log.All = append(log.All, q)
	}
	return log, hits
}

// chatter sends n requests in conversations of up to four turns, of which some repeat earlier ones, in the same words or in others.
func chatter(t *testing.T, api string, n int) (hits []bool) {
	rng := rand.New(rand.NewPCG(7, 1))
	for len(hits) < n {
		script, messages := min(rng.IntN(40), rng.IntN(40), rng.IntN(40)), ""
		for turn := range 1 + script%4 {
			subject := strings.Fields("whales trains bread rivers violins glaciers tulips bridges comets kites")[script%10]
			text := fmt.Sprintf([]string{
				"Tell me how %s came to be what they are in the old towns of the north, part %d",
				"What do people who like %s read about them in winter, chapter %d?",
				"List the best places to see %s in the year %d",
				"And why is that so of %s, number %d?",
			}[(script/10+turn)%4], subject, script)
			if rng.IntN(4) == 0 {
				text = strings.ToLower(text) + "!"
			}
			messages += fmt.Sprintf(`{"role":"user","content":%q}`, text)
			answer, from := ask(t, api, `{"model":"m","messages":[`+messages+`]}`)
			hits = append(hits, from == "exact" || from == "semantic")
			messages += fmt.Sprintf(`,{"role":"assistant","content":%q},`, answer)
			if len(hits) == n || rng.IntN(12) == 0 {
				break
			}
		}
	}
	return hits
}

// ask returns the text of an answer and its source (X-Cache).
func ask(t *testing.T, api, body string) (text, from string) {
	t.Helper()
	r, err := http.Post(api+"/v1/chat/completions", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	raw, err := io.ReadAll(r.Body)
	var answer struct {
		Choices []struct{ Message struct{ Content string } }
	}
	if err == nil {
		err = json.Unmarshal(raw, &answer)
	}
	if err != nil || len(answer.Choices) == 0 {
		t.Fatalf("%d: %s, %v", r.StatusCode, raw, err)
	}
	return answer.Choices[0].Message.Content, r.Header.Get("X-Cache")
}

// spy records the verdicts of a Player.
type spy struct {
	sim.Player
	hits []bool
}

func (s *spy) Play(q *sim.Request, at policy.Tick) (bool, int, error) {
	hit, evicted, err := s.Player.Play(q, at)
	s.hits = append(s.hits, hit)
	return hit, evicted, err
}

// byMeaning replays a log with the requests model.
func byMeaning(t *testing.T, log *sim.Slice, name string, labels semantic.Labels) []bool {
	t.Helper()
	gates := embed.NewBuiltin().Thresholds()
	model := semantic.New(semantic.Options{Labels: labels, Judge: func(rates *evidence.Rates) cache.Judge { return &reuse.Judge{Words: true, Rates: rates} },
		Topics: topics.Options{Dim: embed.NewBuiltin().Dim(), Hit: gates.Hit, Route: gates.Route, Edge: gates.Edge}})
	var spies []*spy
	spied := func(e policy.Evictor, l policy.Limit) (sim.Player, error) {
		p, err := model(e, l)
		spies = append(spies, &spy{Player: p})
		return spies[len(spies)-1], err
	}
	full, err := semantic.Load(t.Context(), log, embed.NewBuiltin(), func(int64, int64) {})
	if err != nil {
		t.Fatal(err)
	}
	o := sim.Options{Policies: []string{name}, Capacities: []sim.Capacity{{Entries: 60}}, Model: spied}
	if _, err := sim.Replay(t.Context(), full, o); err != nil {
		t.Fatal(err)
	}
	return spies[0].hits
}

// TestLogReplays: a replay of a proxy's log has the hits of the proxy: by identity, by meaning with the topics of the log, and by meaning with
// topics of its own.
func TestLogReplays(t *testing.T) {
	for _, name := range []string{"rac", "rac+", "lru"} {
		t.Run(name, func(t *testing.T) {
			log, want := recorded(t, name, 600)
			n := 0
			for _, hit := range want {
				if hit {
					n++
				}
			}
			if n < 150 || n > 500 || len(log.All) != len(want) {
				t.Fatalf("%d hits of %d, %d in the log", n, len(want), len(log.All))
			}
			byID, err := sim.Replay(t.Context(), log, sim.Options{Policies: []string{name}, Capacities: []sim.Capacity{{Entries: 60}}})
			if err != nil || byID[0].Hits != int64(n) {
				t.Errorf("ids: %d hits, %v; want %d", byID[0].Hits, err, n)
			}
			compare(t, "given topics", byMeaning(t, log, name, semantic.Given), want)
			compare(t, "routed topics", byMeaning(t, log, name, semantic.Routed), want)
		})
	}
}

func compare(t *testing.T, how string, got, want []bool) {
	t.Helper()
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%s: request %d was a hit: %v, want %v", how, i+1, got[i], want[i])
			return
		}
	}
}
