package main

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"reprise/internal/built"
	"reprise/internal/traffic"
	"reprise/policy"
	"reprise/policy/registry"
)

// recorded is a proxy in this process that writes a request log.
type recorded struct {
	*service
	t    *testing.T
	path string
}

func record(t *testing.T, path string, settings ...string) *recorded {
	t.Helper()
	// Nothing is explored, which is decided at random.
	environ := append([]string{"REPRISE_UPSTREAM=" + engineURL(t), "REPRISE_STORE=memory", "REPRISE_RECORD=" + path, "REPRISE_CAPACITY_ENTRIES=60",
		"REPRISE_MAX_ERROR_RATE=0", built.Granted(t)}, settings...)
	return &recorded{inProcess(t, io.Discard, environ...), t, path}
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
func (r *recorded) end() []traffic.Record {
	r.t.Helper()
	if err := r.close(0); err != nil {
		r.t.Fatal(err)
	}
	return readLog(r.t, r.path)
}

func readLog(t *testing.T, path string) (all []traffic.Record) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(raw) {
		r, err := traffic.Decode(line)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	return all
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

// replayLog plays a log through a policy, where a hit has the id and the scope of what is in the cache.
func replayLog(t *testing.T, log []traffic.Record, name string, entries int) (hits []bool) {
	t.Helper()
	e, err := registry.New(name, policy.Options{Capacity: entries})
	if err != nil {
		t.Fatal(err)
	}
	ledger, resident, keys := policy.NewLedger(e, policy.Limit{Entries: entries}), map[uint64]policy.ID{}, map[policy.ID]uint64{}
	arriver, _ := e.(policy.Arriver)
	linker, _ := e.(policy.Linker)
	number := func(l traffic.Label) uint64 {
		n, _ := strconv.ParseUint(string(l), 10, 64) // "" is 0
		return n
	}
	for i, r := range log {
		at, key, topic := policy.Tick{Seq: int64(i + 1), At: r.At}, policy.KeyOf(number(r.ID), number(r.Scope)), policy.TopicID(number(r.Topic))
		parent := policy.ID(0)
		if r.Parent != "" {
			parent = resident[policy.KeyOf(number(r.Parent), number(r.Scope))]
		}
		id, hit := resident[key]
		if hits = append(hits, hit); hit {
			if linker != nil && parent != 0 {
				linker.Link(id, parent)
			}
			ledger.Hit(id, at)
			continue
		}
		if arriver != nil {
			arriver.Arrive(topic, at)
		}
		id = policy.ID(i + 1)
		resident[key], keys[id] = id, key
		for _, gone := range ledger.Insert(policy.Item{ID: id, Key: key, Topic: topic, Parent: parent, Size: r.Size, Cost: r.Cost, Offset: int(r.Turn)}, at, nil) {
			delete(resident, keys[gone])
			delete(keys, gone)
		}
	}
	return hits
}

// TestRecordReplays: a log records which requests were hits, and a replay of the log has the same hits. The laboratory replays logs by meaning
// too (cmd/reprise-lab/proxytest).
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
			for i, q := range log {
				if want[i] && q.Turn > 0 && q.Parent == "" {
					orphans++ // its parent was not answered by a stored entry
				}
			}
			if orphans > countHits(want)/10 {
				t.Errorf("%d of %d hits continue a conversation and name no parent", orphans, countHits(want))
			}
			compare(t, "the replay", replayLog(t, log, name, 60), want)
		})
	}
}

// TestRecordDetects is the same for requests without a history, whose parents the proxy detects.
func TestRecordDetects(t *testing.T) {
	r := record(t, filepath.Join(t.TempDir(), "log"), "REPRISE_POLICY=rac", "REPRISE_LOG_PROMPTS=true")
	want := chatter(r, 400, 1, 3)
	log := r.end()
	if !slices.ContainsFunc(log, func(r traffic.Record) bool { return r.Parent != "" }) {
		t.Fatal("no request has a parent")
	}
	compare(t, "the replay", replayLog(t, log, "rac", 60), want)
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
