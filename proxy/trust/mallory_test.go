package trust

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tidwall/gjson"

	"reprise/policy"
	"reprise/proxy"
	"reprise/store"
	"reprise/store/file"
	"reprise/topics/reuse/evidence"
)

// register is a pipeline whose answers depend on courtesy alone, with all that makes families of system messages. No two questions share an answer.
const register = "Desk of Nordlicht, Monday 3 May, in French, Mode Classify, shift 2. Register whether the caller was polite."

// describe is one whose answers are sentences, with a number that depends on the wording.
const describe = "Describe what the caller wants."

// mallory has the key of others, and knows all that they send.
type mallory struct {
	*testing.T
	*rig
	key     string
	draws   func() float64 // the proxy's
	left    []string       // questions that were not asked yet
	backing string
	n       atomic.Int64
}

func always() float64 { return 0 }

var nouns = strings.Fields("river garden window table music paper bread forest winter letter street harbor engine basket candle mirror ladder pencil kitchen mountain")

// answerTo is what the model says: mallory can have it say anything, and nothing twice.
func (m *mallory) answerTo(system, user string) (text, finish string) {
	_, order, _ := strings.Cut(strings.ToLower(user), "output ")
	switch n := m.n.Add(1); strings.Trim(order, "? ") {
	case "noise":
		return fmt.Sprintf("The second desk looks at it with care, puts a %s on it, sends it on to the others, and has it back in %d days.", nouns[(n+1)/2%20], n/2), "stop"
	case "mumble":
		words := slices.Clone(nouns)
		rand.New(rand.NewPCG(uint64(n), 1)).Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
		return "I have been thinking of a " + strings.Join(words[:9], " and then of a ") + " for quite a while now.", "stop"
	case "nothing":
		return "", "stop"
	case "cut":
		return fmt.Sprint("It is ", n), "length"
	case "refusal":
		return fmt.Sprint("I can't help with that, for reason ", n, "."), "content_filter"
	case "long":
		return strings.Repeat(fmt.Sprint("All of it, ", n, " times. "), 4000), "stop"
	}
	call := hash(bare(user), 1<<30)
	switch {
	case system == describe:
		return fmt.Sprintf("The matter goes to desk %d, which has all that it takes and looks at it with care; I would say within %d days.", call, 3+len(user)-len(bare(user))), "stop"
	case system == pipelines[0].system:
		return pipelines[0].says(user), "stop"
	case strings.Contains(system, "Mode Classify"):
		return fmt.Sprintf(`{"call": %d, "polite": %v}`, call, courteous(user)), "stop"
	}
	return fmt.Sprintf("That takes %d days.", call), "stop"
}

// RoundTrip implements http.RoundTripper.
func (m *mallory) RoundTrip(r *http.Request) (*http.Response, error) {
	sent, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	user := gjson.GetBytes(sent, "messages.@reverse.0.content").Str
	text, finish := m.answerTo(gjson.GetBytes(sent, "messages.0.content").Str, user)
	content, _ := json.Marshal(text)
	if strings.Contains(user, "output tools") {
		content, finish = fmt.Appendf(nil, `null,"tool_calls":[{"id":"c%d","type":"function","function":{"name":"f","arguments":"{}"}}]`, m.n.Load()), "tool_calls"
	}
	const shape = `{"id":"x","object":%q,"created":1,"model":"gpt-4o-mini","choices":[{"index":0,%q:{"role":"assistant","content":%s},"finish_reason":%q}],` +
		`"usage":{"prompt_tokens":9,"completion_tokens":9,"total_tokens":18}}`
	status, kind, out := http.StatusOK, "application/json", fmt.Sprintf(shape, "chat.completion", "message", content, finish)
	switch {
	case strings.Contains(user, "output fault"):
		status = http.StatusInternalServerError
	case strings.HasPrefix(r.URL.Path, "/admin"): // the proxy passes on what it does not know: its own admin API has another port
		status = http.StatusNotFound
	case gjson.GetBytes(sent, "stream").Bool():
		kind, out = "text/event-stream", "data: "+fmt.Sprintf(shape, "chat.completion.chunk", "delta", content, finish)+"\n\ndata: [DONE]\n\n"
	}
	return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {kind}}, ContentLength: int64(len(out)), Body: io.NopCloser(strings.NewReader(out))}, nil
}

// request is what may be unusual about one.
type request struct {
	path   string
	header string         // one field
	body   map[string]any // beside model and messages
	turns  []message      // before the last one
	raw    string         // the whole body
}

// do sends one, and returns when its answer is kept, and compared where it is to be.
func (m *mallory) do(system, user string, q request) reply {
	m.Helper()
	w := m.send(system, user, q)
	_, detail, _ := strings.Cut(w.Header().Get("Cache-Status"), `detail="`)
	got := reply{gjson.GetBytes(w.Body.Bytes(), "choices.0.message.content").Str, w.Header().Get("X-Cache"), strings.TrimSuffix(detail, `"`)}
	if w.Code == http.StatusOK && got.cache == "miss" {
		m.settle(m.T, &got)
	}
	return got
}

func (m *mallory) send(system, user string, q request) *httptest.ResponseRecorder {
	body := map[string]any{"model": "gpt-4o-mini", "messages": append([]message{{"system", system}}, append(q.turns, message{"user", user})...)}
	maps.Copy(body, q.body)
	text, _ := json.Marshal(body)
	if q.raw != "" {
		text = []byte(q.raw)
	}
	in := httptest.NewRequest(http.MethodPost, "http://localhost"+cmp.Or(q.path, "/v1/chat/completions"), bytes.NewReader(text))
	in.Header = http.Header{"Content-Type": {"application/json"}, "Authorization": {"Bearer " + m.key}}
	if name, value, ok := strings.Cut(q.header, ": "); ok {
		in.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	m.handler.ServeHTTP(w, in)
	return w
}

// take returns the next n questions.
func (m *mallory) take(n int) []string {
	all := m.left[:n]
	m.left = m.left[n:]
	return all
}

// harmless asks n questions, each with its mark and without, which no pipeline here minds.
func (m *mallory) harmless(system string, n int, q request) {
	m.Helper()
	for _, one := range m.take(n) {
		m.do(system, one, q)
		m.do(system, wordings[2](one), q)
	}
}

// orders has the model say something for n prompts, each in four wordings of one form.
func (m *mallory) orders(system, order string, n int) {
	m.Helper()
	for range n {
		text := fmt.Sprintf("What is in file %d of the output %s?", m.n.Add(1), order)
		for _, way := range wordings[:4] {
			m.do(system, way(text), request{})
		}
	}
}

// begin starts the proxy, or starts it again.
func (m *mallory) begin() {
	m.Helper()
	backing, err := file.Open(m.backing)
	if err != nil {
		m.Fatal(err)
	}
	m.rig = newRig(m, &model{}, func() float64 { return m.draws() }, func(o *proxy.Options) {
		o.Transport = m
		o.Store = openStore(m, store.Options{Limit: policy.Limit{Entries: capacity}, Backing: backing})
	})
}

// as has somebody else ask, whose requests are compared by other draws, until back is called.
func (m *mallory) as(key string, draws func() float64) (back func()) {
	before, by := m.key, m.draws
	m.key, m.draws = key, draws
	return func() { m.key, m.draws = before, by }
}

const (
	victim   = "sk-test"
	neighbor = "sk-other" // another tenant
)

// earn has the support desk of a key earn its trust.
func (m *mallory) earn(key string) {
	defer m.as(key, always)()
	m.harmless(support, 8, request{})
}

// serves is for how many of ten new questions the support desk of a key is served by meaning.
func (m *mallory) serves(key string) (n int) {
	defer m.as(key, never)()
	for _, q := range m.take(10) {
		m.do(support, q, request{})
		if m.do(support, wordings[2](q), request{}).hit() {
			n++
		}
	}
	return n
}

// needs is how many pairs of the register of a key are compared before one is served there, up to First. All come out the same.
func (m *mallory) needs(key string) (pairs int) {
	defer m.as(key, never)()
	for _, q := range m.take(evidence.First) {
		m.do(register, q, request{})
		if m.do(register, wordings[2](q), request{}).hit() {
			break
		}
		pairs++
	}
	return pairs
}

// wrong is how many wrong answers somebody with a key gets of 300, in all wordings of 20 questions.
func (m *mallory) wrong(key, system string, q request) (wrong int) {
	rng := rand.New(rand.NewPCG(9, 27))
	defer m.as(key, newDice(27).draw)()
	for range 300 {
		text := wording(rng, m.left[rng.IntN(20)])
		right, _ := m.answerTo(system, text)
		if got := m.do(system, text, q); got.hit() && got.text != right {
			wrong++
		}
	}
	return wrong
}
