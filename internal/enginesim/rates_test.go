package enginesim

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func newDirect(ctx context.Context, body, fault string) (*http.Request, *httptest.ResponseRecorder) {
	r := httptest.NewRequestWithContext(ctx, "POST", "/v1/chat/completions", strings.NewReader(body))
	r.Header.Set(FaultHeader, fault)
	return r, httptest.NewRecorder()
}

// fixed answers with n tokens.
func fixed(n int) func(Question) (string, bool) {
	return func(Question) (string, bool) { return strings.Repeat(" word", n), true }
}

// promptOf is a chat request whose prompt has n tokens more than its template.
func promptOf(n int, stream bool) string {
	return `{"model":"gpt-4o","stream":` + strconv.FormatBool(stream) + `,"messages":[{"role":"user","content":"` + strings.Repeat(" word", n) + `"}]}`
}

// templateTokens is the number of tokens of a chat of one user turn beyond its text: <|user|>, the end of the turn, <|assistant|>.
var templateTokens = countTokens("<|user|>") + 1 + countTokens("<|assistant|>")

func TestRates(t *testing.T) {
	for _, stream := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) { testRates(t, stream) })
	}
}

func testRates(t *testing.T, stream bool) {
	e := New(Options{Prefill: 1000, Decode: 50, Reply: fixed(100)})
	n := 1000 - templateTokens
	for i, want := range []time.Duration{3 * time.Second, 2*time.Second + 8*time.Millisecond} {
		// The second time 62 blocks of the 1000 tokens are stored, and 8 tokens are left.
		start := time.Now()
		r, w := newDirect(t.Context(), promptOf(n, stream), "")
		e.ServeHTTP(w, r)
		if ms := w.Header().Get("Openai-Processing-Ms"); ms != strconv.FormatInt(want.Milliseconds(), 10) {
			t.Errorf("request %d: modelled %s ms, want %v", i+1, ms, want)
		}
		if got := time.Since(start).Round(time.Microsecond); got != want {
			t.Errorf("request %d, stream %v: took %v, want %v", i+1, stream, got, want)
		}
	}
	want := Stats{Requests: 2, PromptTokens: 2000, CachedTokens: 992, OutputTokens: 200}
	if s := e.Stats(); s.PromptTokens != want.PromptTokens || s.CachedTokens != want.CachedTokens || s.OutputTokens != want.OutputTokens {
		t.Errorf("stats %+v, want %+v", s, want)
	}
}

func TestEmbeddingsTakeTheirPrefill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := New(Options{Prefill: 10})
		start := time.Now()
		status, body := answerTo(e, "POST", "/v1/embeddings", `{"model":"text-embedding-3-small","input":["a b c","d e"],"dimensions":4}`)
		if got := time.Since(start); status != 200 || got != 500*time.Millisecond {
			t.Errorf("5 tokens took %v: %d %s", got, status, body)
		}
	})
}

func TestFirstTokenComesAfterThePrefill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := New(Options{Prefill: 1000, Decode: 10, Reply: fixed(3)})
		r, _ := newDirect(t.Context(), promptOf(500-templateTokens, true), "")
		w := &timedWriter{ResponseRecorder: httptest.NewRecorder(), start: time.Now()}
		e.ServeHTTP(w, r)
		want := "500ms 600ms 700ms 800ms 800ms 800ms" // role, three tokens, finish reason, [DONE]
		if got := strings.Join(w.times, " "); got != want {
			t.Errorf("writes at %s, want %s", got, want)
		}
	})
}

// timedWriter records the time of each write.
type timedWriter struct {
	*httptest.ResponseRecorder
	start time.Time
	times []string
}

func (w *timedWriter) Write(p []byte) (int, error) {
	w.times = append(w.times, time.Since(w.start).String())
	return w.ResponseRecorder.Write(p)
}

func TestClientLeavesWhileTheModelWorks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := New(Options{Decode: 10, Reply: fixed(100)})
		ctx, cancel := context.WithTimeout(t.Context(), 2050*time.Millisecond)
		defer cancel()
		start := time.Now()
		serveDirect(ctx, e, promptOf(10, true), "")
		if got := time.Since(start); got != 2050*time.Millisecond {
			t.Errorf("worked for %v after its client had left", got)
		}
		if s := e.Stats(); s.Cancelled != 1 || s.OutputTokens != 20 || s.InFlight != 0 {
			t.Errorf("stats %+v, want 20 tokens of one cancelled request", s)
		}
		if held := len(e.blocks.content) - e.blocks.idle.Len() + e.blocks.slots; held != 0 {
			t.Errorf("%d blocks are still held", held)
		}
	})
}
