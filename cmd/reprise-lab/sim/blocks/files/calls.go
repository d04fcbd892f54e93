package files

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"reprise/cmd/reprise-lab/sim/blocks"
)

// CallRecord is a line of a file of calls of a model with their text.
type CallRecord struct {
	Timestamp     int64 // microseconds
	Session       string
	Input, Output string
}

// ParseCall reads a line.
func ParseCall(line []byte) (CallRecord, error) {
	var one struct {
		Timestamp int64   `json:"timestamp"`
		Session   *string `json:"session_id"`
		Input     *string `json:"input"`
		Output    string  `json:"output"`
	}
	if err := decode(line, &one); err != nil {
		return CallRecord{}, err
	}
	if one.Input == nil || one.Session == nil {
		return CallRecord{}, errors.New("want the fields input and session_id as strings")
	}
	r := CallRecord{one.Timestamp, *one.Session, *one.Input, one.Output}
	return r, checkSeconds("timestamp", float64(r.Timestamp)/1e6, 0)
}

// callParser cuts the input of each call into full blocks, and makes a conversation of each session, by the times of its calls. The end
// of an answer is not recorded: Think is the time from one arrival to the next. Blocks of answers are not known either, because the file
// does not have what the application puts between an input and its output.
type callParser struct {
	*builder
	sessions map[string]uint32 // number, from 1
	calls    [][]int32         // of each session, the numbers of its requests, from 1
	texts    []string          // inputs of the requests, for Options.Predict
	outputs  []string
	chain    []uint32
}

func (p *callParser) line(text []byte) error {
	one, err := ParseCall(text)
	if err != nil {
		return err
	}
	kind, err := p.kind("call")
	if err != nil {
		return err
	}
	if p.sessions == nil {
		p.sessions = map[string]uint32{}
	}
	session := p.sessions[one.Session]
	if session == 0 {
		p.calls = append(p.calls, nil)
		session = uint32(len(p.calls))
		p.sessions[one.Session] = session
	}
	r := blocks.Request{At: float64(one.Timestamp) / 1e6, Prompt: max(1, tokensOf(len(one.Input))), Answer: tokensOf(len(one.Output)), Kind: kind, Session: session}
	calls := &p.calls[session-1]
	var from int32
	if n := len(*calls); n > 0 {
		from = (*calls)[n-1]
	}
	*calls = append(*calls, p.next())
	if p.o.Predict != nil {
		p.texts, p.outputs = append(p.texts, one.Input), append(p.outputs, one.Output)
	}
	if err := p.fits(len(one.Input)); err != nil {
		return fmt.Errorf("field input: %w", err)
	}
	p.chain, _ = p.cut(p.chain[:0], 0, []byte(one.Input))
	return p.addChain(r, from, p.chain, -1)
}

// tokensOf is the tokens of a text of a number of bytes.
func tokensOf(bytes int) int32 { return int32((bytes + BytesPerToken - 1) / BytesPerToken) }

// size is the bytes of a block of text.
func (b *builder) size() int { return b.o.Tokens * BytesPerToken }

// fits reports a text that has more blocks than a chain can have.
func (b *builder) fits(bytes int) error {
	if most := min(MostTokens*BytesPerToken, MostChain*b.size()); bytes > most {
		return fmt.Errorf("a prompt of %d bytes: want at most %d in blocks of %d tokens", bytes, most, b.o.Tokens)
	}
	return nil
}

// cut appends to a chain the numbers of the full blocks of a text that follows the block of number parent-1, or the chain's last one. It
// returns the rest of the text too.
func (b *builder) cut(chain []uint32, parent uint32, text []byte) ([]uint32, []byte) {
	if n := len(chain); n > 0 {
		parent = chain[n-1] + 1
	}
	for size := b.size(); len(text) >= size; text = text[size:] {
		number := b.numbers.Next(parent, hash(text[:size]))
		chain = append(chain, number)
		parent = number + 1
	}
	return chain, text
}

// hash is FNV-1a with a last step that mixes the bits.
func hash(text []byte) uint64 {
	h := uint64(14695981039346656037)
	for _, c := range text {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return h ^ h>>32
}

func (p *callParser) end() error {
	p.epoch = true
	for _, calls := range p.calls {
		slices.SortStableFunc(calls, func(x, y int32) int {
			return cmp.Compare(p.trace.Requests[x-1].At, p.trace.Requests[y-1].At)
		})
		var last *blocks.Request
		for i, number := range calls {
			r := &p.trace.Requests[number-1]
			r.Turn = int32(i) + 1
			if last != nil {
				r.After, r.Think = calls[i-1], r.At-last.At
			}
			last = r
		}
		p.predict(calls)
	}
	return nil
}

// predict asks for the probabilities of a session. What is new in an input is the part after what it has in common with the one before.
func (p *callParser) predict(calls []int32) {
	if p.o.Predict == nil {
		return
	}
	var turn Turn
	before := ""
	for i, number := range calls {
		text := p.texts[number-1]
		fresh := text
		if strings.HasPrefix(text, before) {
			fresh = text[len(before):]
		}
		turn.Prompts = append(turn.Prompts, fresh)
		if i > 0 {
			turn.Answers = append(turn.Answers, p.outputs[calls[i-1]-1])
		}
		r := &p.trace.Requests[number-1]
		turn.Number, turn.Kind = int(r.Turn), p.trace.Kinds[r.Kind]
		r.Prob = p.o.Predict(turn)
		before = text
	}
}
