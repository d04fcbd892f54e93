package kvevents

import (
	"bytes"
	"strconv"
	"strings"
)

// Capacity reads from an engine's metrics, in the text form of Prometheus, how many tokens its KV cache holds: vLLM's
// vllm:cache_config_info, whose labels have the blocks and their size, or SGLang's sglang:max_total_num_tokens. Of several model
// servers behind one address, the capacities are added.
func Capacity(metrics []byte) (tokens int, ok bool) {
	for line := range bytes.Lines(metrics) {
		name, rest, _ := strings.Cut(string(bytes.TrimSpace(line)), "{")
		labels, value, _ := strings.Cut(rest, "}")
		n := 0
		switch name {
		case "vllm:cache_config_info":
			n = number(label(labels, "num_gpu_blocks")) * number(label(labels, "block_size"))
		case "sglang:max_total_num_tokens":
			n = number(strings.Fields(value + " 0")[0])
		}
		if n > 0 {
			tokens, ok = tokens+n, true
		}
	}
	return tokens, ok
}

// label is the value of one label, "" if there is none. Values with a quote in them are none of those that are read here.
func label(labels, name string) string {
	for part := range strings.SplitSeq(labels, ",") {
		if key, value, _ := strings.Cut(strings.TrimSpace(part), "="); key == name {
			return strings.Trim(value, `"`)
		}
	}
	return ""
}

// number is the value of a whole number in the forms of the engines, such as 8192 and 8.192e+03, 0 for anything else.
func number(s string) int {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || !(f > 0 && f < 1<<40) {
		return 0
	}
	return int(f)
}
