package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"reprise/internal/traffic"
)

// fake answers as an API does and records the messages of each request, as role:content words.
type fake struct {
	mu    sync.Mutex // protects asked
	asked []string
	reply func(last string, w http.ResponseWriter)
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var q struct {
		Messages []struct {
			Role       string
			Content    string
			ToolCallID string `json:"tool_call_id"`
		}
		Stream bool
	}
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var words []string
	for _, m := range q.Messages {
		words = append(words, m.Role+":"+m.Content+m.ToolCallID)
	}
	f.mu.Lock()
	f.asked = append(f.asked, fmt.Sprint(strings.Join(words, " "), map[bool]string{true: " (stream)"}[q.Stream]))
	f.mu.Unlock()
	last := q.Messages[len(q.Messages)-1]
	switch {
	case f.reply != nil:
		f.reply(last.Content, w)
	case q.Stream:
		fmt.Fprintf(w, ": comment\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"re\"}}]}\n\ndata: {\"choices\":[{\"delta\":{\"content\":%q}}]}\n\ndata: [DONE]\n\n", last.Content)
	default:
		fmt.Fprintf(w, `{"choices":[{"message":{"role":"assistant","content":"re%s"}}]}`, last.Content)
	}
}

func play(t *testing.T, f *fake, o Options, all ...traffic.Conversation) (*Player, error) {
	t.Helper()
	srv := httptest.NewServer(f)
	defer srv.Close()
	o.BaseURL, o.Model = srv.URL, "m"
	p := NewPlayer(o)
	return p, p.Play(t.Context(), from(all))
}

func from(all []traffic.Conversation) func() (Conversation, error) {
	return Recorded(func() (traffic.Conversation, error) {
		if len(all) == 0 {
			return traffic.Conversation{}, io.EOF
		}
		c := all[0]
		all = all[1:]
		return c, nil
	})
}

func said(turns ...string) (c traffic.Conversation) {
	for _, text := range turns {
		c.Say(text)
	}
	return c
}

func TestPlayer(t *testing.T) {
	tree := traffic.Conversation{System: "s", Turns: []traffic.Turn{{Text: "a", Parent: -1}, {Text: "b", Parent: 0}, {Text: "c", Parent: 0}, {Text: "d", Parent: 1}}}
	for _, c := range []struct {
		name string
		o    Options
		in   traffic.Conversation
		want []string
	}{
		{"the history grows by the answers", Options{}, said("a", "b"), []string{"user:a", "user:a assistant:rea user:b"}},
		{"branches continue one history", Options{}, tree, []string{"system:s user:a", "system:s user:a assistant:rea user:b", "system:s user:a assistant:rea user:c",
			"system:s user:a assistant:rea user:b assistant:reb user:d"}},
		{"every second one is a stream", Options{StreamEvery: 2}, said("a", "b", "c"), []string{"user:a", "user:a assistant:rea user:b (stream)",
			"user:a assistant:rea user:b assistant:reb user:c"}},
		{"a limit ends it", Options{Requests: 2}, said("a", "b", "c"), []string{"user:a", "user:a assistant:rea user:b"}},
		{"a body is sent unchanged", Options{StreamEvery: 1}, traffic.Conversation{Body: []byte(`{"messages":[{"role":"user","content":"x"}]}`)}, []string{"user:x"}},
	} {
		f := &fake{}
		c.o.Concurrency = 1
		p, err := play(t, f, c.o, c.in)
		if err != nil || !slices.Equal(f.asked, c.want) {
			t.Errorf("%s: %v\n%q\nwant\n%q", c.name, err, f.asked, c.want)
		}
		if n, first := p.Failures(); n != 0 || p.Sent() != int64(len(c.want)) {
			t.Errorf("%s: %d sent, %d failed: %v", c.name, p.Sent(), n, first)
		}
	}
}

func TestToolCalls(t *testing.T) {
	f := &fake{}
	f.reply = func(last string, w http.ResponseWriter) {
		if strings.Contains(last, "ok") {
			io.WriteString(w, `{"choices":[{"message":{"content":"done"}}]}`)
			return
		}
		io.WriteString(w, `{"choices":[{"message":{"content":null,"tool_calls":[{"id":"call_7","function":{"name":"f","arguments":"{}"}}]}}]}`)
	}
	c := said("a", "b")
	c.Tools = json.RawMessage(`[]`)
	if _, err := play(t, f, Options{Concurrency: 1, Requests: 3, StreamEvery: 1}, c); err != nil {
		t.Error(err)
	}
	want := []string{"user:a", `user:a assistant: tool:{"ok":true}call_7`, `user:a assistant: tool:{"ok":true}call_7 assistant:done user:b`}
	if !slices.Equal(f.asked, want) {
		t.Errorf("got %q\nwant %q", f.asked, want)
	}
}

// TestFailures: a bad answer ends its conversation, and no other.
func TestFailures(t *testing.T) {
	for name, reply := range map[string]string{"status": "", "no answer": `{"choices":[]}`, "not JSON": `oops`} {
		f := &fake{}
		f.reply = func(last string, w http.ResponseWriter) {
			switch {
			case last != "bad":
				io.WriteString(w, `{"choices":[{"message":{"content":"x"}}]}`)
			case reply == "":
				http.Error(w, "upstream is down", http.StatusBadGateway)
			default:
				io.WriteString(w, reply)
			}
		}
		p, err := play(t, f, Options{Concurrency: 1}, said("bad", "never"), said("good"))
		n, first := p.Failures()
		if err != nil || n != 1 || first == nil || !slices.Equal(f.asked, []string{"user:bad", "user:good"}) {
			t.Errorf("%s: %v, %d failures (%v), asked %q", name, err, n, first, f.asked)
		}
	}
}

func TestStreamThatIsCut(t *testing.T) {
	for _, in := range []string{"", "data: {\"choices\":[]}\n\n"} {
		if _, err := readStream(strings.NewReader(in)); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%q: %v, want unexpected EOF", in, err)
		}
	}
}

func TestPlayEnds(t *testing.T) {
	broken := errors.New("broken file")
	srv := httptest.NewServer(&fake{})
	defer srv.Close()
	p := NewPlayer(Options{BaseURL: srv.URL, Concurrency: 4})
	if err := p.Play(t.Context(), func() (Conversation, error) { return Conversation{}, broken }); err != broken {
		t.Errorf("got %v, want the error of the source", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.Play(ctx, NewWorkload(1).Next); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the end of the context", err)
	}
}

// TestWorkload: equal seeds give equal workloads, others differ, and every kind of conversation occurs.
func TestWorkload(t *testing.T) {
	draw := func(seed uint64) (s string, repeats, talks, tools int) {
		w, seen := NewWorkload(seed), map[string]bool{}
		for range 500 {
			c, err := w.Next()
			if err != nil {
				t.Fatal(err)
			}
			first := c.Turns[0].Text
			if seen[first] {
				repeats++
			}
			seen[first] = true
			if len(c.Turns) > 1 {
				talks++
			}
			if c.Tools != nil {
				tools++
			}
			s += fmt.Sprintln(c.Turns, c.System, c.From)
		}
		return s, repeats, talks, tools
	}
	one, repeats, talks, tools := draw(1)
	if again, _, _, _ := draw(1); again != one {
		t.Error("one seed, two workloads")
	}
	if other, _, _, _ := draw(2); other == one {
		t.Error("two seeds, one workload")
	}
	if repeats < 100 || talks < 50 || tools == 0 {
		t.Errorf("%d repeats, %d talks, %d tools", repeats, talks, tools)
	}
	for _, client := range []Client{help, editor, desk, status} {
		if !strings.Contains(one, fmt.Sprint(client)) {
			t.Errorf("no conversation of %+v", client)
		}
	}
	if !json.Valid(orderTool) {
		t.Error("the tool is not JSON")
	}
}

// TestBranchesShareNothing: two branches grow from one history with spare capacity, and neither overwrites the other.
func TestBranchesShareNothing(t *testing.T) {
	c := Conversation{Conversation: traffic.Conversation{Turns: []traffic.Turn{{Text: "a", Parent: -1}, {Text: "b", Parent: 0}, {Text: "c", Parent: 0}}}}
	k := newTalk("m", &c)
	k.user(0)
	k.histories[0] = slices.Grow(k.histories[0], 1000)
	k.user(1)
	k.user(2)
	for i, want := range []string{"a", "b", "c"} {
		if h := k.histories[i]; *h[len(h)-1].Content != want {
			t.Errorf("turn %d is %s", i, *h[len(h)-1].Content)
		}
	}
}
