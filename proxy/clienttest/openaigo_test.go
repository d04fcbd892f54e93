package clienttest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"
)

func official(base, key string) openai.Client {
	return openai.NewClient(option.WithBaseURL(base), option.WithAPIKey(key), option.WithMaxRetries(0))
}

var openaiGo = map[string]deed{
	"chat":                wholeChat(chatParams("What is rain?")),
	"chat-stream":         streamedChat(chatParams("What is rain?")),
	"chat-stream-usage":   streamedChat(withUsage(chatParams("What is rain?"))),
	"chat-stream-summed":  summedChat(withUsage(chatParams("What is rain?"))),
	"stream-then-whole":   both(summedChat(chatParams("What is rain?")), wholeChat(chatParams("What is rain?"))),
	"whole-then-stream":   both(wholeChat(chatParams("What is rain?")), summedChat(chatParams("What is rain?"))),
	"conversation":        conversation,
	"tools":               wholeChat(callTool()),
	"tools-stream":        summedChat(callTool()),
	"tool-result":         wholeChat(toolResult("call_1", `{"city":"Rome"}`)),
	"tool-loop":           toolLoop,
	"structured":          wholeChat(nameBook()),
	"structured-stream":   summedChat(nameBook()),
	"completion":          completion,
	"completion-stream":   completionStream,
	"response":            wholeResponse(responseParams("What is a delta?")),
	"response-stream":     streamedResponse(responseParams("What is a delta?")),
	"response-structured": wholeResponse(responseBook()),

	"response-tools":        wholeResponse(responseTool()),
	"response-tools-stream": streamedResponse(responseTool()),

	"previous-response": thenResponse(func(ctx context.Context, c openai.Client, id string) (*responses.Response, error) {
		next := responseParams("Where is one?")
		next.PreviousResponseID = openai.String(id)
		return c.Responses.New(ctx, next)
	}),
	"retrieve-response": thenResponse(func(ctx context.Context, c openai.Client, id string) (*responses.Response, error) {
		return c.Responses.Get(ctx, id, responses.ResponseGetParams{})
	}),

	"embedding":        embedding(openai.EmbeddingNewParamsEncodingFormatFloat),
	"embedding-base64": embedding(openai.EmbeddingNewParamsEncodingFormatBase64),
	"models":           models,

	"bad-request":         failing(wholeChat(badRequest()), officialError),
	"unknown-model":       failing(wholeChat(unknownModel()), officialError),
	"unauthorized":        failing(wholeChat(chatParams("x")), officialError),
	"rate-limit":          failing(wholeChat(chatParams("x")), officialError),
	"rate-limit-stream":   failing(streamedChat(chatParams("x")), officialError),
	"error-in-stream":     failing(streamedChat(chatParams("What is rain?")), inWords),
	"cut-answer":          failing(wholeChat(chatParams("What is rain?")), broken),
	"cut-stream":          failing(streamedChat(chatParams("What is rain?")), broken),
	"cut-response-stream": failing(streamedResponse(responseParams("What is a delta?")), broken),
	"abort":               abort,
}

func chatParams(text string) openai.ChatCompletionNewParams {
	return openai.ChatCompletionNewParams{Model: "gpt-4o", Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(text)}}
}

func withUsage(q openai.ChatCompletionNewParams) openai.ChatCompletionNewParams {
	q.StreamOptions.IncludeUsage = openai.Bool(true)
	return q
}

func callTool() openai.ChatCompletionNewParams {
	q := chatParams("Please call tool.")
	q.Tools = []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{
		Name: "weather", Strict: openai.Bool(true), Parameters: object("city")})}
	return q
}

// toolResult is the turn after a call.
func toolResult(id, arguments string) openai.ChatCompletionNewParams {
	q := callTool()
	call := openai.ChatCompletionMessageFunctionToolCallParam{ID: id,
		Function: openai.ChatCompletionMessageFunctionToolCallFunctionParam{Name: "weather", Arguments: arguments}}
	said := &openai.ChatCompletionAssistantMessageParam{ToolCalls: []openai.ChatCompletionMessageToolCallUnionParam{{OfFunction: &call}}}
	q.Messages = append(q.Messages, openai.ChatCompletionMessageParamUnion{OfAssistant: said}, openai.ToolMessage("sunny", id))
	return q
}

func nameBook() openai.ChatCompletionNewParams {
	q := chatParams("Name a book.")
	q.ResponseFormat.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{
		Name: "book", Strict: openai.Bool(true), Schema: object("title", "author")}}
	return q
}

func badRequest() openai.ChatCompletionNewParams {
	q := chatParams("x")
	q.TopLogprobs = openai.Int(30)
	return q
}

func unknownModel() openai.ChatCompletionNewParams {
	q := chatParams("x")
	q.Model = "nothing"
	return q
}

func wholeChat(q openai.ChatCompletionNewParams) deed {
	return func(ctx context.Context, base, key string) (any, error) {
		c := official(base, key)
		got, err := c.Chat.Completions.New(ctx, q)
		if err != nil {
			return nil, err
		}
		return json.RawMessage(got.RawJSON()), nil
	}
}

// streamedChat reads a stream chunk by chunk.
func streamedChat(q openai.ChatCompletionNewParams) deed {
	return func(ctx context.Context, base, key string) (any, error) {
		c := official(base, key)
		var got struct {
			Model, Text, Finish string
			Usage               []json.RawMessage
		}
		stream := c.Chat.Completions.NewStreaming(ctx, q)
		for stream.Next() {
			chunk := stream.Current()
			got.Model = chunk.Model
			for _, choice := range chunk.Choices {
				got.Text += choice.Delta.Content
				got.Finish += choice.FinishReason
			}
			if chunk.JSON.Usage.Valid() {
				got.Usage = append(got.Usage, json.RawMessage(chunk.Usage.RawJSON()))
			}
		}
		return got, stream.Err()
	}
}

// summedChat reads a stream with the accumulator of the client library.
func summedChat(q openai.ChatCompletionNewParams) deed {
	return func(ctx context.Context, base, key string) (any, error) {
		c := official(base, key)
		var sum openai.ChatCompletionAccumulator
		stream := c.Chat.Completions.NewStreaming(ctx, q)
		for stream.Next() {
			if !sum.AddChunk(stream.Current()) {
				return nil, fmt.Errorf("chunk does not fit: %s", stream.Current().RawJSON())
			}
		}
		return sum.ChatCompletion, stream.Err()
	}
}

func conversation(ctx context.Context, base, key string) (any, error) {
	c := official(base, key)
	q := chatParams("What is a delta?")
	one, err := c.Chat.Completions.New(ctx, q)
	if err != nil {
		return nil, err
	}
	q.Messages = append(q.Messages, one.Choices[0].Message.ToParam(), openai.UserMessage("Where is one?"))
	two, err := c.Chat.Completions.New(ctx, q)
	return []*openai.ChatCompletion{one, two}, err
}

// toolLoop answers the call of the model.
func toolLoop(ctx context.Context, base, key string) (any, error) {
	c := official(base, key)
	one, err := c.Chat.Completions.New(ctx, callTool())
	if err != nil {
		return nil, err
	}
	call := one.Choices[0].Message.ToolCalls[0]
	two, err := c.Chat.Completions.New(ctx, toolResult(call.ID, call.Function.Arguments))
	return []*openai.ChatCompletion{one, two}, err
}

var completionParams = openai.CompletionNewParams{Model: "gpt-3.5-turbo-instruct",
	Prompt: openai.CompletionNewParamsPromptUnion{OfString: openai.String("Once upon a time")}}

func completion(ctx context.Context, base, key string) (any, error) {
	c := official(base, key)
	return c.Completions.New(ctx, completionParams)
}

func completionStream(ctx context.Context, base, key string) (any, error) {
	c := official(base, key)
	var text, finish string
	stream := c.Completions.NewStreaming(ctx, completionParams)
	for stream.Next() {
		for _, choice := range stream.Current().Choices {
			text += choice.Text
			finish += string(choice.FinishReason)
		}
	}
	return []string{text, finish}, stream.Err()
}

func responseParams(text string) responses.ResponseNewParams {
	return responses.ResponseNewParams{Model: "gpt-4o", Input: responses.ResponseNewParamsInputUnion{OfString: openai.String(text)}}
}

func responseTool() responses.ResponseNewParams {
	q := responseParams("Please call tool.")
	q.Tools = []responses.ToolUnionParam{{OfFunction: &responses.FunctionToolParam{Name: "weather", Strict: openai.Bool(true), Parameters: object("city")}}}
	return q
}

func responseBook() responses.ResponseNewParams {
	q := responseParams("Name a book.")
	q.Text.Format.OfJSONSchema = &responses.ResponseFormatTextJSONSchemaConfigParam{Name: "book", Schema: object("title", "author")}
	return q
}

func wholeResponse(q responses.ResponseNewParams) deed {
	return func(ctx context.Context, base, key string) (any, error) {
		c := official(base, key)
		got, err := c.Responses.New(ctx, q)
		if err != nil {
			return nil, err
		}
		return json.RawMessage(got.RawJSON()), nil
	}
}

func streamedResponse(q responses.ResponseNewParams) deed {
	return func(ctx context.Context, base, key string) (any, error) {
		c := official(base, key)
		var got struct {
			Kinds kinds
			Text  string
			Final json.RawMessage
		}
		stream := c.Responses.NewStreaming(ctx, q)
		for number := int64(0); stream.Next(); number++ {
			event := stream.Current()
			if event.SequenceNumber != number {
				return nil, fmt.Errorf("event %d has number %d", number, event.SequenceNumber)
			}
			got.Kinds.add(event.Type)
			got.Text += event.Delta
			if event.JSON.Response.Valid() {
				got.Final = json.RawMessage(event.Response.RawJSON())
			}
		}
		return got, stream.Err()
	}
}

// thenResponse requests a response and uses its id.
func thenResponse(next func(context.Context, openai.Client, string) (*responses.Response, error)) deed {
	return func(ctx context.Context, base, key string) (any, error) {
		c := official(base, key)
		one, err := c.Responses.New(ctx, responseParams("What is a delta?"))
		if err != nil {
			return nil, err
		}
		two, err := next(ctx, c, one.ID)
		if err != nil {
			return nil, err
		}
		return []json.RawMessage{json.RawMessage(one.RawJSON()), json.RawMessage(two.RawJSON())}, nil
	}
}

func embedding(format openai.EmbeddingNewParamsEncodingFormat) deed {
	return func(ctx context.Context, base, key string) (any, error) {
		c := official(base, key)
		got, err := c.Embeddings.New(ctx, openai.EmbeddingNewParams{Model: "text-embedding-3-small", Dimensions: openai.Int(8), EncodingFormat: format,
			Input: openai.EmbeddingNewParamsInputUnion{OfArrayOfStrings: []string{"the red car", "a delta"}}})
		if err != nil {
			return nil, err
		}
		return json.RawMessage(got.RawJSON()), nil
	}
}

func models(ctx context.Context, base, key string) (any, error) {
	c := official(base, key)
	page, err := c.Models.List(ctx)
	if err != nil {
		return nil, err
	}
	return page.Data, nil
}

// abort leaves a stream after its first chunk.
func abort(ctx context.Context, base, key string) (any, error) {
	c := official(base, key)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream := c.Chat.Completions.NewStreaming(ctx, chatParams("What is rain?"))
	if !stream.Next() {
		return nil, stream.Err()
	}
	cancel()
	for stream.Next() {
	}
	if !errors.Is(stream.Err(), context.Canceled) {
		return nil, fmt.Errorf("want a cancelled stream: %w", stream.Err())
	}
	return "aborted", nil
}

func officialError(err error) (any, error) {
	var e *openai.Error
	if !errors.As(err, &e) {
		return nil, err
	}
	return []any{e.StatusCode, e.Code, e.Type, e.Param, e.Message, e.Response.Header.Get("Retry-After")}, nil
}

func inWords(err error) (any, error) { return err.Error(), nil }
