package upstream

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"reprise/proxy/upstream/dialect"
)

// picky is a replica that refuses stream_options for some models with a status, and everything that contains "wrong" with 400.
type picky struct {
	*httptest.Server
	status int
	models string
	bodies []string
}

func newPicky(t *testing.T, status int, models string) *picky {
	p := &picky{status: status, models: models}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		p.bodies = append(p.bodies, string(b))
		model := strings.Split(string(b), `"`)[3]
		switch {
		case strings.Contains(p.models, model) && bytes.Contains(b, []byte("stream_options")):
			text := `{"detail":[{"loc":["body","stream_options"],"msg":"Extra inputs are not permitted"}]}`
			if p.status >= 500 {
				text = "Internal Server Error"
			}
			http.Error(w, text, p.status)
		case bytes.Contains(b, []byte("wrong")):
			http.Error(w, `{"error":"wrong with stream_options"}`, http.StatusBadRequest)
		}
	}))
	t.Cleanup(p.Close)
	return p
}

// call asks for a stream of model, and returns the status and how often the replica was asked.
func (p *picky) call(t *testing.T, c *Client, model, more string) (status, times int) {
	t.Helper()
	before := len(p.bodies)
	body := []byte(`{"model":"` + model + `","stream":true` + more + `}`)
	reply, err := c.Call(t.Context(), Request{Model: model, Original: httptest.NewRequest("POST", "/v1/chat/completions", nil), Body: body, Want: dialect.Intent{StreamUsage: true}})
	if err != nil {
		t.Fatal(err)
	}
	reply.Body.Close()
	return reply.StatusCode, len(p.bodies) - before
}

// TestQuarantine: a refused field is left out of the requests for its model for an hour, and counted. Each request is sent twice at most.
func TestQuarantine(t *testing.T) {
	for _, status := range []int{400, 422, 500, 501, 502} {
		now, log := time.Unix(1_800_000_000, 0), new(bytes.Buffer)
		p := newPicky(t, status, "a b")
		base := (&engine{Server: p.Server}).target(t, "", "")
		c := newClient(t, Options{Replicas: []Target{base}, Now: func() time.Time { return now }, Logger: slog.New(slog.NewTextHandler(log, nil))})
		for i, step := range []struct {
			after time.Duration
			model string
			times int
		}{
			{0, "a", 2}, {0, "a", 1}, {0, "b", 2}, {0, "c", 1}, {time.Hour - 1, "a", 1}, {1, "a", 2}, {0, "a", 1}, {0, "b", 2},
		} {
			now = now.Add(step.after)
			if got, times := p.call(t, c, step.model, ""); got != 200 || times != step.times {
				t.Errorf("call %d for %s: %d, sent %d times, want %d", i, step.model, got, times, step.times)
			}
		}
		hints := c.Hints()
		if want := []LeftOut{{"a", now.Add(time.Hour).UTC()}, {"b", now.Add(time.Hour).UTC()}}; len(hints) != 1 || !slices.Equal(hints[0].LeftOut, want) {
			t.Errorf("left out are %v, not %v", hints, want)
		}
		hints[0].LeftOut = nil
		if got := fmt.Sprint(hints); got != fmt.Sprintf("[{%s generic stream_options.include_usage 5 4 0 []}]", strings.TrimPrefix(p.URL, "http://")) {
			t.Errorf("counts %s", got)
		}
		if now = now.Add(time.Hour); len(c.Hints()[0].LeftOut) != 0 {
			t.Errorf("left out after their time: %v", c.Hints())
		}
		if n := strings.Count(log.String(), "\n"); n != 4 {
			t.Errorf("%d lines: %s", n, log)
		}
	}
}

// TestClientsCauseNoQuarantine: an error of the client's own, whose text names a field of ours, comes back as the upstream gave it, and
// the field is added to the next request.
func TestClientsCauseNoQuarantine(t *testing.T) {
	p := newPicky(t, 400, "")
	c := newClient(t, Options{Replicas: []Target{(&engine{Server: p.Server}).target(t, "", "")}})
	for range 3 {
		if status, times := p.call(t, c, "a", `,"wrong":1`); status != 400 || times != 2 {
			t.Errorf("%d, sent %d times", status, times)
		}
	}
	p.call(t, c, "a", "")
	if last := p.bodies[len(p.bodies)-1]; !strings.Contains(last, "include_usage") {
		t.Errorf("the replica got %s", last)
	}
}

// TestFailuresAreNotDoubled: an error that does not name our field is tried without it once a minute at most, where nothing is known of the
// replica and the model; once it has succeeded with the field, or where the client asks for usage itself, not at all. Nothing is quarantined.
func TestFailuresAreNotDoubled(t *testing.T) {
	now := &clock{now: newReplicaTime}
	s := newStub(t, answers("fine"))
	c := newClient(t, Options{Replicas: []Target{at(t, s.URL)}, Now: now.Now})
	for i, step := range []struct {
		after  time.Duration
		status int
		model  string
		more   string
		times  int
	}{
		{0, 500, "a", "", 2}, {0, 500, "a", "", 1}, {0, 500, "b", "", 2}, {time.Minute - 1, 500, "a", "", 1}, {1, 500, "a", "", 2},
		{time.Minute, 502, "a", `,"stream_options":{"include_usage":true}`, 1}, {0, 503, "a", "", 1}, {0, 504, "a", "", 1}, {0, 529, "a", "", 1}, {0, 524, "a", "", 1}, {0, 429, "a", "", 1},
		{0, 200, "a", "", 1}, {0, 500, "a", "", 1}, {time.Hour - 1, 500, "a", "", 1}, {1, 500, "a", "", 2}, {time.Hour, 200, "a", "", 1},
	} {
		now.pass(step.after)
		s.does(fails(step.status, ""))
		r := request(step.model, `{"model":"`+step.model+`","stream":true`+step.more+`}`)
		r.Want = dialect.Intent{StreamUsage: step.more == ""}
		status, _, _ := callOn(t, c, r)
		if calls := s.calls(); status != step.status || len(calls) != step.times {
			t.Errorf("step %d: %d after %q, want %d times", i, status, calls, step.times)
		}
	}
	for _, h := range c.Hints() {
		if h.Refused != 0 || len(h.LeftOut) != 0 {
			t.Errorf("counted as refused: %+v", h)
		}
	}
}

// TestFailuresKeepOtherFields: the request that is tried without stream_options has what keeps tenants apart.
func TestFailuresKeepOtherFields(t *testing.T) {
	s := newStub(t, func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(500) })
	target := at(t, s.URL)
	target.Dialect, target.Salt = "vllm", true
	r := request("m", `{"model":"m","stream":true}`)
	r.Want = dialect.Intent{StreamUsage: true, Salt: "s1"}
	callOn(t, newClient(t, Options{Replicas: []Target{target}}), r)
	calls := s.calls()
	if len(calls) != 2 || !strings.Contains(calls[0], "include_usage") || strings.Contains(calls[1], "stream_options") || !strings.Contains(calls[1], `"cache_salt":"s1"`) {
		t.Errorf("the replica got %q", calls)
	}
}

// TestQuarantineIsBounded: clients choose the names of models.
func TestQuarantineIsBounded(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	var q quarantine
	for i := range 2 * mostQuarantined {
		q.add(refusedField{fmt.Sprint(i), "f"}, now)
	}
	if len(q.until) != mostQuarantined || !q.of("unknown", now)("f") {
		t.Errorf("%d fields are held; another is not: %v", len(q.until), !q.of("unknown", now)("f"))
	}
	for i := range 2 * mostQuarantined {
		q.trust(fmt.Sprint(i), now, time.Minute)
	}
	if len(q.trusted) != mostQuarantined || q.suspect("unknown", now) || q.suspect("1", now) || !q.suspect("1", now.Add(time.Minute)) {
		t.Errorf("%d models are trusted", len(q.trusted))
	}
	now = now.Add(quarantineFor)
	if q.trust("unknown", now, time.Minute); len(q.trusted) != 1 || q.suspect("unknown", now) {
		t.Errorf("%d models are trusted after their time", len(q.trusted))
	}
	if q.of("unknown", now)("f") || q.of("1", now)("f") || len(q.until) != 0 {
		t.Errorf("%d fields are held after their time", len(q.until))
	}
}
