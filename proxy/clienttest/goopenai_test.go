package clienttest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	goopenai "github.com/sashabaranov/go-openai"
)

func other(base, key string) *goopenai.Client {
	c := goopenai.DefaultConfig(key)
	c.BaseURL = base
	return goopenai.NewClientWithConfig(c)
}

var goOpenAI = map[string]deed{
	"chat":              otherChat(otherAsk("What is rain?")),
	"chat-stream":       otherStream(otherAsk("What is rain?")),
	"chat-stream-usage": otherStream(otherWithUsage(otherAsk("What is rain?"))),
	"stream-then-whole": both(otherStream(otherAsk("What is rain?")), otherChat(otherAsk("What is rain?"))),
	"whole-then-stream": both(otherChat(otherAsk("What is rain?")), otherStream(otherAsk("What is rain?"))),
	"conversation":      otherConversation,
	"tools":             otherChat(otherCallTool()),
	"tools-stream":      otherStream(otherCallTool()),
	"tool-result":       otherChat(otherToolResult(goopenai.ToolCall{ID: "call_1", Type: "function", Function: goopenai.FunctionCall{Name: "weather", Arguments: `{"city":"Rome"}`}})),
	"tool-loop":         otherToolLoop,
	"structured":        otherChat(otherBook()),
	"structured-stream": otherStream(otherBook()),
	"completion":        otherCompletion,
	"completion-stream": otherCompletionStream,

	"response":              otherResponse(otherInput("What is a delta?")),
	"response-stream":       otherResponseStream(otherInput("What is a delta?")),
	"response-structured":   otherResponse(otherResponseBook()),
	"response-tools":        otherResponse(otherResponseTool()),
	"response-tools-stream": otherResponseStream(otherResponseTool()),
	"previous-response": otherThen(func(ctx context.Context, c *goopenai.Client, id string) (goopenai.CreateResponseResponse, error) {
		next := otherInput("Where is one?")
		next.PreviousResponseID = id
		return c.CreateResponse(ctx, next)
	}),
	"retrieve-response": otherThen(func(ctx context.Context, c *goopenai.Client, id string) (goopenai.CreateResponseResponse, error) {
		return c.RetrieveResponse(ctx, id)
	}),

	"embedding":        otherEmbedding(goopenai.EmbeddingEncodingFormatFloat),
	"embedding-base64": otherEmbedding(goopenai.EmbeddingEncodingFormatBase64),
	"models": func(ctx context.Context, base, key string) (any, error) {
		return other(base, key).ListModels(ctx)
	},

	"bad-request":         failing(otherChat(otherBad()), otherError),
	"unknown-model":       failing(otherChat(otherUnknown()), otherError),
	"unauthorized":        failing(otherChat(otherAsk("x")), otherError),
	"rate-limit":          failing(otherChat(otherAsk("x")), otherError),
	"rate-limit-stream":   failing(otherStream(otherAsk("x")), otherError),
	"error-in-stream":     failing(otherStream(otherAsk("What is rain?")), otherError),
	"cut-answer":          failing(otherChat(otherAsk("What is rain?")), broken),
	"cut-stream":          failing(otherStream(otherAsk("What is rain?")), broken),
	"cut-response-stream": failing(otherResponseStream(otherInput("What is a delta?")), broken),
	"abort":               otherAbort,
}

func otherAsk(text string) goopenai.ChatCompletionRequest {
	return goopenai.ChatCompletionRequest{Model: "gpt-4o", Messages: []goopenai.ChatCompletionMessage{{Role: "user", Content: text}}}
}

func otherWithUsage(q goopenai.ChatCompletionRequest) goopenai.ChatCompletionRequest {
	q.StreamOptions = &goopenai.StreamOptions{IncludeUsage: true}
	return q
}

func otherCallTool() goopenai.ChatCompletionRequest {
	q := otherAsk("Please call tool.")
	q.Tools = []goopenai.Tool{{Type: "function", Function: &goopenai.FunctionDefinition{Name: "weather", Parameters: object("city")}}}
	return q
}

// otherToolResult is the turn after call.
func otherToolResult(call goopenai.ToolCall) goopenai.ChatCompletionRequest {
	q := otherCallTool()
	q.Messages = append(q.Messages, goopenai.ChatCompletionMessage{Role: "assistant", ToolCalls: []goopenai.ToolCall{call}},
		goopenai.ChatCompletionMessage{Role: "tool", Content: "sunny", ToolCallID: call.ID})
	return q
}

func otherBook() goopenai.ChatCompletionRequest {
	schema, _ := json.Marshal(object("title", "author")) // maps and strings cannot fail
	q := otherAsk("Name a book.")
	q.ResponseFormat = &goopenai.ChatCompletionResponseFormat{Type: "json_schema",
		JSONSchema: &goopenai.ChatCompletionResponseFormatJSONSchema{Name: "book", Schema: json.RawMessage(schema), Strict: true}}
	return q
}

func otherBad() goopenai.ChatCompletionRequest {
	q := otherAsk("x")
	q.TopLogProbs = 30
	return q
}

func otherUnknown() goopenai.ChatCompletionRequest {
	q := otherAsk("x")
	q.Model = "nothing"
	return q
}

func otherChat(q goopenai.ChatCompletionRequest) deed {
	return func(ctx context.Context, base, key string) (any, error) {
		return other(base, key).CreateChatCompletion(ctx, q)
	}
}

func otherStream(q goopenai.ChatCompletionRequest) deed {
	return func(ctx context.Context, base, key string) (any, error) {
		stream, err := other(base, key).CreateChatCompletionStream(ctx, q)
		if err != nil {
			return nil, err
		}
		defer stream.Close()
		var got struct {
			Model, Text, Called, Finish string
			Usage                       []*goopenai.Usage
		}
		return &got, each(stream.Recv, func(chunk goopenai.ChatCompletionStreamResponse) {
			got.Model = chunk.Model
			for _, choice := range chunk.Choices {
				got.Text += choice.Delta.Content
				got.Finish += string(choice.FinishReason)
				for _, call := range choice.Delta.ToolCalls {
					got.Called += call.Function.Name + call.Function.Arguments
				}
			}
			if chunk.Usage != nil {
				got.Usage = append(got.Usage, chunk.Usage)
			}
		})
	}
}

// each calls see with every event of a stream.
func each[T any](next func() (T, error), see func(T)) error {
	for {
		event, err := next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		see(event)
	}
}

func otherConversation(ctx context.Context, base, key string) (any, error) {
	c, q := other(base, key), otherAsk("What is a delta?")
	one, err := c.CreateChatCompletion(ctx, q)
	if err != nil {
		return nil, err
	}
	q.Messages = append(q.Messages, one.Choices[0].Message, goopenai.ChatCompletionMessage{Role: "user", Content: "Where is one?"})
	two, err := c.CreateChatCompletion(ctx, q)
	return []goopenai.ChatCompletionResponse{one, two}, err
}

// otherToolLoop answers the call of the model.
func otherToolLoop(ctx context.Context, base, key string) (any, error) {
	c := other(base, key)
	one, err := c.CreateChatCompletion(ctx, otherCallTool())
	if err != nil {
		return nil, err
	}
	two, err := c.CreateChatCompletion(ctx, otherToolResult(one.Choices[0].Message.ToolCalls[0]))
	return []goopenai.ChatCompletionResponse{one, two}, err
}

var otherPrompt = goopenai.CompletionRequest{Model: "gpt-3.5-turbo-instruct", Prompt: "Once upon a time"}

func otherCompletion(ctx context.Context, base, key string) (any, error) {
	return other(base, key).CreateCompletion(ctx, otherPrompt)
}

func otherCompletionStream(ctx context.Context, base, key string) (any, error) {
	stream, err := other(base, key).CreateCompletionStream(ctx, otherPrompt)
	if err != nil {
		return nil, err
	}
	defer stream.Close()
	var got struct{ Text, Finish string }
	return &got, each(stream.Recv, func(chunk goopenai.CompletionResponse) {
		for _, choice := range chunk.Choices {
			got.Text += choice.Text
			got.Finish += choice.FinishReason
		}
	})
}

func otherInput(text string) goopenai.CreateResponseRequest {
	return goopenai.CreateResponseRequest{Model: "gpt-4o", Input: text}
}

func otherResponseTool() goopenai.CreateResponseRequest {
	q := otherInput("Please call tool.")
	q.ExtraBody = map[string]any{"tools": []any{map[string]any{"type": "function", "name": "weather", "parameters": object("city")}}}
	return q
}

func otherResponseBook() goopenai.CreateResponseRequest {
	q := otherInput("Name a book.")
	q.ExtraBody = map[string]any{"text": map[string]any{"format": map[string]any{"type": "json_schema", "name": "book", "schema": object("title", "author")}}}
	return q
}

func otherResponse(q goopenai.CreateResponseRequest) deed {
	return func(ctx context.Context, base, key string) (any, error) {
		return other(base, key).CreateResponse(ctx, q)
	}
}

func otherResponseStream(q goopenai.CreateResponseRequest) deed {
	return func(ctx context.Context, base, key string) (any, error) {
		stream, err := other(base, key).CreateResponseStream(ctx, q)
		if err != nil {
			return nil, err
		}
		defer stream.Close()
		var got struct {
			Kinds kinds
			Text  string
			Final *goopenai.CreateResponseResponse
		}
		return &got, each(stream.Recv, func(event goopenai.ResponseStreamEvent) {
			got.Kinds.add(string(event.Type))
			got.Text += event.Delta
			got.Final = event.Response
		})
	}
}

// otherThen requests a response and uses its id.
func otherThen(next func(context.Context, *goopenai.Client, string) (goopenai.CreateResponseResponse, error)) deed {
	return func(ctx context.Context, base, key string) (any, error) {
		c := other(base, key)
		one, err := c.CreateResponse(ctx, otherInput("What is a delta?"))
		if err != nil {
			return nil, err
		}
		two, err := next(ctx, c, one.ID)
		return []goopenai.CreateResponseResponse{one, two}, err
	}
}

func otherEmbedding(format goopenai.EmbeddingEncodingFormat) deed {
	return func(ctx context.Context, base, key string) (any, error) {
		return other(base, key).CreateEmbeddings(ctx, goopenai.EmbeddingRequest{Model: "text-embedding-3-small", Dimensions: 8,
			Input: []string{"the red car", "a delta"}, EncodingFormat: format})
	}
}

// otherAbort leaves a stream after its first chunk.
func otherAbort(ctx context.Context, base, key string) (any, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := other(base, key).CreateChatCompletionStream(ctx, otherAsk("What is rain?"))
	if err != nil {
		return nil, err
	}
	defer stream.Close()
	if _, err := stream.Recv(); err != nil {
		return nil, err
	}
	cancel()
	err = each(stream.Recv, func(goopenai.ChatCompletionStreamResponse) {})
	if !errors.Is(err, context.Canceled) {
		return nil, fmt.Errorf("want a cancelled stream: %w", err)
	}
	return "aborted", nil
}

func otherError(err error) (any, error) {
	var e *goopenai.APIError
	if !errors.As(err, &e) {
		return nil, err
	}
	return []any{e.HTTPStatusCode, e.Code, e.Type, e.Param, e.Message}, nil
}
