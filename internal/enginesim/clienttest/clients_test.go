// Package clienttest runs the clients that applications use against the engine. It stands apart from the engine's own tests
// because a fuzz target instruments all that its package imports, and these clients are large.
package clienttest

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"net/http/httptest"
	"strings"
	"testing"

	"reprise/internal/enginesim"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/ssestream"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"
	goopenai "github.com/sashabaranov/go-openai"
)

// serve starts an engine on loopback for the length of a test and returns its address.
func serve(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(enginesim.New(enginesim.Options{}))
	t.Cleanup(s.Close)
	return s.URL
}

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
	url := serve(t)
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
	if whole.Usage.TotalTokens != sum.Usage.TotalTokens || whole.Usage.CompletionTokens < 20 {
		t.Errorf("usage %+v, streamed %+v", whole.Usage, sum.Usage)
	}
	if !strings.Contains(a.Message.Content, "Tell me about rivers") {
		t.Errorf("answer quotes nothing: %q", a.Message.Content)
	}
}

func TestOtherClientChat(t *testing.T) {
	url := serve(t)
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
	url := serve(t)
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

func TestOfficialClientResponses(t *testing.T) {
	url := serve(t)
	c := officialClient(url)
	q := responses.ResponseNewParams{Model: "gpt-4o", Instructions: openai.String("Be brief."),
		Input: responses.ResponseNewParamsInputUnion{OfString: openai.String("What is a delta?")}}
	whole, err := c.Responses.New(context.Background(), q)
	if err != nil {
		t.Fatal(err)
	}
	text, kinds, last := streamedResponse(t, c.Responses.NewStreaming(context.Background(), q))
	if text != whole.OutputText() || last.OutputText() != text || last.Status != "completed" {
		t.Errorf("streamed %q, at the end %q (%s), whole %q", text, last.OutputText(), last.Status, whole.OutputText())
	}
	want := "created in_progress output_item.added content_part.added output_text.delta output_text.done content_part.done output_item.done completed"
	if kinds != want {
		t.Errorf("events %s, want %s", kinds, want)
	}
	if whole.Usage.InputTokens == 0 || whole.Usage.TotalTokens != last.Usage.TotalTokens {
		t.Errorf("usage %+v, streamed %+v", whole.Usage, last.Usage)
	}
	again, err := c.Responses.Get(context.Background(), whole.ID, responses.ResponseGetParams{})
	if err != nil || again.OutputText() != text {
		t.Errorf("kept response: %v", err)
	}
	q.PreviousResponseID = openai.String(whole.ID)
	q.Input.OfString = openai.String("And an estuary?")
	next, err := c.Responses.New(context.Background(), q)
	if err != nil {
		t.Fatal(err)
	}
	if next.Usage.InputTokensDetails.CachedTokens == 0 {
		t.Error("the second turn found nothing of the first in the block cache")
	}
}

// streamedResponse is the text of the deltas, the kinds of events in order without repeats, and the last response.
func streamedResponse(t *testing.T, s *ssestream.Stream[responses.ResponseStreamEventUnion]) (text, kinds string, last responses.Response) {
	t.Helper()
	var seen []string
	for next := int64(0); s.Next(); next++ {
		ev := s.Current()
		if ev.SequenceNumber != next {
			t.Errorf("event %s has number %d, want %d", ev.Type, ev.SequenceNumber, next)
		}
		kind := strings.TrimPrefix(ev.Type, "response.")
		if len(seen) == 0 || seen[len(seen)-1] != kind {
			seen = append(seen, kind)
		}
		if strings.HasSuffix(kind, ".delta") {
			text += ev.Delta
		}
		last = ev.Response
	}
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	return text, strings.Join(seen, " "), last
}

func TestOfficialClientResponseCallsTool(t *testing.T) {
	url := serve(t)
	c := officialClient(url)
	schema := map[string]any{"type": "object", "properties": map[string]any{"city": map[string]any{"type": "string"}}, "required": []string{"city"}}
	q := responses.ResponseNewParams{Model: "gpt-4o",
		Input: responses.ResponseNewParamsInputUnion{OfString: openai.String("Please call tool.")},
		Tools: []responses.ToolUnionParam{{OfFunction: &responses.FunctionToolParam{Name: "weather", Parameters: schema}}}}
	args, kinds, last := streamedResponse(t, c.Responses.NewStreaming(context.Background(), q))
	if want := "created in_progress output_item.added function_call_arguments.delta function_call_arguments.done output_item.done completed"; kinds != want {
		t.Errorf("events %s, want %s", kinds, want)
	}
	call := last.Output[0].AsFunctionCall()
	var got struct{ City *string }
	if err := json.Unmarshal([]byte(args), &got); err != nil || got.City == nil || call.Name != "weather" || call.Arguments != args {
		t.Errorf("call %s(%s), streamed %s: %v", call.Name, call.Arguments, args, err)
	}
	result := responses.ResponseInputItemParamOfFunctionCallOutput("sunny")
	result.OfFunctionCallOutput.CallID = openai.String(call.CallID)
	q.Input = responses.ResponseNewParamsInputUnion{OfInputItemList: responses.ResponseInputParam{
		responses.ResponseInputItemParamOfMessage("Please call tool.", responses.EasyInputMessageRoleUser),
		responses.ResponseInputItemParamOfFunctionCall(args, call.CallID, call.Name), result}}
	after, err := c.Responses.New(context.Background(), q)
	if err != nil || after.OutputText() == "" {
		t.Errorf("after the tool's result: %q, %v", after.OutputText(), err)
	}
}

func TestOfficialClientChatCallsTool(t *testing.T) {
	url := serve(t)
	c := officialClient(url)
	q := chatParams("What is the weather?")
	q.Tools = []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{
		Name: "weather", Parameters: openai.FunctionParameters{"type": "object",
			"properties": map[string]any{"unit": map[string]any{"enum": []string{"C", "F"}}, "days": map[string]any{"type": "integer", "minimum": 20}},
			"required":   []string{"unit", "days"}}})}
	plain, err := c.Chat.Completions.New(context.Background(), q)
	if err != nil || len(plain.Choices[0].Message.ToolCalls) != 0 {
		t.Fatalf("calls a tool unasked: %v", err)
	}
	q.ToolChoice.OfAuto = openai.String("required")
	whole, err := c.Chat.Completions.New(context.Background(), q)
	if err != nil {
		t.Fatal(err)
	}
	stream := c.Chat.Completions.NewStreaming(context.Background(), q)
	var sum openai.ChatCompletionAccumulator
	for stream.Next() {
		sum.AddChunk(stream.Current())
	}
	a, b := whole.Choices[0].Message.ToolCalls[0].Function, sum.Choices[0].Message.ToolCalls[0].Function
	var args struct {
		Unit string
		Days int
	}
	if err := json.Unmarshal([]byte(a.Arguments), &args); err != nil || (args.Unit != "C" && args.Unit != "F") || args.Days < 20 {
		t.Errorf("arguments %s: %v", a.Arguments, err)
	}
	if a.Arguments != b.Arguments || a.Name != b.Name || whole.Choices[0].FinishReason != "tool_calls" || sum.Choices[0].FinishReason != "tool_calls" {
		t.Errorf("whole %+v, streamed %+v", whole.Choices[0], sum.Choices[0])
	}
}

func TestOfficialClientStructured(t *testing.T) {
	url := serve(t)
	c := officialClient(url)
	q := chatParams("Name a book.")
	q.ResponseFormat.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{
		Name: "book", Strict: openai.Bool(true), Schema: map[string]any{"type": "object",
			"properties": map[string]any{"title": map[string]any{"type": "string"}, "pages": map[string]any{"type": "integer"},
				"tags": map[string]any{"type": "array", "items": map[string]any{"type": "string"}}},
			"required": []string{"title", "pages", "tags"}}}}
	got, err := c.Chat.Completions.New(context.Background(), q)
	if err != nil {
		t.Fatal(err)
	}
	var book struct {
		Title string
		Pages int
		Tags  []string
	}
	if err := json.Unmarshal([]byte(got.Choices[0].Message.Content), &book); err != nil || book.Title == "" || book.Pages == 0 || len(book.Tags) == 0 {
		t.Errorf("%s: %v", got.Choices[0].Message.Content, err)
	}
}

func TestClientsEmbeddings(t *testing.T) {
	url := serve(t)
	official := officialClient(url)
	q := openai.EmbeddingNewParams{Model: "text-embedding-3-small", Dimensions: openai.Int(64),
		Input: openai.EmbeddingNewParamsInputUnion{OfArrayOfStrings: []string{"the red car", "the red bus", "quantum chromodynamics"}}}
	got, err := official.Embeddings.New(context.Background(), q)
	if err != nil {
		t.Fatal(err)
	}
	vectors := make([][]float64, len(got.Data))
	for i, d := range got.Data {
		vectors[i] = d.Embedding
	}
	near, far, self := dot(vectors[0], vectors[1]), dot(vectors[0], vectors[2]), dot(vectors[0], vectors[0])
	if near <= far || math.Abs(self-1) > 1e-5 {
		t.Errorf("similarities: near %.3f, far %.3f, self %.6f", near, far, self)
	}
	other, err := otherClient(url).CreateEmbeddings(context.Background(), goopenai.EmbeddingRequest{
		Model: "text-embedding-3-small", Input: []string{"the red car"}, Dimensions: 64, EncodingFormat: goopenai.EmbeddingEncodingFormatBase64})
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range other.Data[0].Embedding {
		if float32(vectors[0][i]) != x {
			t.Fatalf("coordinate %d: %v as base64, %v as number", i, x, vectors[0][i])
		}
	}
}

func dot(a, b []float64) float64 {
	sum := 0.0
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

func TestClientsCompletions(t *testing.T) {
	url := serve(t)
	official := officialClient(url)
	q := openai.CompletionNewParams{Model: "gpt-3.5-turbo-instruct", N: openai.Int(2),
		Prompt: openai.CompletionNewParamsPromptUnion{OfArrayOfStrings: []string{"Once upon a time"}}}
	whole, err := official.Completions.New(context.Background(), q)
	if err != nil {
		t.Fatal(err)
	}
	texts := make([]string, 2)
	stream := official.Completions.NewStreaming(context.Background(), q)
	for stream.Next() {
		for _, ch := range stream.Current().Choices {
			texts[ch.Index] += ch.Text
		}
	}
	if err := stream.Err(); err != nil {
		t.Fatal(err)
	}
	for i, ch := range whole.Choices {
		if ch.Text != texts[i] || ch.Text == "" {
			t.Errorf("choice %d: whole %q, streamed %q", i, ch.Text, texts[i])
		}
	}
	if whole.Choices[0].Text == whole.Choices[1].Text {
		t.Error("two choices are equal")
	}
	one, err := otherClient(url).CreateCompletion(context.Background(), goopenai.CompletionRequest{Model: "gpt-3.5-turbo-instruct", Prompt: "Once upon a time"})
	if err != nil || one.Choices[0].Text != texts[0] {
		t.Errorf("another client: %v", err)
	}
}

func TestOfficialClientModels(t *testing.T) {
	c := officialClient(serve(t))
	models, err := c.Models.List(context.Background())
	if err != nil || len(models.Data) != len(enginesim.DefaultModels) {
		t.Errorf("models: %v", err)
	}
}
