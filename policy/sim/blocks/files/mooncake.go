package files

import (
	"errors"

	"reprise/policy/sim/blocks"
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
		err = checkHashIDs(len(one.IDs), one.Input, MooncakeTokens)
	}
	return MooncakeRecord{*one.Timestamp, one.Input, one.Output, one.IDs}, err
}

// mooncakeParser has one type of requests and no conversations: the file names none.
type mooncakeParser struct{ *builder }

func (p *mooncakeParser) line(text []byte) error {
	one, err := ParseMooncake(text)
	if err != nil {
		return err
	}
	kind, err := p.kind("chat")
	if err != nil {
		return err
	}
	r := blocks.Request{At: one.Timestamp / 1e3, Prompt: int32(one.Input), Answer: int32(one.Output), Kind: kind, Turn: 1}
	return p.addChain(r, 0, p.numbers.Chain(nil, one.IDs), -1)
}

func (p *mooncakeParser) end() error {
	p.trace.Tokens = MooncakeTokens
	return nil
}
