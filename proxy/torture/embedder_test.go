package torture

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"reprise/embed"
	"reprise/embed/openai"
)

// embedder is an embedding server with the vectors of the built-in embedder.
type embedder struct {
	*httptest.Server
	builtin  *embed.Builtin
	spoil    atomic.Pointer[spoiler]
	requests atomic.Int64
}

// spoiler replaces an answer: it writes one, or changes the rows and returns them.
type spoiler func(w http.ResponseWriter, r *http.Request, rows []row) []row

// row is one vector of an answer. The numbers are raw, so that they can be no numbers.
type row struct {
	Object    string          `json:"object"`
	Index     int             `json:"index"`
	Embedding json.RawMessage `json:"embedding"`
}

func newEmbedder(t testing.TB) *embedder {
	e := &embedder{builtin: embed.NewBuiltin()}
	e.Server = httptest.NewServer(http.HandlerFunc(e.serve))
	return e
}

func (e *embedder) serve(w http.ResponseWriter, r *http.Request) {
	e.requests.Add(1)
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	var rows []row
	for i, text := range gjson.GetBytes(body, "input").Array() {
		vectors, _ := e.builtin.Embed(context.Background(), []string{text.String()})
		rows = append(rows, row{"embedding", i, mustJSON(vectors[0])})
	}
	if spoil := e.spoil.Load(); spoil != nil {
		if rows = (*spoil)(w, r, rows); rows == nil {
			return
		}
	}
	w.Header().Set("Content-Type", "application/json")
	w.Write(append(append([]byte(`{"object":"list","model":"m","data":`), rowsJSON(rows)...), `,"usage":{"prompt_tokens":1,"total_tokens":1}}`...))
}

// rowsJSON writes rows without checking their numbers.
func rowsJSON(rows []row) []byte {
	var b strings.Builder
	for i, r := range rows {
		if i > 0 {
			b.WriteString(",")
		}
		b.WriteString(`{"object":"embedding","index":` + string(mustJSON(r.Index)) + `,"embedding":` + string(r.Embedding) + `}`)
	}
	return []byte("[" + b.String() + "]")
}

func (e *embedder) behave(s spoiler) { e.spoil.Store(&s) }

func (e *embedder) heal() { e.spoil.Store(nil) }

// client is the embedder as the proxy uses it.
func (e *embedder) client(t testing.TB, limit time.Duration) (embed.Embedder, *http.Transport) {
	transport := &http.Transport{MaxIdleConnsPerHost: 16}
	c, err := openai.New(openai.Options{BaseURL: e.URL, Model: "m", Timeout: limit, Thresholds: e.builtin.Thresholds(), HTTPClient: &http.Client{Transport: transport}})
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the embedder answers within its limit", func() bool { return c.Dial(context.Background()) == nil })
	return c, transport
}

// The faults of an embedding server.
var (
	embedDead spoiler = func(w http.ResponseWriter, r *http.Request, _ []row) []row {
		if c, _, err := http.NewResponseController(w).Hijack(); err == nil {
			c.Close()
		}
		return nil
	}
	embedSlow spoiler = func(_ http.ResponseWriter, r *http.Request, _ []row) []row {
		select {
		case <-r.Context().Done():
		case <-time.After(5 * time.Second):
		}
		return nil
	}
	embedLimited spoiler = func(w http.ResponseWriter, _ *http.Request, _ []row) []row {
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(http.StatusTooManyRequests)
		io.WriteString(w, `{"error":{"message":"slow down","type":"requests"}}`)
		return nil
	}
)

// embedWrong gives a wrong answer of another kind at each call: too long and too short vectors, no numbers, zeros, no row, rows that
// are swapped, repeated or out of range, and an answer cut short.
func embedWrong() spoiler {
	var n atomic.Int64
	return func(w http.ResponseWriter, _ *http.Request, rows []row) []row {
		set := func(v string) []row { rows[0].Embedding = json.RawMessage(v); return rows }
		zeros := "[0" + strings.Repeat(",0", strings.Count(string(rows[0].Embedding), ",")) + "]"
		switch n.Add(1) % 10 {
		case 0:
			return set("[1,2,3]")
		case 1:
			return set(strings.TrimSuffix(string(rows[0].Embedding), "]") + ",0.5]")
		case 2:
			return set("[NaN]")
		case 3:
			return set(strings.Replace(zeros, "0", "1e999", 1))
		case 4:
			return set(zeros)
		case 5:
			return []row{}
		case 6:
			rows[0].Index = 1
			return rows
		case 7:
			return append(rows, rows[0])
		case 8:
			return set("null")
		}
		io.WriteString(w, `{"object":"list","data":[{"embed`)
		return nil
	}
}

// embedOther gives vectors of another space, as a server does whose model was replaced: same length, other directions.
func embedOther(_ http.ResponseWriter, _ *http.Request, rows []row) []row {
	for i, r := range rows {
		var v []float32
		if json.Unmarshal(r.Embedding, &v) != nil {
			continue
		}
		for k := range v[:len(v)/2] { // pairs of dimensions change places and signs: all angles change against the old space
			v[k], v[len(v)-1-k] = -v[len(v)-1-k], v[k]
		}
		rows[i].Embedding = mustJSON(v)
	}
	return rows
}
