package llamatest

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"
)

// words are n tokens, equal for equal seeds.
func words(seed uint64, n int) string {
	random := rand.New(rand.NewPCG(seed, 0))
	var b strings.Builder
	for range n {
		b.WriteString(Word(random.IntN(Words)))
	}
	return b.String()
}

// chat is a request with a system prompt of its own for each seed, of n tokens.
func chat(seed uint64, n int, more map[string]any, turns ...Message) map[string]any {
	body := map[string]any{"model": "m", "max_tokens": 4, "messages": append([]Message{{"system", words(seed, n)}}, turns...)}
	for k, v := range more {
		body[k] = v
	}
	return body
}

type choice struct {
	Message, Delta Message
	FinishReason   string `json:"finish_reason"`
}

type result struct {
	Choices []choice
	Usage   struct {
		PromptTokens        int `json:"prompt_tokens"`
		CompletionTokens    int `json:"completion_tokens"`
		PromptTokensDetails struct {
			CachedTokens int `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
	}
	Timings struct {
		CacheN  int `json:"cache_n"`
		PromptN int `json:"prompt_n"`
	}
	Error struct {
		Type string
	}
}

func post(ctx context.Context, t *testing.T, e *Engine, path string, body any) *http.Response {
	t.Helper()
	b, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.URL+path, strings.NewReader(string(b)))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := client.Do(req)
	if err != nil {
		if ctx.Err() == nil {
			t.Error(err, e.logs())
		}
		return nil
	}
	t.Cleanup(func() { resp.Body.Close() })
	return resp
}

func ask(t *testing.T, e *Engine, body any) (r result) {
	t.Helper()
	r.Choices = make([]choice, 1)
	resp := post(t.Context(), t, e, "/v1/chat/completions", body)
	if resp == nil {
		return r
	}
	if err := json.NewDecoder(resp.Body).Decode(&r); err != nil || resp.StatusCode != http.StatusOK {
		t.Errorf("status %d: %v", resp.StatusCode, err)
	}
	return r
}

// TestPrefixReuse: of a conversation's next request only what is new is evaluated, and a prompt in another slot is not disturbed.
func TestPrefixReuse(t *testing.T) {
	e := Start(t, Options{Slots: 2})
	const n = 600
	first := ask(t, e, chat(1, n, nil, Message{"user", words(2, 10)}))
	other := ask(t, e, chat(3, n, nil))
	answer := first.Choices[0].Message
	second := ask(t, e, chat(1, n, nil, Message{"user", words(2, 10)}, answer, Message{"user", words(4, 20)}))
	again := ask(t, e, chat(3, n, nil))
	if u := first.Usage; u.PromptTokensDetails.CachedTokens != 0 || u.PromptTokens <= n || u.CompletionTokens != 4 {
		t.Errorf("first: %+v", u)
	}
	if cached := other.Usage.PromptTokensDetails.CachedTokens; cached != 0 {
		t.Errorf("another conversation finds %d tokens", cached)
	}
	fresh := second.Usage.PromptTokens - second.Usage.PromptTokensDetails.CachedTokens
	// the last token of the first answer was not evaluated, "user:", 20 words, two ends of lines, "assistant:"
	if want := 1 + 1 + 5 + 20 + 1 + 10; fresh > want+2 || fresh < 20 {
		t.Errorf("%d tokens of the second turn were evaluated, want about %d", fresh, want)
	}
	if u := again.Usage; u.PromptTokensDetails.CachedTokens != u.PromptTokens-1 {
		t.Errorf("the same prompt again: %+v", u)
	}
	s := e.Stats()
	prompts := first.Usage.PromptTokens + other.Usage.PromptTokens + second.Usage.PromptTokens + again.Usage.PromptTokens
	if s.Prompt != prompts || s.Evaluated+s.Cached != s.Prompt || s.Cached != second.Usage.PromptTokensDetails.CachedTokens+again.Usage.PromptTokensDetails.CachedTokens {
		t.Errorf("stats %+v", s)
	}
	if second.Timings.PromptN != fresh {
		t.Errorf("llama.cpp was given %d tokens, want %d", second.Timings.PromptN, fresh)
	}
	if len(strings.Fields(answer.Content)) != 4 {
		t.Errorf("the answer is %q, not four words", answer.Content)
	}
}

// TestOldestSlotIsReplaced: a prompt that no slot has gets the one that was used longest ago.
func TestOldestSlotIsReplaced(t *testing.T) {
	e := Start(t, Options{Slots: 2})
	cached := func(seed uint64) int { return ask(t, e, chat(seed, 200, nil)).Usage.PromptTokensDetails.CachedTokens }
	for _, step := range []struct {
		seed uint64
		hit  bool
	}{{1, false}, {2, false}, {1, true}, {3, false}, {1, true}, {2, false}, {3, false}} {
		if got := cached(step.seed) > 200; got != step.hit {
			t.Errorf("prompt %d: hit %v", step.seed, got)
		}
	}
}

func TestCompletionsAndErrors(t *testing.T) {
	e := Start(t, Options{Slots: 1, Context: 512})
	for _, tc := range []struct {
		name, path string
		body       any
		status     int
		kind       string
	}{
		{"completion", "/v1/completions", map[string]any{"prompt": words(1, 20), "max_tokens": 2}, 200, ""},
		{"prompt alone", "/v1/completions", map[string]any{"prompt": words(1, 20), "max_tokens": 0}, 200, ""},
		{"unknown field", "/v1/completions", map[string]any{"prompt": "x", "max_tokens": 1, "field": 1}, 200, ""},
		{"no prompt", "/v1/completions", map[string]any{}, 400, "invalid_request_error"},
		{"no object", "/v1/chat/completions", 1, 400, "invalid_request_error"},
		{"no messages", "/v1/chat/completions", map[string]any{"messages": []int{}}, 400, "invalid_request_error"},
		{"two answers", "/v1/chat/completions", chat(1, 10, map[string]any{"n": 2}), 400, "invalid_request_error"},
		{"too long", "/v1/chat/completions", chat(1, 600, nil), 400, "exceed_context_size_error"},
		{"no such path", "/v1/embeddings", map[string]any{}, 404, "not_found_error"},
	} {
		resp := post(t.Context(), t, e, tc.path, tc.body)
		var r result
		if err := json.NewDecoder(resp.Body).Decode(&r); err != nil || resp.StatusCode != tc.status || r.Error.Type != tc.kind {
			t.Errorf("%s: %d %+v %v", tc.name, resp.StatusCode, r, err)
		}
	}
	if s := e.Stats(); s.Requests != 3 || s.Generated != 3 {
		t.Errorf("stats %+v", s)
	}
}

// eventually waits for something that an engine does in its own time.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(wait); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("this did not happen: ", what)
		}
	}
}

// TestClientsWaitAndLeave: a request without a slot waits, one that leaves while it waits costs nothing, and one that leaves in the middle of
// its answer frees its slot.
func TestClientsWaitAndLeave(t *testing.T) {
	e := Start(t, Options{Slots: 1})
	e.Hold(1)
	running, leave := context.WithCancel(t.Context())
	resp := post(running, t, e, "/v1/chat/completions", chat(1, 100, map[string]any{"stream": true}))
	if _, err := bufio.NewReader(resp.Body).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	waiting, giveUp := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		post(waiting, t, e, "/v1/chat/completions", chat(2, 100, nil))
	}()
	eventually(t, "a request waits", func() bool { return e.Stats().Queued == 1 })
	giveUp()
	<-ended
	eventually(t, "no request waits", func() bool { return e.Stats().Queued == 0 })
	third := make(chan result, 1)
	go func() { third <- ask(t, e, chat(3, 100, nil)) }()
	eventually(t, "a third request waits", func() bool { return e.Stats().Queued == 1 })
	leave()
	eventually(t, "the third request has the slot", func() bool { s := e.Stats(); return s.Queued == 0 && s.Slots[0].Busy && s.Cancelled == 2 })
	e.Release()
	if r := <-third; r.Usage.CompletionTokens != 4 {
		t.Errorf("third: %+v", r.Usage)
	}
	if s := e.Stats(); s.Requests != 3 || s.Cancelled != 2 || s.Generated != 1+4 || s.Slots[0].Busy {
		t.Errorf("stats %+v", s)
	}
}

// TestSlotsTogether: requests in different slots are evaluated together and do not disturb each other's prefixes.
func TestSlotsTogether(t *testing.T) {
	e := Start(t, Options{Slots: 3})
	for round := range 2 {
		results := make(chan error, 3)
		for i := range 3 {
			go func() {
				r := ask(t, e, chat(uint64(i), 300, nil))
				if hit := r.Usage.PromptTokensDetails.CachedTokens == r.Usage.PromptTokens-1; hit != (round == 1) {
					results <- fmt.Errorf("round %d, prompt %d: %+v", round, i, r.Usage)
					return
				}
				results <- nil
			}()
		}
		for range 3 {
			if err := <-results; err != nil {
				t.Error(err)
			}
		}
	}
}
