package enginesim

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"math"
	"strings"
	"time"
)

const (
	maxDimensions = 4096
	// spread is how many coordinates a token changes: enough that two tokens rarely cancel out, few enough to be fast.
	spread = 16
)

type embeddingRequest struct {
	Model      string `json:"model"`
	Input      inputs `json:"input"`
	Dimensions *int   `json:"dimensions"`
	Encoding   string `json:"encoding_format"`
}

// inputs is a text, a list of texts, a list of tokens, or a list of lists of tokens.
type inputs [][]Token

func (in *inputs) UnmarshalJSON(b []byte) error {
	var text string
	if json.Unmarshal(b, &text) == nil {
		*in = inputs{appendTokens(nil, text)}
		return nil
	}
	var texts []string
	if json.Unmarshal(b, &texts) == nil {
		for _, t := range texts {
			*in = append(*in, appendTokens(nil, t))
		}
		return nil
	}
	var tokens []Token
	if json.Unmarshal(b, &tokens) == nil {
		*in = inputs{tokens}
		return nil
	}
	if json.Unmarshal(b, (*[][]Token)(in)) == nil {
		return nil
	}
	return badRequest("input", "invalid_type", "Invalid type: expected a string, a list of strings, or lists of tokens.")
}

func (q *embeddingRequest) model() string { return q.Model }

func (q *embeddingRequest) validate() error {
	if len(q.Input) == 0 {
		return missing("input")
	}
	for _, in := range q.Input {
		if len(in) == 0 {
			return badRequest("input", "", "'input' cannot be an empty string.")
		}
	}
	if d := or(q.Dimensions, 1); d < 1 || d > maxDimensions {
		return badRequest("dimensions", "", "Invalid 'dimensions': expected a value from 1 to %d.", maxDimensions)
	}
	if q.Encoding != "" && q.Encoding != "float" && q.Encoding != "base64" {
		return badRequest("encoding_format", "invalid_value", "Invalid value: '%s'. Supported values are: 'float' and 'base64'.", q.Encoding)
	}
	return nil
}

// dimensions is the number in the request, or the size of OpenAI's models.
func (q *embeddingRequest) dimensions() int {
	switch {
	case q.Dimensions != nil:
		return *q.Dimensions
	case strings.Contains(q.Model, "large"):
		return 3072
	}
	return 1536
}

type embedding struct {
	Object string `json:"object"`
	Index  int    `json:"index"`
	Vector any    `json:"embedding"`
}

type embeddingBody struct {
	listing[embedding]
	Model string         `json:"model"`
	Usage map[string]int `json:"usage"`
}

func (e *Engine) embeddings(c *call) error {
	var q embeddingRequest
	if err := e.parse(c.body, &q); err != nil {
		return err
	}
	if err := c.replaced(); err != nil {
		return err
	}
	body := q.embed()
	r := &run{e: e, start: time.Now(), prompt: body.Usage["prompt_tokens"]} // nothing to decode, and no block is stored
	e.mu.Lock()
	e.stats.PromptTokens += int64(r.prompt)
	e.mu.Unlock()
	c.headers(r)
	if err := r.wait(c.ctx, 0); err != nil {
		return err
	}
	return c.json(body)
}

func (q *embeddingRequest) embed() embeddingBody {
	body := embeddingBody{listing: listing[embedding]{Object: "list"}, Model: q.Model}
	tokens := 0
	for i, in := range q.Input {
		tokens += len(in)
		out := embedding{Object: "embedding", Index: i}
		if v := vector(in, q.dimensions()); q.Encoding == "base64" {
			out.Vector = packed(v)
		} else {
			out.Vector = v
		}
		body.Data = append(body.Data, out)
	}
	body.Usage = map[string]int{"prompt_tokens": tokens, "total_tokens": tokens}
	return body
}

// vector is the unit vector of a bag of tokens: each token adds +1 or -1 to coordinates chosen by its hash, so that texts
// with common words are near each other.
func vector(tokens []Token, dimensions int) []float32 {
	sum := make([]float64, dimensions)
	for _, t := range tokens {
		h := uint64(t)
		for range spread {
			h = scramble(h)
			sum[int(h>>1)%dimensions] += float64(h&1)*2 - 1
		}
	}
	return unit(sum)
}

// scramble is the step of SplitMix64 (Steele, Lea and Flood 2014).
func scramble(h uint64) uint64 {
	h += 0x9e3779b97f4a7c15
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}

func unit(v []float64) []float32 {
	norm := 0.0
	for _, x := range v {
		norm += x * x
	}
	if norm == 0 {
		v[0], norm = 1, 1 // tokens that cancel out still need a direction
	}
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = float32(x / math.Sqrt(norm))
	}
	return out
}

// packed is the base64 form: little-endian float32.
func packed(v []float32) string {
	b := make([]byte, 0, 4*len(v))
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return base64.StdEncoding.EncodeToString(b)
}
