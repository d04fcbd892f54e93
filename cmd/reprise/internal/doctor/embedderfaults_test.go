package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"net/http"
	"testing"

	"reprise/embed"
)

var embedderFaults = []fault{
	{"an embedder that is not there", "error embedder.answer", "connection refused", func(p *patient) {
		p.set("EMBEDDER", "openai:http://"+refusing(p.t)+"/v1")
	}},
	{"an embedder that refuses the credential", "error embedder.answer", "status 401", func(p *patient) {
		p.embedder(nil, func(w http.ResponseWriter) { w.WriteHeader(401) })
	}},
	{"a folder without a model", "error embedder.answer", "model2vec:/none", func(p *patient) { p.set("EMBEDDER", "model2vec:/none") }},
	{"vectors with NaN", "error embedder.answer", "embedding server", func(p *patient) {
		p.embedder(nil, func(w http.ResponseWriter) { io.WriteString(w, `{"data":[{"index":0,"embedding":[NaN,1]}]}`) })
	}},
	{"vectors without direction", "error embedder.answer", "without direction", func(p *patient) {
		p.embedder(func(string) []float32 { return make([]float32, 16) }, nil)
	}},
	{"an embedder that is slow", "error embedder.speed", "6 of 6 vectors took longer", func(p *patient) {
		p.embedder(func(text string) []float32 {
			if text != "probe" {
				<-p.t.Context().Done()
			}
			return lexical(text)
		}, nil)
	}},
	{"other vectors each time", "error embedder.repeat", "two vectors of one text", func(p *patient) {
		p.embedder(func(text string) []float32 {
			v := lexical(text)
			for i := range v {
				v[i] += 0.02 * float32(rand.NormFloat64())
			}
			return v
		}, nil)
		p.set("HIT_THRESHOLD", "0.5", "ROUTE_THRESHOLD", "0.3")
	}},
	{"one vector for all texts", "error embedder.sense", "different questions have a similarity of 1.00", func(p *patient) {
		p.embedder(func(string) []float32 { return []float32{1, 0, 0} }, nil)
	}},
	{"vectors without meaning", "error embedder.sense", "questions that ask the same have a similarity of", func(p *patient) {
		p.embedder(func(text string) []float32 {
			h := fnv.New64a()
			h.Write([]byte(text))
			rng := rand.New(rand.NewPCG(h.Sum64(), 0))
			v := make([]float32, 384)
			for i := range v {
				v[i] = float32(rng.NormFloat64())
			}
			return v
		}, nil)
	}},
	{"a threshold that nothing reaches", "warning embedder.sense", "makes a hit", func(p *patient) { p.set("HIT_THRESHOLD", "0.999") }},
}

// lexical is the vector of the built-in embedder.
func lexical(text string) []float32 {
	v, err := embed.NewBuiltin().Embed(context.Background(), []string{text})
	if err != nil || v[0] == nil {
		panic(fmt.Sprint(text, err))
	}
	return v[0]
}

// embedder makes the embedder a server, which computes vectors so, or answers so.
func (p *patient) embedder(vector func(text string) []float32, answer func(http.ResponseWriter)) {
	p.set("HIT_THRESHOLD", "0.9")
	p.set("EMBEDDER", "openai:"+serve(p.t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if answer != nil {
			answer(w)
			return
		}
		var asked struct{ Input []string }
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
			p.t.Error(err)
		}
		type row struct {
			Index     int       `json:"index"`
			Embedding []float32 `json:"embedding"`
		}
		var rows []row
		for i, text := range asked.Input {
			rows = append(rows, row{i, vector(text)})
		}
		json.NewEncoder(w).Encode(map[string]any{"data": rows})
	}), nil)+"/v1")
}

// TestEmbeddingServer: a server in which all is well is no fault, and the modes without meaning ask none.
func TestEmbeddingServer(t *testing.T) {
	p := newPatient(t)
	p.embedder(lexical, nil)
	if r, printed := p.examine(); len(r.complaints()) > 0 {
		t.Error(printed)
	}
	p.set("EMBEDDER", "openai:http://"+refusing(t)+"/v1", "MODE", "exact")
	if r, printed := p.examine(); len(r.complaints()) > 0 {
		t.Error(printed)
	}
}
