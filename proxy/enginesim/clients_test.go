package enginesim

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	goopenai "github.com/sashabaranov/go-openai"
)

func officialClient(url string) openai.Client {
	return openai.NewClient(option.WithBaseURL(url+"/v1"), option.WithAPIKey("k"), option.WithMaxRetries(0))
}

func otherClient(url string) *goopenai.Client {
	c := goopenai.DefaultConfig("k")
	c.BaseURL = url + "/v1"
	return goopenai.NewClientWithConfig(c)
}

func chatParams(text string) openai.ChatCompletionNewParams {
	return openai.ChatCompletionNewParams{Model: "gpt-4o", Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(text)}}
}

func TestOfficialClientChat(t *testing.T) {
	_, url := serve(t, Options{})
	c := officialClient(url)
	whole, err := c.Chat.Completions.New(context.Background(), chatParams("Tell me about rivers."))
	if err != nil {
		t.Fatal(err)
	}
	params := chatParams("Tell me about rivers.")
	params.StreamOptions.IncludeUsage = openai.Bool(true)
	stream := c.Chat.Completions.NewStreaming(context.Background(), params)
	var sum openai.ChatCompletionAccumulator
	for stream.Next() {
		if !sum.AddChunk(stream.Current()) {
			t.Fatal("chunk does not fit the others")
		}
	}
	if err := stream.Err(); err != nil {
		t.Fatal(err)
	}
	a, b := whole.Choices[0], sum.Choices[0]
	if a.Message.Content != b.Message.Content || a.FinishReason != b.FinishReason {
		t.Errorf("whole %q (%s), streamed %q (%s)", a.Message.Content, a.FinishReason, b.Message.Content, b.FinishReason)
	}
	if whole.Usage.TotalTokens != sum.Usage.TotalTokens || whole.Usage.CompletionTokens < minTokens {
		t.Errorf("usage %+v, streamed %+v", whole.Usage, sum.Usage)
	}
	if !strings.Contains(a.Message.Content, "Tell me about rivers") {
		t.Errorf("answer quotes nothing: %q", a.Message.Content)
	}
}

func TestOtherClientChat(t *testing.T) {
	_, url := serve(t, Options{})
	c := otherClient(url)
	q := goopenai.ChatCompletionRequest{Model: "gpt-4o", Messages: []goopenai.ChatCompletionMessage{{Role: "user", Content: "What is a lake?"}}}
	whole, err := c.CreateChatCompletion(context.Background(), q)
	if err != nil {
		t.Fatal(err)
	}
	s, err := c.CreateChatCompletionStream(context.Background(), q)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var text strings.Builder
	for {
		chunk, err := s.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		text.WriteString(chunk.Choices[0].Delta.Content)
	}
	if text.String() != whole.Choices[0].Message.Content {
		t.Errorf("streamed %q, whole %q", text.String(), whole.Choices[0].Message.Content)
	}
}

func TestClientsSeeErrors(t *testing.T) {
	_, url := serve(t, Options{})
	params := chatParams("x")
	params.Model = "nothing"
	official := officialClient(url)
	_, err := official.Chat.Completions.New(context.Background(), params)
	var e *openai.Error
	if !errors.As(err, &e) || e.StatusCode != 404 || e.Code != "model_not_found" {
		t.Errorf("openai-go: %v", err)
	}
	_, err = otherClient(url).CreateChatCompletion(context.Background(), goopenai.ChatCompletionRequest{Model: "gpt-4o"})
	var a *goopenai.APIError
	if !errors.As(err, &a) || a.HTTPStatusCode != 400 || *a.Param != "messages" {
		t.Errorf("go-openai: %v", err)
	}
}
