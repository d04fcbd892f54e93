package proxy

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"reprise/internal/enginesim"
	"reprise/proxy/observe/accesslog"
	"reprise/proxy/observe/prices"
)

// logged is what an access log has written.
type logged struct {
	lockedWriter
	flush *accesslog.Writer // writes what waits at an event
}

// accessLog gives a rig an access log, and returns what is in it.
func accessLog(t testing.TB) (adjust func(*Options), out *logged) {
	out = new(logged)
	w := accesslog.NewWriter(&out.lockedWriter, true)
	out.flush = w
	t.Cleanup(func() { _ = w.Close(time.Minute) })
	return func(o *Options) { o.AccessLog = accesslog.New(accesslog.Options{Out: w, JSON: true}) }, out
}

// accessLines waits for n lines of an access log, and returns all.
func accessLines(t testing.TB, out *logged, n int) (all []map[string]any) {
	t.Helper()
	eventually(t, fmt.Sprint(n, " lines"), func() bool {
		_, _ = out.flush.Write(nil)
		return strings.Count(out.String(), "\n") >= n
	})
	for line := range strings.Lines(out.String()) {
		var l map[string]any
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		all = append(all, l)
	}
	return all
}

// TestOutcomesAreWritten: every way in which a request can end has one line in the access log and one span, with what happened and nothing that a
// client said.
func TestOutcomesAreWritten(t *testing.T) {
	log, out := accessLog(t)
	traces, c := traces(t)
	r := newRig(t, log, traces)
	secret := "a-secret-of-the-client"
	question := "What is the capital of France? " + secret
	const parent, remote = "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "b7ad6b7169203331"
	for i, tc := range []struct {
		path, body string
		header     []string
		line       string // fields, as name=value
		span       string // name, a bar, and attributes as key=value
	}{
		{"chat/completions", chat(question), nil, "endpoint=chat model=gpt-4o result=miss status=200 why=new stream=<nil> tokens_saved=<nil>",
			"chat gpt-4o|reprise.cache.result=miss reprise.cache.reason=new http.response.status_code=200 gen_ai.operation.name=chat " +
				"gen_ai.provider.name=openai gen_ai.request.model=gpt-4o http.request.method=POST http.route=/v1/chat/completions url.path=/v1/chat/completions url.scheme=http error.type="},
		{"chat/completions", chat(question), []string{parent}, "endpoint=chat result=exact status=200 why= upstream_ms=<nil> upstream=<nil>",
			"chat gpt-4o|reprise.cache.result=exact reprise.cache.reason= gen_ai.request.stream= gen_ai.usage.input_tokens="},
		{"chat/completions", chat("What's the capital of France? " + secret), nil, "result=semantic why=semantic;form;topic=1 status=200",
			"chat gpt-4o|reprise.cache.result=semantic reprise.cache.reason=semantic;form;topic=1"},
		{"chat/completions", chat(question, `"stream":true`), nil, "result=exact status=200 stream=true", "chat gpt-4o|reprise.cache.result=exact gen_ai.request.stream=true"},
		{"chat/completions", chat(question), []string{"Cache-Control: no-store, no-cache", "X-Reprise-Mode: off"}, "result=bypass why=directive status=200 model=<nil>",
			"POST /v1/chat/completions|reprise.cache.result=bypass reprise.cache.reason=directive gen_ai.request.model="},
		{"chat/completions", chat(question + "?"), []string{"Cache-Control: only-if-cached"}, "result=error why=not_cached status=504",
			"chat gpt-4o!|reprise.cache.result=error http.response.status_code=504 error.type=not_cached"},
		{"chat/completions", `{"model":"` + secret, nil, "result=error why=invalid_json status=400 model=<nil>",
			"POST /v1/chat/completions|reprise.cache.result=error http.response.status_code=400 error.type=invalid_json"},
		{"chat/completions", chat("Who wrote Faust?"), []string{enginesim.FaultHeader + ": status=429"}, "result=miss status=429 why=new;not-stored=status",
			"chat gpt-4o|reprise.cache.result=miss http.response.status_code=429 error.type=429"},
		{"chat/completions", chat("Who wrote Nathan?"), []string{enginesim.FaultHeader + ": status=500"}, "result=miss status=500",
			"chat gpt-4o!|reprise.cache.result=miss http.response.status_code=500 error.type=500"},
		{"embeddings", `{"model":"gpt-4o","input":"` + secret + `"}`, nil, "endpoint=embeddings result=miss status=200", "embeddings gpt-4o|reprise.cache.result=miss gen_ai.operation.name=embeddings"},
		{"files/" + secret + "/content?key=" + secret, "{}", []string{"X-Request-Id: " + strings.Repeat("i", 129)}, "endpoint=/v1/files/*/content result=bypass status=404 why=endpoint",
			"POST|reprise.cache.result=bypass url.path=/v1/files/*/content http.route= http.response.status_code=404 error.type=404"},
	} {
		r.ask(t, "/v1/"+tc.path, tc.body, append(tc.header, "X-Api-Key: "+secret)...)
		line, spans := accessLines(t, out, i+1)[i], c.of(t, r)
		for field := range strings.FieldsSeq(tc.line) {
			name, want, _ := strings.Cut(field, "=")
			if got := fmt.Sprint(line[name]); got != want && !(want == "" && line[name] == nil) {
				t.Errorf("%s %s: %s is %q, not %q: %v", tc.path, tc.header, name, got, want, line)
			}
		}
		if len(fmt.Sprint(line["request_id"])) != 32 || line["duration_ms"].(float64) <= 0 || line["bytes"].(float64) <= 0 {
			t.Errorf("%v", line)
		}
		if answered := line["result"] == "miss" || line["result"] == "bypass"; answered != (line["upstream"] != nil) || answered != (line["upstream_ms"] != nil) {
			t.Errorf("the upstream is named where it answered: %v", line)
		}
		if saved, _ := line["tokens_saved"].(float64); (saved > 0) != (line["result"] == "exact" || line["result"] == "semantic") {
			t.Errorf("tokens saved: %v", line)
		}
		name, attributes, _ := strings.Cut(tc.span, "|")
		s := spans[0]
		if got := s.Name + map[bool]string{true: "!"}[s.Failed]; got != name || s.Kind != "server" {
			t.Errorf("%s %s: %s %q, want %q", tc.path, tc.header, s.Kind, got, name)
		}
		for field := range strings.FieldsSeq(attributes) {
			key, want, _ := strings.Cut(field, "=")
			if got := s.Attributes[key]; got != want {
				t.Errorf("%s %s: %s is %q, not %q: %v", tc.path, tc.header, key, got, want, s.Attributes)
			}
		}
		if from := slices.Contains(tc.header, parent); from && (s.Parent != remote || s.Trace != parent[16:48]) || !from && s.Parent != "" {
			t.Errorf("%s: parent %q, trace %q", tc.header, s.Parent, s.Trace)
		}
		holdsNothing(t, spans, secret)
	}
	if strings.Contains(out.String(), secret) || strings.Contains(out.String(), "France") || strings.Contains(out.String(), "sk-test") {
		t.Error("the log has what a client said")
	}
}

// TestAccessLogOfSharedAndLeft: a follower of a flight, one that leaves it, and the leader have a line each.
func TestAccessLogOfSharedAndLeft(t *testing.T) {
	log, out := accessLog(t)
	up := newStage()
	r := newRigAt(t, nil, up, log)
	ctx, leave := context.WithCancel(t.Context())
	ended := make(chan error, 3)
	send := func(ctx context.Context, id string) {
		req, _ := http.NewRequestWithContext(ctx, "POST", r.api.URL+"/v1/chat/completions", strings.NewReader(chat(capital)))
		req.Header = http.Header{"Content-Type": {"application/json"}, "X-Request-Id": {id}}
		resp, err := r.api.Client().Do(req)
		if err == nil {
			if got := resp.Header["X-Request-Id"]; len(got) != 1 || got[0] != id {
				t.Errorf("X-Request-Id %q of %s", got, id)
			}
			resp.Body.Close()
		}
		ended <- err
	}
	go send(t.Context(), "leader")
	if got := within(t, up.arrived, "the call").Header["X-Request-Id"]; len(got) != 1 || got[0] != "leader" {
		t.Errorf("the upstream got X-Request-Id %q", got)
	}
	go send(t.Context(), "follower")
	go send(ctx, "left")
	r.waiters(t, 3)
	leave()
	if err := within(t, ended, "the end"); err == nil {
		t.Error("the client that left has an answer")
	}
	r.waiters(t, 2)
	up.script <- func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("X-Request-Id", "req_upstream")
		w.Write(upstreamReply)
	}
	for range 2 {
		if err := within(t, ended, "an answer"); err != nil {
			t.Error(err)
		}
	}
	got := map[string]string{}
	for _, l := range accessLines(t, out, 3) {
		got[l["request_id"].(string)] = fmt.Sprint(l["result"], " ", l["status"], " ", l["upstream_request_id"])
	}
	for id, want := range map[string]string{"leader": "miss 200 req_upstream", "follower": "shared 200 <nil>", "left": "client-gone 0 <nil>"} {
		if got[id] != want {
			t.Errorf("%s: %s, not %s", id, got[id], want)
		}
	}
}

// TestRequestID: which id the upstream gets, and which one the client gets back.
func TestRequestID(t *testing.T) {
	const made = "made"
	for _, tc := range []struct{ name, given, upstreams, sent, back string }{
		{"none", "", "", made, made},
		{"the upstream's", "", "req_1", made, "req_1"},
		{"the client's", "a-1_B.c:/é"[:9], "", "a-1_B.c:/", "a-1_B.c:/"},
		{"both", "mine", "req_1", "mine", "mine"},
		{"128 characters", strings.Repeat("i", 128), "", strings.Repeat("i", 128), strings.Repeat("i", 128)},
		{"too long", strings.Repeat("i", 129), "", made, made},
		{"with a space", "a b", "", made, made},
		{"not in ASCII", "é", "", made, made},
		{"early answer, none", "", "", made, made},
		{"early answer, both", "mine", "req_1", "mine", "mine"},
	} {
		for _, path := range []string{"/v1/chat/completions", "/v1/moderations"} {
			sent := make(chan []string, 1)
			r := newRigAt(t, nil, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				sent <- r.Header["X-Request-Id"]
				if strings.HasPrefix(tc.name, "early") {
					w.WriteHeader(http.StatusEarlyHints)
				}
				if tc.upstreams != "" {
					w.Header().Set("X-Request-Id", tc.upstreams)
				}
				w.Header().Set("Content-Type", "application/json")
				w.Write(upstreamReply)
			}))
			var header []string
			if tc.given != "" {
				header = append(header, "X-Request-Id: "+tc.given)
			}
			got := r.ask(t, path, chat(capital), header...)
			at := <-sent
			for what, pair := range map[string][2][]string{"sent": {at, {tc.sent}}, "got back": {got.header["X-Request-Id"], {tc.back}}} {
				ids, want := pair[0], pair[1][0]
				if len(ids) != 1 || want != made && ids[0] != want || want == made && len(ids[0]) != 32 {
					t.Errorf("%s %s: %s %q, not %q", tc.name, path, what, ids, want)
				}
			}
			if tc.sent == made && tc.back == made && at[0] != got.header.Get("X-Request-Id") {
				t.Errorf("%s %s: two ids were made", tc.name, path)
			}
			if again := r.ask(t, path, chat(capital), "X-Request-Id: another"); path == "/v1/chat/completions" && (again.cache() != "exact" || again.header.Get("X-Request-Id") != "another") {
				t.Errorf("%s: the id is part of the key, or of the answer: %v", tc.name, again.header)
			} else if path != "/v1/chat/completions" {
				<-sent
			}
		}
	}
}

// TestCosts: what the upstream's answers took is spent, with cached tokens at their own price, and what stored answers took is saved;
// by tenant and model, also for streams that hide their usage, requests that pass by the cache, and answers that are not kept.
func TestCosts(t *testing.T) {
	table, err := prices.Parse("p", []byte("prices: [{model: gpt-4o, input: 2, cached_input: 1, output: 10}]"))
	if err != nil {
		t.Fatal(err)
	}
	r := newRigAt(t, nil, http.HandlerFunc(countingUpstream), func(o *Options) { o.Prices = table })
	asked := int64(0)
	for _, tc := range []struct {
		name, body     string
		header         []string
		spent, without int64 // answers
		saved          int64
		model          string
	}{
		{"a miss", chat("a"), nil, 1, 0, 0, "gpt-4o"},
		{"an exact hit", chat("a"), nil, 0, 0, 1, "gpt-4o"},
		{"a stream of that", chat("a", `"stream":true`), nil, 0, 0, 1, "gpt-4o"},
		{"a stream without usage for the client", chat("b", `"stream":true`), nil, 1, 0, 0, "gpt-4o"},
		{"a request by the cache", chat("a"), []string{"Cache-Control: no-store, no-cache", "X-Reprise-Mode: off", "Accept-Encoding: identity"}, 1, 0, 0, "gpt-4o-2024"},
		{"what is not kept", chat("c"), []string{"Cache-Control: no-store"}, 1, 0, 0, "gpt-4o"},
		{"an error", chat("fail"), nil, 0, 0, 0, "gpt-4o"},
		{"no report", chat("silent"), nil, 0, 1, 0, "gpt-4o"},
		{"another model", strings.Replace(chat("a"), "gpt-4o", "o3", 1), nil, 1, 0, 0, "o3"},
		{"another tenant", chat("a"), []string{"Authorization: Bearer other"}, 1, 0, 0, "gpt-4o"},
	} {
		before := r.Stats().Costs
		r.ask(t, "/v1/chat/completions", tc.body, tc.header...)
		asked++
		r.counted(t, asked)
		var now prices.Report
		eventually(t, tc.name, func() bool {
			now = r.Stats().Costs
			return now.Spent.Tokens.Input-before.Spent.Tokens.Input == 600*tc.spent && now.Saved.Tokens.Output-before.Saved.Tokens.Output == 100*tc.saved && now.Unreported-before.Unreported == tc.without
		})
		if now.Spent.Tokens.Cached-before.Spent.Tokens.Cached != 400*tc.spent || now.Spent.Tokens.Output-before.Spent.Tokens.Output != 100*tc.spent || now.Saved.Tokens.Input-before.Saved.Tokens.Input != 1000*tc.saved {
			t.Errorf("%s: %+v after %+v", tc.name, now, before)
		}
		cost := float64(600*2+400*1+100*10) / 1e6 * float64(tc.spent)
		if tc.model != "gpt-4o" {
			cost = 0
		}
		if got := now.Spent.Cost - before.Spent.Cost; math.Abs(got-cost) > 1e-12 {
			t.Errorf("%s costs %v, not %v", tc.name, got, cost)
		}
		if got, want := now.Saved.Cost-before.Saved.Cost, float64(1000*2+100*10)/1e6*float64(tc.saved); math.Abs(got-want) > 1e-12 {
			t.Errorf("%s saves %v, not %v", tc.name, got, want)
		}
		if tc.spent > 0 && !slices.ContainsFunc(now.Accounts, func(a prices.Account) bool { return a.Model == tc.model && isTenant(a.Tenant) }) {
			t.Errorf("%s: no account of %s: %+v", tc.name, tc.model, now.Accounts)
		}
	}
	if now := r.Stats().Costs; now.Unpriced != 2 || len(now.Accounts) != 4 {
		t.Errorf("%+v", now)
	}
}

// countingUpstream answers each chat with the same counts of tokens: 600 read, 400 from a cache, 100 made.
func countingUpstream(w http.ResponseWriter, r *http.Request) {
	const usage = `"usage":{"prompt_tokens":1000,"completion_tokens":100,"prompt_tokens_details":{"cached_tokens":400}}`
	const whole = `{"id":"c","object":"chat.completion","created":1,"model":"gpt-4o-2024","choices":[{"index":0,"message":{"role":"assistant","content":"yes"},"finish_reason":"stop"}],` + usage + `}`
	const chunk = "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"gpt-4o\","
	body, _ := io.ReadAll(r.Body)
	w.Header().Set("Content-Type", "application/json")
	switch text := string(body); {
	case strings.Contains(text, "fail"):
		w.WriteHeader(http.StatusTooManyRequests)
		fmt.Fprint(w, whole)
	case strings.Contains(text, "silent"):
		fmt.Fprint(w, strings.Replace(whole, usage, `"x":1`, 1))
	case strings.Contains(text, `"stream":true`):
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, chunk+"\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"yes\"},\"finish_reason\":null}]}\n\n"+
			chunk+"\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"+chunk+"\"choices\":[],"+usage+"}\n\ndata: [DONE]\n\n")
	default:
		fmt.Fprint(w, whole)
	}
}
