package files

import (
	"errors"
	"fmt"
	"math"

	"reprise/cmd/reprise-lab/sim/blocks"
)

// Header is the first line of a file of format Blocks.
type Header struct {
	Format    Format   `json:"format"`             // Blocks
	Tokens    int      `json:"block_size"`         // of a block
	Name      string   `json:"name,omitempty"`     // of the trace that Read returns; Open names it by the file
	Kinds     []string `json:"kinds,omitempty"`    // types in their order; others are added behind them
	Distinct  int      `json:"distinct,omitempty"` // numbers of blocks are below it, and each follows only one other. 0: they are any ids
	Generated bool     `json:"generated,omitempty"`
	Note      string   `json:"note,omitempty"`
}

// Record is a further line of a file of format Blocks: a request. At and Prompt must be there.
type Record struct {
	At      *float64    `json:"at"`               // seconds
	Prompt  int         `json:"prompt"`           // tokens
	Answer  int         `json:"answer,omitempty"` // tokens
	Blocks  []uint64    `json:"blocks,omitempty"` // of the prompt; or as
	Runs    [][2]uint64 `json:"runs,omitempty"`   // runs, the first number and how many, where Blocks is not there
	Filled  []uint64    `json:"filled,omitempty"` // blocks that the answer completes
	Kind    string      `json:"kind,omitempty"`   // default "request"
	Turn    int         `json:"turn,omitempty"`   // default 1
	Session uint32      `json:"session,omitempty"`
	User    uint32      `json:"user,omitempty"`
	After   int32       `json:"after,omitempty"` // number of the request that this one continues, by its place in the file, from 1
	Think   float64     `json:"think,omitempty"` // seconds
	GoesOn  bool        `json:"goes_on,omitempty"`
	Prob    float32     `json:"prob,omitempty"`
}

// ParseHeader reads the first line.
func ParseHeader(line []byte) (h Header, err error) {
	if err := decode(line, &h); err != nil {
		return h, err
	}
	switch {
	case h.Format != Blocks:
		return h, fmt.Errorf(`field format: %.40q: want a first line {"format":"blocks","block_size":…}`, h.Format)
	case h.Tokens < 1 || h.Tokens > mostBlock:
		return h, fmt.Errorf("field block_size: %d: want 1 to %d tokens", h.Tokens, mostBlock)
	case h.Distinct < 0 || h.Distinct > MostDistinct:
		return h, fmt.Errorf("field distinct: %d: want 0 to %d blocks", h.Distinct, MostDistinct)
	}
	return h, nil
}

// ParseRecord reads a further line.
func ParseRecord(line []byte) (r Record, err error) {
	if err := decode(line, &r); err != nil {
		return r, err
	}
	if r.At == nil {
		return r, errors.New("want the field at in seconds")
	}
	err = errors.Join(checkSeconds("at", *r.At, -mostSeconds), checkTokens("prompt", r.Prompt, 1), checkTokens("answer", r.Answer, 0), checkSeconds("think", r.Think, 0))
	n := len(r.Blocks) + len(r.Filled)
	for _, run := range r.Runs {
		if run[1] < 1 || run[1] > MostChain {
			return r, fmt.Errorf("field runs: a run of %d: want 1 to %d blocks", run[1], MostChain)
		}
		if n = min(n+int(run[1]), MostChain+1); run[0] > math.MaxUint64-run[1] {
			return r, fmt.Errorf("field runs: a run of %d from %d: want numbers of 64 bits", run[1], run[0])
		}
	}
	switch {
	case err != nil:
		return r, err
	case n > MostChain:
		return r, fmt.Errorf("fields blocks, runs and filled: want at most %d blocks", MostChain)
	case len(r.Blocks) > 0 && len(r.Runs) > 0:
		return r, errors.New("fields blocks and runs: want one of them")
	case r.Turn < 0 || r.Turn > MostTokens:
		return r, fmt.Errorf("field turn: %d: want 1 to %d", r.Turn, MostTokens)
	case !(r.Prob >= 0 && r.Prob < 1):
		return r, fmt.Errorf("field prob: %g: want a probability below 1, 0 for none", r.Prob)
	}
	return r, nil
}

// ownParser reads format Blocks.
type ownParser struct {
	*builder
	header  *Header
	parents []uint32         // of each number, the one before it + 1, and 1 more: 0 is not seen yet
	last    map[uint32]int32 // of each session, the number of its last request
	ids     []uint64
	chain   []uint32
}

func (p *ownParser) line(text []byte) error {
	if p.header == nil {
		return p.head(text)
	}
	one, err := ParseRecord(text)
	if err != nil {
		return err
	}
	if err := p.checkChain(&one); err != nil {
		return err
	}
	if one.After < 0 || one.After >= p.next() {
		return fmt.Errorf("field after: %d: want the number of an earlier request, below %d, or 0", one.After, p.next())
	}
	if one.Kind == "" {
		one.Kind = "request"
	}
	kind, err := p.kind(one.Kind)
	if err != nil {
		return err
	}
	if err := p.number(&one); err != nil {
		return err
	}
	r := blocks.Request{At: *one.At, After: one.After, Think: one.Think, Prompt: int32(one.Prompt), Answer: int32(one.Answer),
		Kind: kind, Turn: int32(max(1, one.Turn)), Session: one.Session, User: one.User, GoesOn: one.GoesOn, Prob: one.Prob}
	from := r.After
	if from == 0 && r.Session > 0 {
		from = p.last[r.Session]
	}
	p.last[r.Session] = p.next()
	return p.addChain(r, from, p.chain, len(p.chain)-len(one.Filled))
}

// checkChain refuses more blocks than the prompt has tokens for, as a wrong block_size in the first line makes them.
func (p *ownParser) checkChain(one *Record) error {
	n := len(one.Blocks)
	for _, run := range one.Runs {
		n += int(run[1])
	}
	if most := (one.Prompt + p.header.Tokens - 1) / p.header.Tokens; n > most {
		return fmt.Errorf("fields blocks and runs: %d blocks: want at most %d for %d tokens in blocks of %d, the block_size of the first line", n, most, one.Prompt, p.header.Tokens)
	}
	return nil
}

func (p *ownParser) head(text []byte) error {
	h, err := ParseHeader(text)
	if err != nil {
		return err
	}
	p.header, p.last = &h, map[uint32]int32{}
	for _, name := range h.Kinds {
		if _, err := p.kind(name); err != nil {
			return fmt.Errorf("field kinds: %w", err)
		}
	}
	t := &p.trace
	t.Tokens, t.Name, t.Distinct, t.Generated, t.Note = h.Tokens, h.Name, h.Distinct, h.Generated, printable(h.Note)
	return nil
}

// number makes chain of the blocks of a record.
func (p *ownParser) number(one *Record) error {
	p.ids = append(p.ids[:0], one.Blocks...)
	for _, run := range one.Runs {
		for id := run[0]; id < run[0]+run[1]; id++ {
			p.ids = append(p.ids, id)
		}
	}
	p.ids = append(p.ids, one.Filled...)
	if p.chain = p.chain[:0]; p.header.Distinct == 0 {
		p.chain = p.numbers.Chain(p.chain, p.ids)
		return nil
	}
	parent := uint32(0)
	for _, id := range p.ids {
		if id >= uint64(p.header.Distinct) {
			return fmt.Errorf("block %d: want less than %d, the field distinct of the first line", id, p.header.Distinct)
		}
		if more := int(id) + 1 - len(p.parents); more > 0 {
			p.parents = append(p.parents, make([]uint32, more)...)
		}
		if seen := p.parents[id]; seen != 0 && seen != parent+1 {
			return fmt.Errorf("block %d: want it after the same blocks in all chains, as field distinct in the first line says", id)
		}
		p.parents[id] = parent + 1
		p.chain = append(p.chain, uint32(id))
		parent = uint32(id) + 1
	}
	return nil
}

func (p *ownParser) end() error { return nil }
