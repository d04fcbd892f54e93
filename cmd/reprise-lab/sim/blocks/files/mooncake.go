package files

import (
	"errors"
	"fmt"

	"reprise/cmd/reprise-lab/sim/blocks"
)

// MooncakeRecord is a line of a Mooncake trace. IDs are for a block and all before it in the prompt.
type MooncakeRecord struct {
	Timestamp float64 // milliseconds
	Input     int     // tokens
	Output    int     // tokens
	IDs       []uint64
}

// MooncakeTokens is the size of the blocks of a Mooncake trace.
const MooncakeTokens = 512

// ParseMooncake reads a line.
func ParseMooncake(line []byte) (MooncakeRecord, error) {
	var one struct {
		Timestamp *float64 `json:"timestamp"`
		Input     int      `json:"input_length"`
		Output    int      `json:"output_length"`
		IDs       []uint64 `json:"hash_ids"`
	}
	if err := decode(line, &one); err != nil {
		return MooncakeRecord{}, err
	}
	if one.Timestamp == nil {
		return MooncakeRecord{}, errors.New("want the field timestamp in milliseconds")
	}
	err := errors.Join(checkSeconds("timestamp", *one.Timestamp/1e3, 0), checkTokens("input_length", one.Input, 1), checkTokens("output_length", one.Output, 0))
	if err == nil {
		err = checkHashIDs(len(one.IDs), one.Input)
	}
	return MooncakeRecord{*one.Timestamp, one.Input, one.Output, one.IDs}, err
}

// mooncakeParser infers conversations, which the file does not name: a request continues the last earlier one whose full blocks, at least
// leastShared, its prompt begins with, if it is long enough for the prompt and the answer of that one. In mooncake_conversation that is
// 30 % of the requests, with 80 % of the hits. A conversation that began before the file has its first request here as turn 1. The end
// of an answer is not recorded: Think is the time from one arrival to the next.
type mooncakeParser struct {
	*builder
	ends     []int32 // of each block, the number of the last request whose last full block it is; 0: none
	sessions uint32
	chain    []uint32
}

// leastShared is more than the system prompt that all conversations have in common takes.
const leastShared = 2

func (p *mooncakeParser) line(text []byte) error {
	one, err := ParseMooncake(text)
	if err != nil {
		return err
	}
	kind, err := p.kind("chat")
	if err != nil {
		return err
	}
	p.chain = p.numbers.Chain(p.chain[:0], one.IDs)
	r := blocks.Request{At: one.Timestamp / 1e3, Prompt: int32(one.Input), Answer: int32(one.Output), Kind: kind, Turn: 1}
	p.follow(&r)
	if full := one.Input / MooncakeTokens; full >= leastShared {
		last := int(p.chain[full-1])
		if more := last + 1 - len(p.ends); more > 0 {
			p.ends = append(p.ends, make([]int32, more)...)
		}
		p.ends[last] = p.next()
	}
	return p.addChain(r, 0, p.chain, -1)
}

// follow makes a request of chain the continuation of an earlier one, if there is one, or else the first of a conversation.
func (p *mooncakeParser) follow(r *blocks.Request) {
	for i := len(p.chain) - 1; i >= leastShared-1; i-- {
		if int(p.chain[i]) >= len(p.ends) || p.ends[p.chain[i]] == 0 {
			continue
		}
		number := p.ends[p.chain[i]]
		earlier := &p.trace.Requests[number-1]
		if earlier.Prompt+earlier.Answer <= r.Prompt && earlier.At <= r.At {
			r.After, r.Turn, r.Session, r.Think = number, earlier.Turn+1, earlier.Session, r.At-earlier.At
			return
		}
	}
	p.sessions++
	r.Session = p.sessions
}

func (p *mooncakeParser) end() error {
	p.trace.Tokens, p.trace.Note = MooncakeTokens, "conversations are inferred from the prompts"
	return nil
}

func checkHashIDs(n, tokens int) error {
	const unit = MooncakeTokens
	if want := (tokens + unit - 1) / unit; n != want {
		return fmt.Errorf("field hash_ids: %d numbers: want %d for %d tokens in blocks of %d", n, want, tokens, unit)
	}
	return nil
}
