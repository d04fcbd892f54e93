// Package blocks plays the requests of a model as chains of KV blocks through the block cache of an inference engine.
//
// A request is the chain of its prompt's blocks; a block is named by its own content and all before it, so that equal numbers are equal
// prefixes. A hit is the leading run of blocks that are resident. Replay plays a Trace through it under any
// policy and measures hits and, with a Speed, times to the first token.
//
// Package files reads traces, generate makes them and profile describes them: a new format, generator or figure goes there, and a new policy
// into package kv.
package blocks

import (
	"fmt"
	"math"

	"reprise/policy"
)

// Request is one call of a model.
type Request struct {
	At     float64 // arrival, seconds from any fixed start
	After  int32   // number, from 1, of the request whose answer this one continues; 0: none. It is earlier in the trace
	Think  float64 // seconds from the end of that answer to this arrival; used where the time of answers is simulated in a closed loop
	Prompt int32   // tokens
	Answer int32   // tokens

	Blocks []uint32 // of the prompt from its start, below Trace.Distinct. Chains may share memory: they are not changed
	Filled []uint32 // blocks that the answer completes, which follow Blocks: the next turn may find them. nil: not known

	Kind    uint16  // index in Trace.Kinds
	Turn    int32   // of the conversation, from 1
	Session uint32  // conversation, from 1; 0: not known
	User    uint32  // from 1; 0: not known
	GoesOn  bool    // a later request continues this one
	Prob    float32 // prediction of GoesOn, in (0, 1); 0: none
}

// Category is the type and the turn of the request.
func (r *Request) Category() uint32 { return policy.CategoryOf(r.Kind, int(r.Turn)) }

// block is the number of the block at a place in the prompt and the answer.
func (r *Request) block(n int) uint32 {
	if n < len(r.Blocks) {
		return r.Blocks[n]
	}
	return r.Filled[n-len(r.Blocks)]
}

// Trace is requests in the order of their arrival.
type Trace struct {
	Name      string   // of its file without the folder, or of its generator with parameters
	Generated bool     // made by a generator, or with blocks or times from one: tables say so
	Note      string   // what of it is generated or inferred, where that is a part: "starts of sessions are sampled"; "": all, or nothing
	Tokens    int      // of a block
	Kinds     []string // types of requests; at least one
	Distinct  int      // blocks: all numbers are below it
	Requests  []Request
}

// Check returns an error that names the first request that breaks what the fields of a trace promise.
func (t *Trace) Check() error {
	if t.Tokens < 1 || len(t.Kinds) == 0 {
		return fmt.Errorf("trace %s: blocks of %d tokens and %d kinds of requests: want at least 1 of each", t.Name, t.Tokens, len(t.Kinds))
	}
	last := math.Inf(-1)
	for i := range t.Requests {
		r := &t.Requests[i]
		switch {
		case !(r.At >= last) || math.IsInf(r.At, 0):
			return t.wrong(i, "time %g: want no less than that of the one before", r.At)
		case r.Prompt < 1 || r.Answer < 0:
			return t.wrong(i, "%d tokens and an answer of %d: want at least 1 and 0", r.Prompt, r.Answer)
		case r.After < 0 || int(r.After) > i:
			return t.wrong(i, "it continues request %d: want an earlier one, or 0", r.After)
		case int(r.Kind) >= len(t.Kinds):
			return t.wrong(i, "kind %d: want less than %d", r.Kind, len(t.Kinds))
		case !(r.Prob >= 0 && r.Prob <= 1) || !(r.Think >= 0):
			return t.wrong(i, "probability %g and %g seconds of thinking: want 0 to 1, and 0 or more", r.Prob, r.Think)
		}
		for n := range len(r.Blocks) + len(r.Filled) {
			if b := r.block(n); int64(b) >= int64(t.Distinct) {
				return t.wrong(i, "block %d: want less than %d", b, t.Distinct)
			}
		}
		last = r.At
	}
	return nil
}

func (t *Trace) wrong(i int, format string, args ...any) error {
	return fmt.Errorf("trace %s: request %d: %s", t.Name, i+1, fmt.Sprintf(format, args...))
}

// Numbers gives numbers to blocks. The zero value is ready. A new block takes 12 bytes; it takes an entry of a map too, about 50 bytes,
// where its chain leaves those before it, which a request does at one place at most.
type Numbers struct {
	ids    []uint64        // of the blocks, by number
	first  []uint32        // of each block, and of the start of a prompt at 0: the first number after it, + 1; 0: none
	others map[link]uint32 // all but the first after a block
}

type link struct {
	parent uint32 // number + 1; 0: the start of a prompt
	id     uint64
}

// Len is how many numbers were given: Trace.Distinct.
func (n *Numbers) Len() int { return len(n.ids) }

// Chain appends to the chain dst, which is empty at the start of a prompt, the numbers of the blocks with some ids of their own that follow
// it. An id may be that of the block alone or for the block and all before it.
func (n *Numbers) Chain(dst []uint32, ids []uint64) []uint32 {
	parent := uint32(0)
	if len(dst) > 0 {
		parent = dst[len(dst)-1] + 1
	}
	for _, id := range ids {
		number := n.Next(parent, id)
		dst = append(dst, number)
		parent = number + 1
	}
	return dst
}

// Next is the number of the block with an id after the block of number parent-1, which was given before; 0 is the start of a prompt.
func (n *Numbers) Next(parent uint32, id uint64) uint32 {
	if n.first == nil {
		n.first = make([]uint32, 1)
	}
	after := n.first[parent]
	if after != 0 && n.ids[after-1] == id {
		return after - 1
	}
	if number, ok := n.others[link{parent, id}]; ok {
		return number
	}
	number := uint32(len(n.ids))
	n.ids, n.first = append(n.ids, id), append(n.first, 0)
	switch {
	case after == 0:
		n.first[parent] = number + 1
	case n.others == nil:
		n.others = map[link]uint32{}
		fallthrough
	default:
		n.others[link{parent, id}] = number
	}
	return number
}
