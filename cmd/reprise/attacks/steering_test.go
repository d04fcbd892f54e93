package attacks_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// TestClientsDoNotSteerEngines is line 28 of the list in SECURITY.md: what names a rank, a worker or a host in a request reaches no engine,
// neither through the cache nor past it, in memory or while it is read.
func TestClientsDoNotSteerEngines(t *testing.T) {
	t.Parallel()
	headers := []string{"X-Data-Parallel-Rank", "3", "X-Smg-Target-Worker", "1", "X-Prefiller-Host-Port", "evil.example:80", "X-Worker-Instance-Id", "7",
		"X-Gateway-Destination-Endpoint", "10.0.0.1:80", "X_data_parallel_rank", "3"}
	const members = `,"kv_transfer_params":{"remote_host":"evil.example"},"routed_dp_rank":3,"bootstrap_host":"evil.example","pri\u006frity":-9}`
	for setting, passes := range map[string]bool{";dialect=vllm": false, ";dialect=vllm;trust": true} {
		var got []string
		up := upstream(t, func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			text := string(body)
			for name, values := range r.Header {
				text += "\n" + name + ": " + strings.Join(values, " ")
			}
			got = append(got, text) // one request at a time
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, answer("an answer"))
		})
		_, url, _ := strings.Cut(up, "=")
		p := start(t, "REPRISE_UPSTREAM=a="+url+setting)
		long := strings.Repeat("x", 100<<10)
		for _, request := range [][2]string{
			{"/v1/chat/completions", strings.TrimSuffix(chat("Who computes this?"), "}") + members},
			{"/v1/score", `{"a":1` + members}, {"/v1/score", `{"a":"` + long + `"` + members},
		} {
			got = nil
			p.Do("POST", p.API+request[0], request[1], headers...)
			if len(got) != 1 {
				t.Fatalf("%s: the engine got %d requests", request[0], len(got))
			}
			for _, name := range []string{"Rank", "Worker", "Host-Port", "Endpoint", "rank", "kv_transfer_params", "bootstrap_host", `pri\u006frity`} {
				if strings.Contains(got[0], name) != passes {
					t.Errorf("%s, %s: %s reached the engine: %v", setting, request[0], name, !passes)
				}
			}
		}
	}
}
