package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"reprise/embed"
	"reprise/embed/embedtest"
)

type row struct {
	Index     int       `json:"index"`
	Embedding []float32 `json:"embedding"`
}

type request struct {
	Model      string
	Input      []string
	Dimensions *int
	Encoding   string `json:"encoding_format"`
}

// lexical answers as a correct server whose model is the built-in embedder, with the rows reversed and not of length 1.
func lexical(req request) []row {
	vectors, _ := embed.NewBuiltin().Embed(context.Background(), req.Input)
	rows := make([]row, len(vectors))
	for i, v := range vectors {
		for k := range v {
			v[k] *= 7
		}
		rows[i] = row{i, v}
	}
	slices.Reverse(rows)
	return rows
}

// serve starts a server that answers every request with what answer returns.
func serve(t *testing.T, answer func(request) []row) *httptest.Server {
	return handle(t, func(w http.ResponseWriter, r *http.Request) {
		var req request
		if err := json.NewDecoder(r.Body).Decode(&req); err != nil || r.URL.Path != "/v1/embeddings" {
			t.Errorf("request to %s: %v", r.URL.Path, err)
		}
		json.NewEncoder(w).Encode(map[string]any{"object": "list", "data": answer(req)})
	})
}

func handle(t *testing.T, h http.HandlerFunc) *httptest.Server {
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

// open makes an Embedder of s. Its default timeout is a minute: a busy machine may need more than 300 ms.
func open(t *testing.T, s *httptest.Server, o Options) *Embedder {
	t.Helper()
	o.BaseURL, o.HTTPClient = s.URL+"/v1", s.Client()
	if o.Model == "" {
		o.Model = "m"
	}
	if o.Timeout == 0 {
		o.Timeout = time.Minute
	}
	e, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestConformance(t *testing.T) {
	e := open(t, serve(t, lexical), Options{})
	if err := e.Dial(context.Background()); err != nil {
		t.Fatal(err)
	}
	embedtest.Run(t, e)
}

func TestRequest(t *testing.T) {
	var got []request
	s := serve(t, func(r request) []row { got = append(got, r); return lexical(r) })
	e := open(t, s, Options{Model: "nomic", Dimensions: 384, Prefix: "query: "})
	texts := slices.Repeat([]string{"one"}, mostTexts+6)
	texts[1], texts[4], texts[5] = "", strings.Repeat("a", maxText+1), "🍕"
	v, err := e.Embed(context.Background(), texts)
	if err != nil {
		t.Fatal(err)
	}
	var sent []int
	for _, r := range got {
		if r.Model != "nomic" || r.Encoding != "float" || r.Dimensions == nil || *r.Dimensions != 384 {
			t.Errorf("request %+v", r)
		}
		sent = append(sent, len(r.Input))
	}
	if !slices.Equal(sent, []int{mostTexts, 4}) || got[0].Input[0] != "query: one" || got[0].Input[3] != "query: 🍕" {
		t.Errorf("sent %d, %q", sent, got[0].Input[:4])
	}
	if v[1] != nil || v[4] != nil || v[0] == nil || v[5] == nil {
		t.Error("a vector in the wrong place")
	}
}

func TestOmittedFields(t *testing.T) {
	s := handle(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if strings.Contains(string(body), "dimensions") || r.Header.Get("Authorization") != "Bearer secret" {
			t.Errorf("sent %s with %q", body, r.Header.Get("Authorization"))
		}
		io.WriteString(w, `{"data":[{"index":0,"embedding":[0,2]}]}`)
	})
	e := open(t, s, Options{Key: "secret"})
	if err := e.Dial(context.Background()); err != nil || e.Dim() != 2 || e.Space() != `openai/m/2/""` {
		t.Errorf("dim %d, space %s, %v", e.Dim(), e.Space(), err)
	}
}

func TestWrongAnswers(t *testing.T) {
	for _, c := range []struct {
		name   string
		answer string
		want   error
	}{
		{"swapped", `{"data":[{"index":1,"embedding":[0,1]},{"index":0,"embedding":[1,0]}]}`, nil},
		{"too few", `{"data":[{"index":0,"embedding":[1,0]}]}`, errAnswer},
		{"too many", `{"data":[{"index":0,"embedding":[1,0]},{"index":1,"embedding":[1,0]},{"index":2,"embedding":[1,0]}]}`, errAnswer},
		{"index twice", `{"data":[{"index":0,"embedding":[1,0]},{"index":0,"embedding":[1,0]}]}`, errAnswer},
		{"index out of range", `{"data":[{"index":0,"embedding":[1,0]},{"index":2,"embedding":[1,0]}]}`, errAnswer},
		{"index negative", `{"data":[{"index":0,"embedding":[1,0]},{"index":-1,"embedding":[1,0]}]}`, errAnswer},
		{"one dimension more", `{"data":[{"index":0,"embedding":[1,0]},{"index":1,"embedding":[1,0,0]}]}`, errAnswer},
		{"zero vector", `{"data":[{"index":0,"embedding":[1,0]},{"index":1,"embedding":[0,0]}]}`, errAnswer},
		{"no vector", `{"data":[{"index":0,"embedding":[1,0]},{"index":1}]}`, errAnswer},
		{"NaN", `{"data":[{"index":0,"embedding":[1,0]},{"index":1,"embedding":[NaN,0]}]}`, errServer},
		{"beyond float32", `{"data":[{"index":0,"embedding":[1,0]},{"index":1,"embedding":[1e99,0]}]}`, errServer},
		{"base64 unasked", `{"data":[{"index":0,"embedding":"AAAAAA=="},{"index":1,"embedding":"AAAAAA=="}]}`, errServer},
		{"nothing", `{}`, errAnswer},
		{"garbage", `<html>busy</html>`, errServer},
		{"cut", `{"data":[{"index":0,"embe`, errServer},
	} {
		s := handle(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, c.answer) })
		v, err := open(t, s, Options{Dimensions: 2}).Embed(context.Background(), []string{"a", "b"})
		if !errors.Is(err, c.want) || (err != nil) != (v == nil) {
			t.Errorf("%s: %v, %v", c.name, v, err)
		}
		if c.name == "swapped" && (v == nil || v[0][0] != 1 || v[1][1] != 1) {
			t.Errorf("swapped rows: %v", v)
		}
	}
}

func TestStatus(t *testing.T) {
	for _, c := range []struct {
		status int
		body   string
	}{
		{429, `{"error":{"message":"slow down, you who asked about PRIVATE","type":"rate"}}`},
		{400, `{"error":"no dimensions for PRIVATE"}`},
		{503, `<html>PRIVATE</html>`},
		{500, ``},
	} {
		s := handle(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(c.status); io.WriteString(w, c.body) })
		_, err := open(t, s, Options{Dimensions: 2}).Embed(context.Background(), []string{"a"})
		if !errors.Is(err, errServer) || !strings.Contains(err.Error(), fmt.Sprint(c.status)) || strings.Contains(err.Error(), "PRIVATE") {
			t.Errorf("%d: %v", c.status, err)
		}
	}
}

func TestSilentServer(t *testing.T) {
	release := make(chan struct{})
	s := handle(t, func(http.ResponseWriter, *http.Request) { <-release })
	defer close(release)
	_, err := open(t, s, Options{Dimensions: 2, Timeout: time.Millisecond}).Embed(context.Background(), []string{"a"})
	if !errors.Is(err, errServer) || !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

func TestEndlessAnswer(t *testing.T) {
	var sent atomic.Int64
	s := handle(t, func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, `{"data":[{"index":0,"embedding":[1`)
		for r.Context().Err() == nil {
			n, err := io.WriteString(w, strings.Repeat(",1", 1<<15))
			if sent.Add(int64(n)); err != nil {
				return
			}
		}
	})
	_, err := open(t, s, Options{Dimensions: 2}).Embed(context.Background(), []string{"a"})
	if !errors.Is(err, errServer) {
		t.Error(err)
	}
}

func TestUnreachable(t *testing.T) {
	s := httptest.NewServer(nil)
	e := open(t, s, Options{})
	s.Close()
	if err := e.Dial(context.Background()); !errors.Is(err, errServer) {
		t.Errorf("dial: %v", err)
	}
	if _, err := e.Embed(context.Background(), []string{"a"}); !errors.Is(err, errUndialled) {
		t.Errorf("embed: %v", err)
	}
}

func TestDialChecks(t *testing.T) {
	s := serve(t, lexical)
	e := open(t, s, Options{Dimensions: 256})
	if err := e.Dial(context.Background()); !errors.Is(err, errAnswer) || !errors.Is(err, embed.ErrDim) || e.Answered() || e.Dim() != 256 {
		t.Errorf("%v, answered %v, dim %d", err, e.Answered(), e.Dim())
	}
	if _, err := e.Embed(context.Background(), []string{"a"}); !errors.Is(err, embed.ErrDim) {
		t.Error(err)
	}
}

// TestFormer: a length comes from the name of a space of the same model and prefix, once, and is checked by the server's answer.
func TestFormer(t *testing.T) {
	o := Options{BaseURL: "http://localhost/v1", Model: "org/m", Prefix: "q: "}
	for _, c := range []struct {
		space string
		dim   int
	}{
		{`openai/org/m/384/"q: "`, 384}, {`openai/org/m/8192/"q: "`, 8192}, {`openai/org/m/0384/"q: "`, 384},
		{`openai/org/m/384/""`, 0}, {`openai/m/384/"q: "`, 0}, {`openai/org/m/8193/"q: "`, 0}, {`openai/org/m/0/"q: "`, 0}, {`openai/org/m/-3/"q: "`, 0},
		{`openai/org/m/x/384/"q: "`, 0}, {`openai/org/m//"q: "`, 0}, {`openai/org/m/"q: "`, 0}, {"builtin/1", 0}, {"", 0},
	} {
		e, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		space, dim := e.Former(c.space)
		if dim != c.dim || e.Dim() != c.dim || space != e.Space() || (space == "") != (dim == 0) || e.Answered() {
			t.Errorf("%s: %q, %d, Dim %d", c.space, space, dim, e.Dim())
		}
		if again, _ := e.Former(`openai/org/m/512/"q: "`); (again != "") != (c.dim == 0) {
			t.Errorf("%s: another length after it: %q", c.space, again)
		}
	}
	e := open(t, serve(t, lexical), Options{})
	e.Former(`openai/m/512/""`)
	if err := e.Dial(context.Background()); !errors.Is(err, embed.ErrDim) || e.Dim() != 512 {
		t.Errorf("dial after another length: %v, dim %d", err, e.Dim())
	}
}

func TestSpaces(t *testing.T) {
	seen := map[string]bool{}
	for _, o := range []Options{
		{Model: "m", Dimensions: 2}, {Model: "n", Dimensions: 2}, {Model: "m", Dimensions: 3}, {Model: "m", Dimensions: 2, Prefix: "q: "},
	} {
		e, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		seen[e.Space()] = true
	}
	if len(seen) != 4 {
		t.Errorf("%d spaces: %v", len(seen), seen)
	}
}

func TestOptions(t *testing.T) {
	for field, o := range map[string]Options{
		"":           {Model: "m"},
		"Model":      {},
		"BaseURL":    {Model: "m", BaseURL: "localhost:11434"},
		"Dimensions": {Model: "m", Dimensions: -1},
		"Timeout":    {Model: "m", Timeout: -1},
		"Thresholds": {Model: "m", Thresholds: embed.Thresholds{Hit: 0.8, Route: 0.8, Edge: 0.5}},
	} {
		err := o.validate()
		if (err == nil) != (field == "") || err != nil && (!errors.Is(err, errOptions) || !strings.Contains(err.Error(), field)) {
			t.Errorf("%s: %v", field, err)
		}
	}
}
