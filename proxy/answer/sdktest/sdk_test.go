// Package sdktest lets real OpenAI clients read what package answer replays. It stands apart from answer's own tests
// because a fuzz target's build instruments all that its package imports, and the clients are large.
package sdktest

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"
	goopenai "github.com/sashabaranov/go-openai"

	"reprise/proxy/answer"
	"reprise/proxy/api"
	"reprise/proxy/api/registry"
)

// recorded freezes a recorded answer, named by its API and its file.
func recorded(t *testing.T, name string) *answer.Frozen {
	t.Helper()
	family, file, _ := strings.Cut(name, "-")
	body, err := os.ReadFile(filepath.Join("../../api/openai/testdata", family, "answers", file))
	if err != nil {
		t.Fatal(err)
	}
	contentType := "application/json"
	if filepath.Ext(name) == ".sse" {
		contentType = "text/event-stream"
	}
	apis := registry.APIs.Families()
	i := slices.IndexFunc(apis, func(f *api.Family) bool { return f.Name == family })
	z, err := answer.Freeze(apis[i].Answers, contentType, body)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// serve answers every request with one replay of z and returns its base URL.
func serve(t *testing.T, z *answer.Frozen, stream bool) string {
	body, contentType, err := z.Replay(nil, answer.ReplayOptions{ID: "new-id", Created: 1800000000, Stream: stream, IncludeUsage: true})
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		_, _ = w.Write(body)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func sdk(url string) openai.Client {
	return openai.NewClient(option.WithBaseURL(url), option.WithAPIKey("k"), option.WithMaxRetries(0))
}

// said is what a client makes of an answer.
type said struct {
	ID, Text, Refusal, Finish, Calls string
	Created, Input                   int64
}

func saidBy(c openai.ChatCompletion) said {
	s := said{ID: c.ID, Created: c.Created, Input: c.Usage.PromptTokens}
	for _, choice := range c.Choices {
		s.Text += choice.Message.Content
		s.Refusal += choice.Message.Refusal
		s.Finish += choice.FinishReason
		for _, call := range choice.Message.ToolCalls {
			s.Calls += call.ID + call.Function.Name + call.Function.Arguments
		}
	}
	return s
}

// chatTwice asks by openai-go for both forms of an answer.
func chatTwice(t *testing.T, z *answer.Frozen) (object, stream said) {
	ctx := context.Background()
	client := sdk(serve(t, z, false))
	whole, err := client.Chat.Completions.New(ctx, openai.ChatCompletionNewParams{})
	if err != nil {
		t.Fatal(err)
	}
	client = sdk(serve(t, z, true))
	chunks := client.Chat.Completions.NewStreaming(ctx, openai.ChatCompletionNewParams{})
	var acc openai.ChatCompletionAccumulator
	for chunks.Next() {
		if !acc.AddChunk(chunks.Current()) {
			t.Fatalf("chunk %s does not fit", chunks.Current().RawJSON())
		}
	}
	if chunks.Err() != nil {
		t.Fatal(chunks.Err())
	}
	return saidBy(*whole), saidBy(acc.ChatCompletion)
}

// chatByGoOpenAI asks by go-openai for a stream.
func chatByGoOpenAI(t *testing.T, z *answer.Frozen) (s said) {
	config := goopenai.DefaultConfig("k")
	config.BaseURL = serve(t, z, true)
	stream, err := goopenai.NewClientWithConfig(config).CreateChatCompletionStream(context.Background(),
		goopenai.ChatCompletionRequest{Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	for {
		chunk, err := stream.Recv()
		if err == io.EOF {
			return s
		}
		if err != nil {
			t.Fatal(err)
		}
		s.ID, s.Created = chunk.ID, chunk.Created
		if chunk.Usage != nil {
			s.Input = int64(chunk.Usage.PromptTokens)
		}
		for _, c := range chunk.Choices {
			s.Text += c.Delta.Content
			s.Refusal += c.Delta.Refusal
			s.Finish += string(c.FinishReason)
			for _, call := range c.Delta.ToolCalls {
				s.Calls += call.ID + call.Function.Name + call.Function.Arguments
			}
		}
	}
}

func TestClientsReadChat(t *testing.T) {
	calls := `call_aweather{"city":"Rome"}call_btime{}`
	for name, want := range map[string]said{
		"chat-text.json":    {Text: `Grüße, "world"`, Finish: "stop", Input: 11},
		"chat-text.sse":     {Text: `Grüße, "world" \n 😀`, Finish: "stop", Input: 11},
		"chat-tools.json":   {Calls: calls, Finish: "tool_calls", Input: 11},
		"chat-refusal.json": {Refusal: "I can't help.", Finish: "stop", Input: 11},
		"chat-refusal.sse":  {Refusal: "I can't help.", Finish: "stop", Input: 11},
		"chat-choices.json": {Text: "onetwo", Finish: "stopstop", Input: 11},
		"chat-azure.sse":    {Text: "ok", Finish: "stop", Input: 11},
	} {
		t.Run(name, func(t *testing.T) {
			want.ID, want.Created = "new-id", 1800000000
			z := recorded(t, name)
			object, stream := chatTwice(t, z)
			if object != want || stream != want {
				t.Errorf("openai-go reads %+v and %+v, want %+v", object, stream, want)
			}
			if got := chatByGoOpenAI(t, z); got != want {
				t.Errorf("go-openai reads %+v, want %+v", got, want)
			}
		})
	}
}

func TestClientsReadCompletions(t *testing.T) {
	for _, name := range []string{"completions-text.json", "completions-text.sse"} {
		z := recorded(t, name)
		client := sdk(serve(t, z, false))
		whole, err := client.Completions.New(context.Background(), openai.CompletionNewParams{})
		if err != nil {
			t.Fatal(err)
		}
		client = sdk(serve(t, z, true))
		stream := client.Completions.NewStreaming(context.Background(), openai.CompletionNewParams{})
		text := ""
		for stream.Next() {
			for _, c := range stream.Current().Choices {
				text += c.Text
			}
		}
		if stream.Err() != nil || text != "Once upon" || whole.Choices[0].Text != text || whole.ID != "new-id" {
			t.Errorf("%s: %q and %q, %v", name, whole.Choices[0].Text, text, stream.Err())
		}
	}
}

func TestClientsReadResponses(t *testing.T) {
	for name, want := range map[string]string{"responses-text.json": "Hi ü", "responses-text.sse": "Hi ü",
		"responses-reasoning.json": "Hi ü", "responses-tools.json": "", "responses-refusal.json": ""} {
		z := recorded(t, name)
		client := sdk(serve(t, z, false))
		whole, err := client.Responses.New(context.Background(), responses.ResponseNewParams{})
		if err != nil {
			t.Fatal(err)
		}
		client = sdk(serve(t, z, true))
		stream := client.Responses.NewStreaming(context.Background(), responses.ResponseNewParams{})
		text, arguments, last, seq := "", "", "", int64(0)
		for stream.Next() {
			ev := stream.Current()
			if ev.SequenceNumber != seq {
				t.Errorf("%s: event %s has number %d, want %d", name, ev.Type, ev.SequenceNumber, seq)
			}
			seq++
			switch ev.Type {
			case "response.output_text.delta":
				text += ev.Delta
			case "response.function_call_arguments.delta":
				arguments += ev.Delta
			case "response.completed":
				last = ev.Response.OutputText()
			}
			if id := ev.Response.ID; id != "" && id != "new-id" {
				t.Errorf("%s: event %s names response %q", name, ev.Type, id)
			}
		}
		if stream.Err() != nil || text != want || last != want || whole.OutputText() != want || whole.ID != "new-id" {
			t.Errorf("%s: %q, %q and %q, %v", name, whole.OutputText(), text, last, stream.Err())
		}
		if name == "responses-tools.json" && arguments != `{"city":"Rome"}` {
			t.Errorf("arguments are %q", arguments)
		}
	}
}

func TestClientsReadEmbeddings(t *testing.T) {
	client := sdk(serve(t, recorded(t, "embeddings-float.json"), false))
	r, err := client.Embeddings.New(context.Background(), openai.EmbeddingNewParams{})
	if err != nil || len(r.Data) != 1 || len(r.Data[0].Embedding) != 2 {
		t.Errorf("%+v, %v", r, err)
	}
}
