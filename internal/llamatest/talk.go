package llamatest

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// The workload: conversations with a long system prompt each, whose short questions alternate. Two engines with four slots have room for all
// of them, and one has not.
const (
	Conversations = 6
	Turns         = 8    // of each conversation
	Prefix        = 2000 // tokens of each system prompt
	question      = 20   // tokens
	reply         = 8    // tokens
	rest          = 20   // tokens of a turn besides, at most: the roles
)

// StartTwo starts two engines whose slots have room for a conversation of the workload each.
func StartTwo(t testing.TB, o Options) []*Engine {
	t.Helper()
	o.Context, o.Answer = Prefix+Turns*(question+reply+rest), reply
	return []*Engine{Start(t, o), Start(t, o)}
}

// Message is a member of the messages of a request.
type Message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// Conversation is what a client sends with its next request.
type Conversation struct {
	Number   int
	Messages []Message
	NoCache  bool // the proxy shall ask an engine, whatever it has stored
}

// Talk is the order in which the clients of all conversations ask. Equal seeds are equal talks.
type Talk struct {
	Conversations []*Conversation
	random        *rand.Rand
}

// NewTalk makes a talk before its first question.
func NewTalk(seed uint64) *Talk {
	k := &Talk{random: rand.New(rand.NewPCG(seed, 1))}
	for i := range Conversations {
		k.Conversations = append(k.Conversations, &Conversation{Number: i, Messages: []Message{{"system", k.words(Prefix)}}})
	}
	return k
}

// words are n tokens.
func (k *Talk) words(n int) string {
	var b strings.Builder
	for range n {
		b.WriteString(Word(k.random.IntN(Words)))
	}
	return b.String()
}

// Round adds a question to each conversation and returns them in the order in which they ask: another one in each round. With one that stays
// the same, turns would send each of an even number of conversations to the same engine always.
func (k *Talk) Round() (order []*Conversation) {
	for _, i := range k.random.Perm(len(k.Conversations)) {
		c := k.Conversations[i]
		c.Messages = append(c.Messages, Message{"user", k.words(question)})
		order = append(order, c)
	}
	return order
}

// Answer is what a client has received.
type Answer struct {
	Conversation int
	Engine       int // that served it; -1: none, the answer was stored
	Text         string
	Finish       string // finish_reason
	Done         bool   // the stream ended as it should
	Usage        struct {
		Prompt  int `json:"prompt_tokens"`
		Details struct {
			Cached int `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
	}
	First time.Duration // until the first piece of text
	Cache string        // X-Cache
}

// Cached is the number of tokens of the prompt that the engine had in a slot, as its answer says.
func (a *Answer) Cached() int { return a.Usage.Details.Cached }

var users = &http.Client{Timeout: 10 * time.Minute, Transport: &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 16}}

// Open sends the next request and returns the answer's stream. base is the URL of a proxy or an engine.
func (c *Conversation) Open(ctx context.Context, base string) (*http.Response, error) {
	body, err := json.Marshal(map[string]any{"model": "random", "messages": c.Messages, "max_tokens": 2 * reply, "stream": true,
		"stream_options": map[string]any{"include_usage": true}})
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/v1/chat/completions", strings.NewReader(string(body)))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	if c.NoCache {
		req.Header.Set("Cache-Control", "no-cache")
	}
	return users.Do(req)
}

// Ask sends the next request, reads its answer, and appends it to the conversation where it is complete.
func (c *Conversation) Ask(ctx context.Context, base string) (a *Answer, err error) {
	a = &Answer{Conversation: c.Number, Engine: -1}
	start := time.Now()
	resp, err := c.Open(ctx, base)
	if err != nil {
		return a, err
	}
	defer resp.Body.Close()
	a.Cache = resp.Header.Get("X-Cache")
	if resp.StatusCode != http.StatusOK {
		b, _ := io.ReadAll(resp.Body)
		return a, fmt.Errorf("status %d: %s", resp.StatusCode, b)
	}
	if err := a.Read(resp.Body, start); err != nil {
		return a, err
	}
	c.Messages = append(c.Messages, Message{"assistant", a.Text})
	return a, nil
}

// Read reads a stream to its end. One that is cut is an error.
func (a *Answer) Read(stream io.Reader, start time.Time) error {
	lines := bufio.NewScanner(stream)
	for lines.Scan() {
		data, found := strings.CutPrefix(lines.Text(), "data: ")
		if !found {
			continue
		}
		if data == "[DONE]" {
			a.Done = true
			continue
		}
		if err := a.add([]byte(data), start); err != nil {
			return fmt.Errorf("read %q: %w", data, err)
		}
	}
	if err := lines.Err(); err != nil || a.Done {
		return err
	}
	return io.ErrUnexpectedEOF
}

// add adds an event of the stream.
func (a *Answer) add(data []byte, start time.Time) error {
	var chunk struct {
		Choices []struct {
			Delta  Message
			Finish string `json:"finish_reason"`
		}
		Usage json.RawMessage
	}
	err := json.Unmarshal(data, &chunk)
	if err == nil && len(chunk.Usage) > 0 {
		err = json.Unmarshal(chunk.Usage, &a.Usage)
	}
	for _, choice := range chunk.Choices {
		if a.Text == "" && choice.Delta.Content != "" {
			a.First = time.Since(start)
		}
		a.Text += choice.Delta.Content
		a.Finish = choice.Finish
	}
	return err
}

// Play asks the questions of some rounds, one after the other, at the URL that base returns for each. It fails the test if a request is sent to
// the engines more than once, or if its answer is not complete.
func (k *Talk) Play(t testing.TB, engines []*Engine, rounds int, base func() string) (all []*Answer) {
	t.Helper()
	for range rounds {
		for _, c := range k.Round() {
			before := Requests(engines)
			a, err := c.Ask(t.Context(), base())
			if err != nil {
				t.Fatalf("conversation %d: %v", c.Number, err)
			}
			sent := 0
			for i, n := range Requests(engines) {
				if n > before[i] {
					a.Engine = i
				}
				sent += n - before[i]
			}
			if sent > 1 || len(strings.Fields(a.Text)) != reply || a.Finish == "length" {
				t.Fatalf("conversation %d: sent %d times, answer %+v", c.Number, sent, a)
			}
			all = append(all, a)
		}
	}
	return all
}

// Always is a base for Play.
func Always(url string) func() string { return func() string { return url } }

// ByTurns is a base for Play without a proxy: each request goes to the next engine.
func ByTurns(engines []*Engine) func() string {
	turn := -1
	return func() string {
		turn++
		return engines[turn%len(engines)].URL
	}
}

// Requests are those that each engine has had since its start; 0 of one that was killed.
func Requests(engines []*Engine) (n []int) {
	for _, e := range engines {
		if e.Runs() {
			n = append(n, e.Stats().Requests)
		} else {
			n = append(n, 0)
		}
	}
	return n
}

// Evaluated is the number of prompt tokens that engines have evaluated since their start.
func Evaluated(engines []*Engine) (n int) {
	for _, e := range engines {
		n += e.Stats().Evaluated
	}
	return n
}

// Served lists the engines that have served each conversation.
func Served(all []*Answer) (by [Conversations][]int) {
	for _, a := range all {
		if !slices.Contains(by[a.Conversation], a.Engine) {
			by[a.Conversation] = append(by[a.Conversation], a.Engine)
		}
	}
	return by
}
