package files

import (
	"errors"
	"fmt"

	"reprise/cmd/reprise-lab/sim/blocks"
)

// QwenRecord is a line of a Qwen-Bailian trace (paper 001): a request that may continue an earlier one.
type QwenRecord struct {
	Chat      int64
	Parent    int64   // Chat of the request whose answer this one continues; -1: none
	Timestamp float64 // seconds
	Input     int     // tokens
	Output    int     // tokens
	Type      string
	Turn      int // of the conversation, from 1
	IDs       []uint64
}

// QwenTokens is the size of the blocks of a Qwen-Bailian trace.
const QwenTokens = 16

// ParseQwen reads a line.
func ParseQwen(line []byte) (QwenRecord, error) {
	var one struct {
		Chat      *int64   `json:"chat_id"`
		Parent    *int64   `json:"parent_chat_id"`
		Timestamp *float64 `json:"timestamp"`
		Input     int      `json:"input_length"`
		Output    int      `json:"output_length"`
		Type      string   `json:"type"`
		Turn      int      `json:"turn"`
		IDs       []uint64 `json:"hash_ids"`
	}
	if err := decode(line, &one); err != nil {
		return QwenRecord{}, err
	}
	if one.Chat == nil || one.Parent == nil || one.Timestamp == nil {
		return QwenRecord{}, errors.New("want the fields chat_id, parent_chat_id (-1: none) and timestamp (seconds)")
	}
	r := QwenRecord{*one.Chat, *one.Parent, *one.Timestamp, one.Input, one.Output, one.Type, one.Turn, one.IDs}
	return r, r.check()
}

func (r *QwenRecord) check() error {
	err := errors.Join(checkSeconds("timestamp", r.Timestamp, 0), checkTokens("input_length", r.Input, 1), checkTokens("output_length", r.Output, 0))
	switch {
	case err != nil:
		return err
	case r.Chat < 0:
		return fmt.Errorf("field chat_id: %d: want a whole number from 0", r.Chat)
	case r.Parent < -1 || r.Parent == r.Chat:
		return fmt.Errorf("field parent_chat_id: %d: want -1 or the chat_id of an earlier request", r.Parent)
	case r.Turn < 1 || r.Turn > MostTokens:
		return fmt.Errorf("field turn: %d: want 1 to %d", r.Turn, MostTokens)
	case r.Type == "":
		return errors.New("field type: want a name, as text")
	}
	return checkHashIDs(len(r.IDs), r.Input, QwenTokens)
}

func checkHashIDs(n, tokens, unit int) error {
	if want := (tokens + unit - 1) / unit; n != want {
		return fmt.Errorf("field hash_ids: %d numbers: want %d for %d tokens in blocks of %d", n, want, tokens, unit)
	}
	return nil
}

// qwenParser makes sessions of the parents. A parent that is nowhere in the file is from before its start: its child opens a session.
type qwenParser struct {
	*builder
	chats    map[int64]int32 // number of the request, from 1
	orphans  []orphan
	sessions uint32
	chain    []uint32
}

// orphan is a request whose parent no earlier line has.
type orphan struct {
	parent int64
	line   int
}

func (p *qwenParser) line(text []byte) error {
	one, err := ParseQwen(text)
	if err != nil {
		return err
	}
	if p.chats == nil {
		p.chats = map[int64]int32{}
	}
	if p.chats[one.Chat] != 0 {
		return fmt.Errorf("field chat_id: %d: want a number that no earlier request has", one.Chat)
	}
	kind, err := p.kind(one.Type)
	if err != nil {
		return err
	}
	r := blocks.Request{At: one.Timestamp, Prompt: int32(one.Input), Answer: int32(one.Output), Kind: kind, Turn: int32(one.Turn)}
	after := p.chats[one.Parent]
	if after > 0 {
		parent := &p.trace.Requests[after-1]
		r.After, r.Session, r.Think = after, parent.Session, r.At-parent.At
	} else {
		p.sessions++
		r.Session = p.sessions
	}
	if one.Parent >= 0 && after == 0 {
		p.orphans = append(p.orphans, orphan{one.Parent, p.at})
	}
	p.chats[one.Chat] = p.next()
	p.chain = p.numbers.Chain(p.chain[:0], one.IDs)
	return p.addChain(r, after, p.chain, -1)
}

func (p *qwenParser) end() error {
	p.trace.Tokens = QwenTokens
	for _, o := range p.orphans {
		if p.chats[o.parent] != 0 {
			return fmt.Errorf("line %d: field parent_chat_id: %d: want -1 or the chat_id of an earlier request; that one comes later", o.line, o.parent)
		}
	}
	return nil
}
