package torture

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/tidwall/gjson"
)

// form is what an answer says, without its id, its time and whether it was streamed.
type form struct {
	text, finish string
	usage        string // "" where none is reported
	failure      bool   // it holds an error object
	whole        bool   // it has its end
}

func formOf(body string) form {
	if strings.HasPrefix(strings.TrimSpace(body), "{") {
		return objectForm(gjson.Parse(body))
	}
	var f form
	for line := range strings.Lines(body) {
		data, ok := strings.CutPrefix(strings.TrimRight(line, "\r\n"), "data: ")
		switch {
		case !ok || !strings.HasSuffix(line, "\n") && data != "[DONE]": // a comment, or cut in the middle
		case data == "[DONE]":
			f.whole = f.finish != ""
		default:
			f.add(gjson.Parse(data))
		}
	}
	return f
}

func objectForm(o gjson.Result) form {
	choice := o.Get("choices.0")
	f := form{text: choice.Get("message.content").String(), finish: choice.Get("finish_reason").String(), failure: o.Get("error").Exists()}
	f.whole = f.finish != "" && gjson.Valid(o.Raw)
	f.usage = usageOf(o)
	return f
}

func (f *form) add(ev gjson.Result) {
	f.text += ev.Get("choices.0.delta.content").String()
	if r := ev.Get("choices.0.finish_reason").String(); r != "" && f.finish == "" {
		f.finish = r
	}
	if u := usageOf(ev); u != "" {
		f.usage = u
	}
	f.failure = f.failure || ev.Get("error").Exists()
}

func usageOf(o gjson.Result) string {
	if u := o.Get("usage"); u.IsObject() {
		return fmt.Sprint(u.Get("prompt_tokens").Int(), "+", u.Get("completion_tokens").Int())
	}
	return ""
}

// bytesOf identifies bytes without keeping them.
type bytesOf = [sha256.Size]byte

// ask is one request as its client saw it. start and end are ticks of the history's clock.
type ask struct {
	question
	n          int64
	start, end int64
	began      time.Time
	took       time.Duration
	aborted    bool  // its client meant to leave early
	err        error // of the request or of reading the answer
	status     int
	cache, age string // header fields
	cacheNote  string // Cache-Status
	head       string // the first bytes of the body
	bytes      bytesOf
	form       form
}

func (a *ask) received(body string) {
	a.head, a.bytes, a.form = body[:min(len(body), 400)], sha256.Sum256([]byte(body)), formOf(body)
}

// call is one call as the upstream saw it.
type call struct {
	n          int64 // its answer's own number
	of         int64 // the request that it was made for, -1 for unknown
	start, end int64
	begun      int64 // when its answer began; 0: never
	question         // as far as it can be seen upstream: tenant, model, system, prompt, stream
	fault      string
	spoils     bool    // the fault may make the client fail
	keep       bool    // its answer may be stored
	raw        bytesOf // the body that was sent
	sent       form    // what the whole answer says
	gone       bool    // the proxy closed the connection before the end
}

// text is the answer: it begins with its number and ends in a full stop.
func (c *call) text() string {
	return fmt.Sprintf("Answer %d: %sthat is all.", c.n, strings.Repeat("word for word, ", int(3+c.n%9)))
}

type purge struct {
	start, end       int64
	model, namespace string // both empty: all
	status           int
}

func (p *purge) matches(q *question) bool {
	return (p.model == "" || p.model == q.model) && (p.namespace == "" || p.namespace == q.namespace)
}

// span is a stretch of time in ticks.
type span struct{ from, to int64 }

func (s span) meets(from, to int64) bool { return s.from < to && (s.to == 0 || s.to > from) }

// stored is an entry of the cache as the admin API shows it at the end.
type stored struct {
	id   int64
	form form
	err  string // why its answer could not be read
	life time.Duration
}

// history is all that happened in a run, seen from both sides of the proxy.
type history struct {
	mu     sync.Mutex // guards what follows until the run is over
	clock  int64      // orders events
	asks   []*ask
	calls  []*call
	purges []purge
	fault  span   // while the fault was in force
	down   []span // while the proxy was not running
	errors map[bytesOf]bool

	// Figures of the end.
	entries  []stored
	capacity int64 // bytes; 0: not limited
	peak     int64 // bytes seen at one time
	largest  int64 // upper bound of one entry
	metrics  map[string]float64
	texts    map[string]string // logs and metrics, by name

	byKey map[string][]*call // the calls, by the key of their request
}

func newHistory() *history { return &history{errors: map[bytesOf]bool{}, texts: map[string]string{}} }

func (h *history) tick() int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.clock++
	return h.clock
}

func (h *history) asked(q question) *ask {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.clock++
	a := &ask{question: q, n: int64(len(h.asks)), start: h.clock}
	h.asks = append(h.asks, a)
	return a
}

// called adds a call: calls are in the order of their starts.
func (h *history) called(of int64) *call {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.clock++
	c := &call{n: int64(len(h.calls)), of: of, start: h.clock}
	h.calls = append(h.calls, c)
	return c
}

func (h *history) purged(p purge) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.purges = append(h.purges, p)
}

// sentError records the body of an error of the upstream.
func (h *history) sentError(b bytesOf) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.errors[b] = true
}

// origin is the call whose answer text is, or begins with; nil where no call gave it. A text that ends before the number does is
// of no known origin.
func (h *history) origin(text string) *call {
	var n int
	if _, err := fmt.Sscanf(text, "Answer %d:", &n); err != nil || n < 0 || n >= len(h.calls) || !strings.HasPrefix(h.calls[n].text(), text) {
		return nil
	}
	return h.calls[n]
}

// index prepares a history that is over for the checks.
func (h *history) index() {
	h.byKey = map[string][]*call{}
	for _, c := range h.calls {
		if c.of >= 0 && c.of < int64(len(h.asks)) {
			key := h.asks[c.of].same()
			h.byKey[key] = append(h.byKey[key], c)
		}
	}
}
