package demo

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"
	"time"

	"github.com/tidwall/gjson"

	"reprise/topics/reuse/normal"
)

// Rates is the speed of an engine in tokens per second: of the part of a prompt that its cache does not hold, and of one answer.
type Rates struct{ Prefill, Decode float64 }

// nominal are the rates of an engine that does not wait, from which it computes the time that it reports.
var nominal = Rates{Prefill: 8000, Decode: 60}

// engine answers chat completions without a model: the questions of Workload from a table, all others with composed
// text. Its prefix cache is real, and its time is computed from two rates. Equal requests get equal texts. Requests do not slow each other
// down.
type engine struct {
	models []string
	waits  bool
	rates  Rates
	cache  *prefixes
	served atomic.Int64
}

// NewEngine returns an engine that answers for every model, lists the given ones, and keeps up to so many blocks of BlockTokens tokens. At
// rates of 0 it does not wait.
func NewEngine(models []string, blocks int, r Rates) http.Handler {
	e := &engine{models: models, waits: r != Rates{}, rates: r, cache: newPrefixes(blocks)}
	if !e.waits {
		e.rates = nominal
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/models", e.list)
	mux.HandleFunc("POST /v1/chat/completions", e.chat)
	return mux
}

// object is a JSON object.
type object = map[string]any

func (e *engine) list(w http.ResponseWriter, _ *http.Request) {
	data := []object{}
	for _, name := range e.models {
		data = append(data, object{"id": name, "object": "model", "created": 1700000000, "owned_by": "demo"})
	}
	writeJSON(w, http.StatusOK, object{"object": "list", "data": data})
}

func writeJSON(w http.ResponseWriter, status int, v object) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // a client that left has no use for the error
}

func (e *engine) chat(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 64<<20))
	q := gjson.ParseBytes(body)
	if err != nil || q.Get("model").String() == "" || len(q.Get("messages").Array()) == 0 {
		writeJSON(w, http.StatusBadRequest, object{"error": object{"type": "invalid_request_error", "message": "A model and messages are required.",
			"param": nil, "code": nil}})
		return
	}
	a := e.answer(q)
	defer a.keep()
	w.Header().Set("Openai-Processing-Ms", fmt.Sprint(a.time(len(a.tokens)).Milliseconds()))
	if q.Get("stream").Bool() {
		a.stream(w, r, q.Get("stream_options.include_usage").Bool())
	} else if a.wait(r.Context(), len(a.tokens)) == nil {
		writeJSON(w, http.StatusOK, a.whole())
	}
}

// answer is one request that is being answered.
type answer struct {
	e         *engine
	id, model string
	start     time.Time
	salt      string
	prompt    []string // tokens
	cached    int      // tokens of the prompt that the cache held
	tokens    []string // of the text, or of the arguments of the call of a tool
	tool      string   // the name of that tool; "": text
	finish    string
	made      int // tokens so far
}

// answer computes the answer and takes the prompt into the cache.
func (e *engine) answer(q gjson.Result) *answer {
	a := &answer{e: e, id: fmt.Sprintf("demo%012x", e.served.Add(1)), model: q.Get("model").String(), start: time.Now(), salt: q.Get("cache_salt").String(), finish: "stop"}
	asked, last := a.read(q)
	text, known := scripted(asked)
	if order := orderAsked.FindStringSubmatch(last); order != nil && q.Get("tools").IsArray() {
		text, a.tool, a.finish = `{"order":`+order[1]+`}`, "order_status", "tool_calls"
	} else if !known {
		text = a.compose(asked)
	}
	a.tokens = split(text)
	if limit := int(cmp.Or(q.Get("max_completion_tokens").Int(), q.Get("max_tokens").Int())); limit > 0 && limit < len(a.tokens) {
		a.tokens, a.finish = a.tokens[:limit], "length"
	}
	found := e.cache.touch(blocksOf(a.salt, a.prompt))
	a.cached = min(found, (len(a.prompt)-1)/BlockTokens) * BlockTokens // the last token is computed, because the answer begins there
	return a
}

// keep takes the tokens that were made into the cache, because a conversation goes on with them.
func (a *answer) keep() {
	a.e.cache.touch(blocksOf(a.salt, append(a.prompt, a.tokens[:a.made]...)))
}

// read cuts the prompt into tokens, each message by itself, so that a conversation that goes on begins with the tokens before. It returns the
// texts of the user and, if the last message is one of them, that one again.
func (a *answer) read(q gjson.Result) (asked []string, last string) {
	a.prompt = split(q.Get("tools").Raw)
	for _, m := range q.Get("messages").Array() {
		role, text := m.Get("role").String(), m.Get("content").String()
		if m.Get("content").IsArray() {
			text = ""
			for _, part := range m.Get("content.#.text").Array() {
				text += part.String()
			}
		}
		a.prompt = append(a.prompt, split("<|"+role+"|>")...)
		a.prompt = append(a.prompt, split(text)...)
		a.prompt = append(append(a.prompt, split(m.Get("tool_calls.#.function").Raw)...), "<|end|>")
		if last = ""; role == "user" {
			asked, last = append(asked, text), text
		}
	}
	a.prompt = append(a.prompt, split("<|assistant|>")...)
	return asked, last
}

// orderAsked are the questions of Workload that need its tool.
var orderAsked = regexp.MustCompile(`^Call tool order_status: where is my order (\d+)\?$`)

// piece is a token: up to six letters or three digits of a word with the space before it, white space, or any other character.
var piece = regexp.MustCompile(`(?s) ?[\pL\pM]{1,6}| ?[0-9]{1,3}|\s+|.`)

func split(text string) []string { return piece.FindAllString(text, -1) }

// compose returns a plausible text. It depends on the model and on what is asked, whatever the courtesy, and quotes no word of it.
func (a *answer) compose(asked []string) string {
	var text string
	for _, question := range asked {
		text += "\x00" + string(normal.Of(question).Append(nil))
	}
	sum := sha256.Sum256([]byte(a.model + text))
	rng := rand.New(rand.NewPCG(binary.LittleEndian.Uint64(sum[:]), binary.LittleEndian.Uint64(sum[8:])))
	text = "Here is an answer."
	for range 2 + rng.IntN(6) {
		text += " " + pick(rng, composed[0]) + " " + pick(rng, composed[1]) + " " + pick(rng, composed[2]) + "."
	}
	return text
}

// composed are the subjects, verbs and objects of composed sentences.
var composed = [3][]string{
	{"The first step", "A good rule", "The usual way", "Most of the time the answer", "The main idea", "In practice the result", "The safest choice"},
	{"is", "depends on", "begins with", "comes down to", "follows from", "should agree with", "rests on"},
	{"a clear plan", "the size of the data", "what was asked before", "one small example", "the order of the steps", "a careful reading", "two simple facts"},
}

// time is how long it takes until n tokens of the answer are made.
func (a *answer) time(n int) time.Duration {
	seconds := float64(len(a.prompt)-a.cached)/a.e.rates.Prefill + float64(n)/a.e.rates.Decode
	return time.Duration(seconds * float64(time.Second))
}

// wait returns when n tokens of the answer are made, or with an error when the client has left.
func (a *answer) wait(ctx context.Context, n int) error {
	if a.e.waits {
		select {
		case <-time.After(time.Until(a.start.Add(a.time(n)))):
		case <-ctx.Done():
		}
	}
	a.made = n
	return ctx.Err()
}

func (a *answer) usage() object {
	return object{"prompt_tokens": len(a.prompt), "completion_tokens": len(a.tokens), "total_tokens": len(a.prompt) + len(a.tokens),
		"prompt_tokens_details": object{"cached_tokens": a.cached}}
}

func (a *answer) head(kind string, choices ...object) object {
	return object{"id": "chatcmpl-" + a.id, "object": kind, "created": a.start.Unix(), "model": a.model, "choices": append([]object{}, choices...)}
}

// message returns the message of the assistant, or its first delta in a stream, with a text or the arguments of its tool.
func (a *answer) message(text string, delta bool) object {
	if a.tool == "" {
		return object{"role": "assistant", "content": text}
	}
	call := object{"id": "call_" + a.id, "type": "function", "function": object{"name": a.tool, "arguments": text}}
	if delta {
		call["index"] = 0
	}
	return object{"role": "assistant", "content": nil, "tool_calls": []object{call}}
}

func (a *answer) whole() object {
	body := a.head("chat.completion", object{"index": 0, "message": a.message(strings.Join(a.tokens, ""), false), "finish_reason": a.finish})
	body["usage"] = a.usage()
	return body
}

// stream sends one chunk a token, at the time when it is made.
func (a *answer) stream(w http.ResponseWriter, r *http.Request, withUsage bool) {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	send := func(chunk object) {
		data, _ := json.Marshal(chunk) // texts and numbers cannot fail
		fmt.Fprintf(w, "data: %s\n\n", data)
		if a.e.waits {
			_ = http.NewResponseController(w).Flush() // a client that left ends the wait for the next token
		}
	}
	delta := func(d object, finish any) {
		send(a.head("chat.completion.chunk", object{"index": 0, "delta": d, "finish_reason": finish}))
	}
	if a.wait(r.Context(), 0) != nil {
		return
	}
	delta(a.message("", true), nil)
	for n, token := range a.tokens {
		if a.wait(r.Context(), n+1) != nil {
			return
		}
		if a.tool != "" {
			delta(object{"tool_calls": []object{{"index": 0, "function": object{"arguments": token}}}}, nil)
		} else {
			delta(object{"content": token}, nil)
		}
	}
	delta(object{}, a.finish)
	if withUsage {
		last := a.head("chat.completion.chunk")
		last["usage"] = a.usage()
		send(last)
	}
	fmt.Fprint(w, "data: [DONE]\n\n")
}
