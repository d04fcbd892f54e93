package enginesim

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"math/rand/v2"
	"strings"
)

// job is one request as the model gets it, whatever its endpoint.
type job struct {
	model   string
	turns   []turn // the prompt of a completion is one message of the user
	prompt  []Token
	asked   string         // text of the last user turn
	params  string         // everything else that the answer depends on
	salt    string         // cache_salt
	choices int            // n
	limit   int            // output tokens; 0 is no limit
	stop    []string       // texts that end an answer
	tools   []toolSpec     // that the model calls at once, at most two
	format  map[string]any // the schema of the answer; nil is text
}

// choice is one answer. Its text is cut into tokens, the pieces.
type choice struct {
	pieces  []string
	tool    string // the name of the function whose arguments the text is
	also    string // the name of another function that is called, in one piece
	args    string // its arguments
	refusal bool   // the text is a refusal
	finish  string
	stopped string // the text of the request that ended it
}

func (c *choice) text() string { return strings.Join(c.pieces, "") }

// answer computes the choices.
func (j *job) answer(f *Fault) []choice {
	out := make([]choice, j.choices)
	for i := range out {
		out[i] = j.choice(i, f)
	}
	return out
}

func (j *job) choice(index int, f *Fault) choice {
	c := choice{finish: "stop"}
	rng := j.rng(index)
	var text string
	switch {
	case f.Refusal != "":
		text, c.refusal = f.Refusal, true
	case len(j.tools) > 0:
		t := j.tools[0]
		text, c.tool, c.finish = compact(fill(rng, t.Parameters)), t.Name, t.finish
		for _, t := range j.tools[1:] {
			c.also, c.args = t.Name, compact(fill(rng, t.Parameters))
		}
	case j.format != nil:
		text = compact(fill(rng, j.format))
	default:
		text = compose(rng)
	}
	c.cut(text, j)
	if f.FinishReason != "" {
		c.finish = f.FinishReason
	}
	return c
}

// cut ends the text at a stop text or at the limit of the request.
func (c *choice) cut(text string, j *job) {
	for _, s := range j.stop {
		if before, _, found := strings.Cut(text, s); found {
			text, c.stopped = before, s
		}
	}
	c.pieces = split(text)
	if j.limit > 0 && len(c.pieces) > j.limit {
		c.pieces, c.finish = c.pieces[:j.limit], "length"
	}
}

// rng is seeded with everything that the answer depends on.
func (j *job) rng(index int) *rand.Rand {
	buf := make([]byte, 0, 64+8*len(j.prompt)+len(j.params))
	buf = append(append(buf, j.model...), 0)
	buf = append(append(buf, j.params...), 0)
	buf = binary.LittleEndian.AppendUint64(buf, uint64(index))
	for _, t := range j.prompt {
		buf = binary.LittleEndian.AppendUint64(buf, uint64(t))
	}
	sum := sha256.Sum256(buf)
	return rand.New(rand.NewPCG(binary.LittleEndian.Uint64(sum[:]), binary.LittleEndian.Uint64(sum[8:])))
}

func compact(v any) string {
	b, _ := json.Marshal(v) // cannot fail: v comes from decoded JSON
	return string(b)
}
