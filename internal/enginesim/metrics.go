package enginesim

import (
	"fmt"
	"net/http"
)

// metrics writes the state of the cache under vLLM's names.
func (e *Engine) metrics(w http.ResponseWriter, _ *http.Request) {
	s := e.Stats()
	w.Header().Set("Content-Type", "text/plain; version=0.0.4")
	for _, m := range []struct {
		name, kind, labels string
		value              float64
	}{
		{"cache_config_info", "gauge", fmt.Sprintf(`block_size="%d",num_gpu_blocks="%d"`, BlockTokens, e.o.Blocks), 1},
		{"num_requests_running", "gauge", "", float64(s.InFlight)},
		{"num_requests_waiting", "gauge", "", 0}, // requests do not slow each other down
		{"kv_cache_usage_perc", "gauge", "", float64(s.BlocksUsed) / float64(e.o.Blocks)},
		{"prefix_cache_queries_total", "counter", "", float64(s.PromptTokens)},
		{"prefix_cache_hits_total", "counter", "", float64(s.CachedTokens)},
	} {
		fmt.Fprintf(w, "# TYPE vllm:%s %s\nvllm:%s{%s} %g\n", m.name, m.kind, m.name, m.labels, m.value)
	}
}
