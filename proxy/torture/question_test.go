package torture

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
)

var (
	tenants    = []string{"Bearer sk-canary-a", "Bearer sk-canary-b", "Bearer sk-canary-c"}
	models     = []string{"gpt-4o", "gpt-4o-mini"}
	namespaces = []string{"", "", "", "red", "blue"}
	systems    = []string{"", "", "Be a brief canary.", "Be a rude canary."}
)

// groups are prompts that may share an answer; prompts of two groups must not, however similar they are.
var groups = [][]string{
	{"What is the capital of canaryland?", "what is the capital of canaryland", "What is the capital of canaryland"},
	{"What is the capital of canarystan?", "what is the capital of canarystan"},
	{"How do I add 2 canaries to 3 canaries?", "how do i add 2 canaries to 3 canaries"},
	{"How do I add 3 canaries to 2 canaries?"},
	{"How do I add 2 canaries to 4 canaries?"},
	{"Is it safe to feed a canary bread?", "is it safe to feed a canary bread"},
	{"Is it not safe to feed a canary bread?"},
	{"Who sold the canary, Anna or Bert?", "who sold the canary, anna or bert"},
	{"Turn the canary light on", "turn the canary light on"},
	{"Turn the canary light off"},
}

const tales = 40 // groups of one prompt each: they fill the capacity

var prompts, groupOf = func() (all []string, of map[string]int) {
	of = map[string]int{}
	add := func(group int, prompt string) { all, of[prompt] = append(all, prompt), group }
	for i, g := range groups {
		for _, p := range g {
			add(i, p)
		}
	}
	for i := range tales {
		add(len(groups)+i, fmt.Sprintf("Read me tale number %d of the canary", i))
	}
	return all, of
}()

// question is what a client asks.
type question struct {
	tenant, model, namespace, system, prompt string
	stream                                   bool
	directive                                string // a header line
	padding                                  int    // bytes that follow the prompt, about
}

// pad separates a prompt from what makes it long.
const pad = " 1.5 "

// directives are header lines that clients add; most requests have none. None of them may widen what the operator allows: the
// threshold 0.01 and the life of a day count for nothing.
var directives = []string{"", "", "", "", "", "", "", "", "Cache-Control: no-cache", "Cache-Control: no-store", "Cache-Control: max-age=20",
	"Cache-Control: only-if-cached", "X-Reprise-Threshold: 0.99", "X-Reprise-Threshold: 0.01", "X-Reprise-Mode: exact", "X-Reprise-Mode: off",
	"X-Reprise-TTL: 5", "X-Reprise-TTL: 86400"}

func newQuestion(rng *rand.Rand) question {
	pick := func(from []string) string { return from[rng.IntN(len(from))] }
	q := question{tenant: pick(tenants), model: pick(models), namespace: pick(namespaces), system: pick(systems), prompt: pick(prompts),
		stream: rng.IntN(2) == 0, directive: pick(directives)}
	if rng.IntN(4) > 0 { // most requests are about a few questions
		q.tenant, q.model, q.namespace, q.system, q.prompt = tenants[rng.IntN(2)], models[0], "", "", pick(prompts[:18])
	}
	return q
}

func (q *question) body() string {
	type message struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	}
	var m []message
	if q.system != "" {
		m = append(m, message{"system", q.system})
	}
	m = append(m, message{"user", q.prompt + strings.Repeat(pad, q.padding/len(pad))})
	b, err := json.Marshal(map[string]any{"model": q.model, "messages": m, "stream": q.stream})
	if err != nil {
		panic(err) // a mistake in this test
	}
	return string(b)
}

// header is the header of request n. Its trace id names the request upstream; tracing is no part of what a request asks.
func (q *question) header(n int64) http.Header {
	h := http.Header{"Content-Type": {"application/json"}, "Authorization": {q.tenant}, "Traceparent": {traceOf(n)}}
	if q.namespace != "" {
		h.Set("X-Reprise-Namespace", q.namespace)
	}
	if name, value, ok := strings.Cut(q.directive, ": "); ok {
		h.Set(name, value)
	}
	return h
}

func traceOf(n int64) string { return fmt.Sprintf("00-%032x-%016x-01", n+1, n+1) }

// requestOf is the reverse of traceOf; -1 for none.
func requestOf(trace string) int64 {
	var n int64
	if _, err := fmt.Sscanf(trace, "00-%x-", &n); err != nil {
		return -1
	}
	return n - 1
}

// same is the key of a question: equal for equal requests.
func (q *question) same() string {
	return strings.Join([]string{q.tenant, q.model, q.namespace, q.system, q.prompt}, "|")
}

func (q *question) says(words ...string) bool {
	for _, w := range words {
		if strings.Contains(q.directive, w) {
			return true
		}
	}
	return false
}

// mayShare returns what forbids that an answer to other is served to q, "" if nothing does.
func (q *question) mayShare(other *question) string {
	switch {
	case q.tenant != other.tenant:
		return "tenant"
	case q.model != other.model:
		return "model"
	case q.system != other.system:
		return "system prompt"
	case q.namespace != other.namespace:
		return "namespace"
	case group(q.prompt) != group(other.prompt):
		return "prompt"
	}
	return ""
}

// group is the prompts that q may share an answer with: its group, or itself and its form without capitals and final mark.
func group(prompt string) string {
	if g, ok := groupOf[prompt]; ok {
		return fmt.Sprint(g)
	}
	return strings.ToLower(strings.TrimRight(prompt, "?"))
}
