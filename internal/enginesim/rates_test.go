package enginesim

import (
	"context"
	"net/http"
	"net/http/httptest"
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

func TestTokensTakeTheirTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := New(Options{Decode: 10})
		r, _ := newDirect(t.Context(), chatWith(`,"stream":true,"max_tokens":3`), "")
		w := &timedWriter{ResponseRecorder: httptest.NewRecorder(), start: time.Now()}
		e.ServeHTTP(w, r)
		want := "0s 100ms 200ms 300ms 300ms 300ms" // role, three tokens, finish reason, [DONE]
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
		e := New(Options{Decode: 10})
		ctx, cancel := context.WithTimeout(t.Context(), 2050*time.Millisecond)
		defer cancel()
		start := time.Now()
		serveDirect(ctx, e, chatWith(`,"stream":true,"n":3`), "")
		if got := time.Since(start); got != 2050*time.Millisecond {
			t.Errorf("worked for %v after its client had left", got)
		}
		if s := e.Stats(); s.Cancelled != 1 || s.OutputTokens != 60 || s.InFlight != 0 {
			t.Errorf("stats %+v, want three times 20 tokens of one cancelled request", s)
		}
		if held := len(e.blocks.content) - e.blocks.idle.Len() + e.blocks.slots; held != 0 {
			t.Errorf("%d blocks are still held", held)
		}
	})
}
