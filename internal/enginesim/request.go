package enginesim

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// imageTokens is the number of tokens of a part that is not text (a small image in OpenAI's price list).
const imageTokens = 85

// decode reads a request body into v, which is a pointer to a struct.
func decode(body []byte, v any) error {
	err := json.Unmarshal(body, v)
	var wrong *json.UnmarshalTypeError
	var refused *apiError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &refused):
		return refused
	case errors.As(err, &wrong):
		return badRequest(wrong.Field, "invalid_type", "Invalid type for '%s': got %s.", wrong.Field, wrong.Value)
	}
	return badRequest("", "", "We could not parse the JSON body of your request: %s.", err)
}

// request is the body of a request to a model.
type request interface {
	model() string
	validate() error
}

// parse reads and checks the body of a request to a model.
func (e *Engine) parse(body []byte, q request) error {
	if err := decode(body, q); err != nil {
		return err
	}
	if err := e.serves(q.model()); err != nil {
		return err
	}
	return q.validate()
}

// sampling is the fields that requests for text have in common.
type sampling struct {
	Model            string             `json:"model"`
	Temperature      *float64           `json:"temperature"`
	TopP             *float64           `json:"top_p"`
	PresencePenalty  *float64           `json:"presence_penalty"`
	FrequencyPenalty *float64           `json:"frequency_penalty"`
	Seed             *int64             `json:"seed"`
	LogitBias        map[string]float64 `json:"logit_bias"`
	CacheSalt        *string            `json:"cache_salt"`
}

func (s *sampling) model() string { return s.Model }

func (s *sampling) validate() error {
	checks := []struct {
		name      string
		value     *float64
		low, high float64
	}{
		{"temperature", s.Temperature, 0, 2}, {"top_p", s.TopP, 0, 1},
		{"presence_penalty", s.PresencePenalty, -2, 2}, {"frequency_penalty", s.FrequencyPenalty, -2, 2},
	}
	for _, c := range checks {
		if c.value != nil && (*c.value < c.low || *c.value > c.high) {
			return badRequest(c.name, "decimal_out_of_range", "Invalid '%s': expected a value from %g to %g, got %g.", c.name, c.low, c.high, *c.value)
		}
	}
	if s.CacheSalt != nil && *s.CacheSalt == "" {
		return badRequest("cache_salt", "", "Parameter 'cache_salt' must be a non-empty string if provided.")
	}
	return nil
}

func (s *sampling) salt() string {
	if s.CacheSalt == nil {
		return ""
	}
	return *s.CacheSalt
}

// params is a text that differs where two requests are sampled differently. Absent values are OpenAI's defaults.
func (s *sampling) params() string {
	seed := "-"
	if s.Seed != nil {
		seed = fmt.Sprint(*s.Seed)
	}
	return fmt.Sprint(or(s.Temperature, 1), or(s.TopP, 1), or(s.PresencePenalty, 0), or(s.FrequencyPenalty, 0), " ", seed, s.LogitBias)
}

func or[T any](p *T, otherwise T) T {
	if p == nil {
		return otherwise
	}
	return *p
}

// stops is one text or a list of at most four.
type stops []string

func (s *stops) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		if one != "" {
			*s = stops{one}
		}
		return nil
	}
	var list []string
	if json.Unmarshal(b, &list) != nil || len(list) > 4 || slices.Contains(list, "") {
		return badRequest("stop", "", "Invalid 'stop': expected a string or a list of at most 4 non-empty strings.")
	}
	*s = list
	return nil
}

// content is the content of a message: a text, or parts.
type content struct {
	text  string
	other []Token // of the parts that are not text
}

func (c *content) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] != '[' {
		if json.Unmarshal(b, &c.text) != nil {
			return badRequest("content", "invalid_type", "Invalid type for 'content': expected a string or a list of parts.")
		}
		return nil
	}
	var parts []json.RawMessage
	if err := json.Unmarshal(b, &parts); err != nil {
		return err
	}
	for _, p := range parts {
		if err := c.part(p); err != nil {
			return err
		}
	}
	return nil
}

func (c *content) part(raw json.RawMessage) error {
	var p struct {
		Type    string  `json:"type"`
		Text    *string `json:"text"`
		Refusal *string `json:"refusal"`
	}
	if err := json.Unmarshal(raw, &p); err != nil || p.Type == "" {
		return badRequest("content", "", "Invalid part of 'content': expected an object with a 'type'.")
	}
	switch {
	case p.Text != nil:
		c.text += *p.Text
	case p.Refusal != nil:
		c.text += *p.Refusal
	default:
		c.other = append(c.other, blob(canonical(raw))...)
	}
	return nil
}

// blob is the tokens of data that is not text, such as an image: a fixed number, computed from its bytes.
func blob(data string) []Token {
	sum := sha256.Sum256([]byte(data))
	first := binary.LittleEndian.Uint64(sum[:])
	out := make([]Token, imageTokens)
	for i := range out {
		out[i] = Token(first + uint64(i))
	}
	return out
}

// canonical is raw JSON without white space and with sorted names.
func canonical(raw json.RawMessage) string {
	if len(raw) == 0 {
		return ""
	}
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return string(raw)
	}
	return compact(v)
}

// format is response_format of chat, and text.format of responses, where the schema is at the top.
type format struct {
	Type   string         `json:"type"`
	Name   string         `json:"name"`
	Schema map[string]any `json:"schema"`
	Nested struct {
		Schema map[string]any `json:"schema"`
	} `json:"json_schema"`
}

// anyObject is the schema of an answer that may be any object.
var anyObject = map[string]any{
	"type":       "object",
	"properties": map[string]any{"answer": map[string]any{"type": "string"}, "score": map[string]any{"type": "integer"}},
	"required":   []any{"answer", "score"},
}

func (f *format) schema() (map[string]any, error) {
	if f == nil {
		return nil, nil
	}
	switch f.Type {
	case "text":
		return nil, nil
	case "json_object":
		if f.Schema != nil { // of llama.cpp and others
			return f.Schema, nil
		}
		return anyObject, nil
	case "json_schema":
		if f.Nested.Schema != nil {
			return f.Nested.Schema, nil
		}
		if f.Schema != nil {
			return f.Schema, nil
		}
		return nil, missing("response_format.json_schema")
	}
	return nil, badRequest("response_format.type", "invalid_value", "Invalid value: '%s'. Supported values are: 'json_object', 'json_schema', and 'text'.", f.Type)
}
