package main

import (
	"math"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/tidwall/gjson"

	"reprise/proxy/observe/whatif"
)

// TestWhatIfIsAReplayOfTheRequestLog: the curves of a proxy are those of full replays of the log that it has written, within a point in the
// mean. Their command is reprise-lab replay --trace LOG --warmup N --capacity ….
func TestWhatIfIsAReplayOfTheRequestLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "requests.jsonl")
	r := record(t, path)
	const requests = 3600
	chatter(r, requests, 4, 5)
	w := httptest.NewRecorder()
	r.admin.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://localhost/admin/whatif?wait=60s", nil))
	got := gjson.ParseBytes(w.Body.Bytes())
	log := r.end()
	curves := got.Get("curves")
	if got.Get("state").Str != whatif.StateReady || curves.Get("now").Int() != 60 || curves.Get("unit").Str != "entries" || int(curves.Get("window.requests").Int()) != len(log) {
		t.Fatalf("%d requests in the log: %s", len(log), w.Body)
	}
	if reuse := got.Get("reuse"); reuse.Get("pairs").Int() < 30 || reuse.Get("error_rates.#(present==true).set").Str != "REPRISE_MAX_ERROR_RATE=0" ||
		reuse.Get("thresholds.#(present==true).set").Str != "REPRISE_HIT_THRESHOLD=0.9" || reuse.Get("thresholds.#(present==true).hits_per_1000").Num <= 0 {
		t.Errorf("reuse: %s", reuse)
	}
	warm := len(log) - int(curves.Get("window.counted").Int())
	sum, figures := 0.0, 0
	for _, p := range curves.Get("policies").Array() {
		for i, c := range curves.Get("capacities").Array() {
			ratio := p.Get("hit_ratio").Array()[i]
			if ratio.Type != gjson.Number {
				t.Fatalf("%s at %s has no figure: %s", p.Get("policy"), c.Get("capacity"), curves)
			}
			replayed := replayLog(t, log, p.Get("policy").Str, int(c.Get("capacity").Int()))[warm:]
			sum, figures = sum+math.Abs(ratio.Num-float64(countHits(replayed))/float64(len(replayed))), figures+1
		}
	}
	mean := 100 * sum / float64(figures)
	t.Logf("mean absolute error %.3f points of %d figures", mean, figures)
	if mean > 1 {
		t.Errorf("mean absolute error %.3f points, want at most 1", mean)
	}
	// The present policy and capacity are what was measured.
	hits, counted := 0, 0
	for i, hit := range logged(t, path, "hit") {
		if i >= warm {
			counted++
			if hit == "true" {
				hits++
			}
		}
	}
	if want := float64(hits) / float64(counted); math.Abs(curves.Get("measured_hit_ratio").Num-want) > 1e-9 {
		t.Errorf("measured %v, the log has %v", curves.Get("measured_hit_ratio").Num, want)
	}
}

func TestWhatIfWaitsForRequests(t *testing.T) {
	r := record(t, filepath.Join(t.TempDir(), "requests.jsonl"))
	defer r.close(0)
	for query, want := range map[string]int{"": http.StatusOK, "?wait=1ms": http.StatusOK, "?wait=2m": http.StatusBadRequest, "?wait=x": http.StatusBadRequest} {
		w := httptest.NewRecorder()
		r.admin.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://localhost/admin/whatif"+query, nil))
		if w.Code != want || want == http.StatusOK && gjson.GetBytes(w.Body.Bytes(), "state").Str != whatif.StateShort {
			t.Errorf("%q: %d %s", query, w.Code, w.Body)
		}
	}
}
