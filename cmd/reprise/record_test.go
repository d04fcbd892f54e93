package main

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"reprise/cmd/internal/semantic"
	"reprise/cmd/reprise/internal/config"
	"reprise/embed"
	"reprise/internal/enginesim"
	"reprise/policy"
	"reprise/policy/sim"
	"reprise/policy/sim/trace"
	"reprise/proxy/cache"
	"reprise/topics"
	"reprise/topics/reuse"
	"reprise/topics/reuse/evidence"
)

// recorded is a proxy in this process that writes a request log.
type recorded struct {
	*service
	t    *testing.T
	path string
}

func record(t *testing.T, path string, settings ...string) *recorded {
	t.Helper()
	engine := httptest.NewServer(enginesim.New(enginesim.Options{Models: []string{enginesim.AnyModel}}))
	t.Cleanup(engine.Close)
	// Nothing is explored, which is decided at random. Without a timeout: on a busy machine a request could be compared by identity alone, which the log does not record.
	environ := append([]string{"REPRISE_UPSTREAM=" + engine.URL + "/v1", "REPRISE_STORE=memory", "REPRISE_RECORD=" + path, "REPRISE_CAPACITY_ENTRIES=60", "REPRISE_EMBED_TIMEOUT=0",
		"REPRISE_MAX_ERROR_RATE=0"}, settings...)
	cfg, err := config.NewLoader(false).Load(environ)
	if err != nil {
		t.Fatal(err)
	}
	s, err := newService(t.Context(), cfg, slog.New(slog.DiscardHandler), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return &recorded{s, t, path}
}

// ask sends a request of a tenant and returns the text of the answer and its source (X-Cache).
func (r *recorded) ask(tenant, body string) (text, from string) {
	r.t.Helper()
	q := httptest.NewRequest(http.MethodPost, "http://localhost/v1/chat/completions", strings.NewReader(body))
	q.Header.Set("Content-Type", "application/json")
	q.Header.Set("Authorization", "Bearer "+tenant)
	w := httptest.NewRecorder()
	r.proxy.Handler().ServeHTTP(w, q)
	if w.Code != http.StatusOK {
		r.t.Fatalf("%d: %s for %s", w.Code, w.Body, body)
	}
	return gjson.GetBytes(w.Body.Bytes(), "choices.0.message.content").String(), w.Header().Get("X-Cache")
}

// end closes the service and returns its log.
func (r *recorded) end() *sim.Slice {
	r.t.Helper()
	if err := r.close(0); err != nil {
		r.t.Fatal(err)
	}
	return readLog(r.t, r.path)
}

func readLog(t *testing.T, path string) *sim.Slice {
	t.Helper()
	in, err := trace.Open(path, trace.Auto)
	if err != nil {
		t.Fatal(err)
	}
	s := &sim.Slice{Title: path}
	for q, err := range in.Requests() {
		if err != nil {
			t.Fatal(err)
		}
		s.All = append(s.All, q)
	}
	return s
}

// logged returns the values of a field of the log, line by line.
func logged(t *testing.T, path, field string) (all []string) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(raw)) {
		all = append(all, gjson.Get(line, field).String())
	}
	return all
}

// chatter sends n requests and returns which were hits. They are conversations of up to a number of turns; some repeat earlier
// ones, in the same words or in words of the same meaning. Two tenants and two temperatures share no answers, and some
// requests are matched exactly only.
func chatter(r *recorded, n, turns int, seed uint64) (hits []bool) {
	rng := rand.New(rand.NewPCG(seed, 1))
	for len(hits) < n {
		tenant, extra := fmt.Sprint("tenant-", rng.IntN(8)/7), ""
		if rng.IntN(9) == 0 {
			extra = `,"temperature":0.5`
		}
		script, messages := min(rng.IntN(40), rng.IntN(40), rng.IntN(40)), ""
		for turn := range min(1+script%4, turns) {
			tail := ""
			if rng.IntN(20) == 0 {
				tail = `,{"role":"assistant","content":"Well"}` // a last message of the assistant, to be continued
			}
			messages += fmt.Sprintf(`{"role":"user","content":%q}`, wording(rng, script, turn))
			answer, from := r.ask(tenant, `{"model":"m"`+extra+`,"messages":[`+messages+tail+`]}`)
			hits = append(hits, from == "exact" || from == "semantic")
			messages += fmt.Sprintf(`,{"role":"assistant","content":%q},`, answer)
			if len(hits) == n || rng.IntN(12) == 0 {
				break
			}
		}
	}
	return hits
}

// wording returns the text of a turn of a script, in one of several wordings.
func wording(rng *rand.Rand, script, turn int) string {
	subject := strings.Fields("whales trains bread rivers violins glaciers tulips bridges comets kites")[script%10]
	text := fmt.Sprintf([]string{
		"Tell me how %s came to be what they are in the old towns of the north, part %d",
		"What do people who like %s read about them in winter, chapter %d?",
		"List the best places to see %s in the year %d",
		"And why is that so of %s, number %d?",
	}[(script/10+turn)%4], subject, script)
	switch rng.IntN(6) {
	case 0:
		return strings.ToLower(text)
	case 1:
		return text + "!"
	}
	return text
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
func byMeaning(t *testing.T, log *sim.Slice, name string, labels semantic.Labels, detect bool) []bool {
	t.Helper()
	gates := embed.NewBuiltin().Thresholds()
	model := semantic.New(semantic.Options{Labels: labels, Detect: detect, Judge: func(rates *evidence.Rates) cache.Judge { return &reuse.Judge{Words: true, Rates: rates} },
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

// byIdentity replays a log with the ids model. That returns only totals, so each prefix of the log is replayed: the difference
// of two totals is the verdict on one request.
func byIdentity(t *testing.T, log *sim.Slice, name string) (hits []bool) {
	t.Helper()
	before := int64(0)
	for n := range log.All {
		o := sim.Options{Policies: []string{name}, Capacities: []sim.Capacity{{Entries: 60}}}
		results, err := sim.Replay(context.Background(), &sim.Slice{All: log.All[:n+1]}, o)
		if err != nil {
			t.Fatal(err)
		}
		hits = append(hits, results[0].Hits > before)
		before = results[0].Hits
	}
	return hits
}

// TestRecordReplays: a log records which requests were hits, and a replay of the log has the same hits, by identity, by meaning
// with the topics of the log, and by meaning with topics of its own.
func TestRecordReplays(t *testing.T) {
	for _, name := range []string{"rac", "rac+", "lru", "w-tinylfu", "haz", "rac:ghosts=4", "s3fifo"} {
		t.Run(name, func(t *testing.T) {
			r := record(t, filepath.Join(t.TempDir(), "log"), "REPRISE_POLICY="+name, "REPRISE_LOG_PROMPTS=true")
			want := chatter(r, 600, 4, 7)
			log := r.end()
			compare(t, "the log", loggedHits(t, r.path), want)
			if n := countHits(want); n < 150 || n > 450 || r.store.Stats().Evictions < 100 {
				t.Fatalf("%d hits and %d evictions test little", n, r.store.Stats().Evictions)
			}
			orphans := 0
			for i, q := range log.All {
				if want[i] && q.Turn > 0 && q.Parent == 0 {
					orphans++ // its parent was not answered by a stored entry
				}
			}
			if orphans > countHits(want)/10 {
				t.Errorf("%d of %d hits continue a conversation and name no parent", orphans, countHits(want))
			}
			compare(t, "ids", byIdentity(t, log, name), want)
			compare(t, "given topics", byMeaning(t, log, name, semantic.Given, false), want)
			compare(t, "routed topics", byMeaning(t, log, name, semantic.Routed, false), want)
		})
	}
}

// TestRecordDetects is the same for requests without a history. The replay detects their parents too.
func TestRecordDetects(t *testing.T) {
	r := record(t, filepath.Join(t.TempDir(), "log"), "REPRISE_POLICY=rac", "REPRISE_LOG_PROMPTS=true")
	want := chatter(r, 400, 1, 3)
	log := r.end()
	if !slices.ContainsFunc(log.All, func(q sim.Request) bool { return q.Parent != 0 }) {
		t.Fatal("no request has a parent")
	}
	compare(t, "ids", byIdentity(t, log, "rac"), want)
	compare(t, "detected parents", byMeaning(t, log, "rac", semantic.Routed, true), want)
}

func loggedHits(t *testing.T, path string) (hits []bool) {
	for _, hit := range logged(t, path, "hit") {
		hits = append(hits, hit == "true")
	}
	return hits
}

func compare(t *testing.T, how string, got, want []bool) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d requests, want %d", how, len(got), len(want))
		return
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%s: request %d was a hit: %v, want %v", how, i+1, got[i], want[i])
			return
		}
	}
}

func countHits(all []bool) (n int) {
	for _, hit := range all {
		if hit {
			n++
		}
	}
	return n
}
