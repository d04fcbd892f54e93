package proxy

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reprise/internal/dataset"
)

// TestWrongAnswers asks the whole proxy, with the defaults of `reprise serve`, every utterance of labelled data sets once,
// and counts hits by meaning whose stored question has another label. It measures and does not judge:
//
//	REPRISE_DATA=DIR go test ./proxy -run WrongAnswers -v
func TestWrongAnswers(t *testing.T) {
	dir := os.Getenv("REPRISE_DATA")
	if dir == "" {
		t.Skip("REPRISE_DATA is not set: wrong answers are not measured")
	}
	for _, set := range []struct{ file, text, label string }{
		{"intent/banking77.jsonl.gz", "text", "intent"}, {"intent/clinc150.jsonl.gz", "text", "intent"},
		{"intent/hwu64.jsonl.gz", "text", "intent"}, {"intent/snips.jsonl.gz", "text", "intent"},
		{"prompts/nq_open_dev.jsonl.gz", "question", "answer"}, {"prompts/arena_hard_v0.1.jsonl.gz", "prompt", "uid"},
	} {
		played := playLabelled(t, labelled(t, filepath.Join(dir, set.file), set.text, set.label))
		t.Logf("%-32s %6d requests: %5d exact, %4d by meaning, %d of these under another label", set.file, played.requests, played.exact, played.semantic, len(played.other))
		for _, pair := range played.other[:min(len(played.other), 12)] {
			t.Logf("    %q was answered as %q", pair[1], pair[0])
		}
	}
}

type utterance struct{ text, label string }

func labelled(t *testing.T, path, text, label string) (all []utterance) {
	for one, err := range dataset.Rows[map[string]any](path) {
		if err != nil {
			t.Fatal(err)
		}
		of, _ := json.Marshal(one[label])
		all = append(all, utterance{one[text].(string), string(of)})
	}
	return all
}

type playedSet struct {
	requests, exact, semantic int
	other                     [][2]string // stored and asked, of different labels
}

func playLabelled(t *testing.T, all []utterance) (p playedSet) {
	r := newRigAt(t, nil, http.HandlerFunc(instantUpstream), func(o *Options) {
		o.Store, o.Logger, o.Transport, o.Words = newStore(t, 100_000, nil), nil, instantTransport{}, true
	})
	h := r.Handler()
	made := map[string]utterance{} // by entry
	for _, u := range all {
		req := httptest.NewRequest("POST", "/v1/chat/completions", strings.NewReader(chat(u.text)))
		req.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, req)
		p.requests++
		entry := w.Header().Get("X-Reprise-Entry")
		switch w.Header().Get("X-Cache") {
		case "miss":
			made[entry] = u
		case "exact":
			p.exact++
		case "semantic":
			p.semantic++
			if was := made[entry]; was.label != u.label {
				p.other = append(p.other, [2]string{was.text, u.text})
			}
		}
	}
	return p
}
