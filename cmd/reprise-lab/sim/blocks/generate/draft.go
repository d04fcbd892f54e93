package generate

import (
	"cmp"
	"slices"

	"reprise/cmd/reprise-lab/sim/blocks"
)

// blockTokens is the tokens of a block in the Qwen traces.
const blockTokens = 16

// prefix is tokens that several sessions begin with. Its whole blocks get numbers when it is first used.
type prefix struct {
	tokens int32
	blocks []uint32
	user   uint32 // whose it is; 0: of all
}

// talk is a session.
type talk struct {
	prefix *prefix  // nil: none
	stream []uint32 // the blocks of its last prompt and answer: its requests have the beginnings of it
	need   int      // blocks of stream
	latest int32    // number of its latest request so far
	number uint32
}

// draft is a request whose blocks have no numbers yet.
type draft struct {
	blocks.Request
	of *talk
}

// finish makes a trace of the first n drafts in the order of their arrival.
func finish(drafts []draft, n int, kinds []string, answers bool) *blocks.Trace {
	slices.SortStableFunc(drafts, func(a, b draft) int { return cmp.Compare(a.At, b.At) })
	drafts = drafts[:min(n, len(drafts))]
	for i := range drafts {
		drafts[i].of.need = drafts[i].places(answers) // that of the last: prompts grow
	}
	t := &blocks.Trace{Tokens: blockTokens, Kinds: kinds, Requests: make([]blocks.Request, len(drafts))}
	all, talks := numbers{tokens: blockTokens}, uint32(0)
	for i := range drafts {
		of := drafts[i].of
		if of.number == 0 {
			talks++
			of.number = talks
			of.stream = all.stream(of.prefix, of.need)
		}
		r := &t.Requests[i]
		*r = drafts[i].Request
		r.Session, r.After = of.number, of.latest
		whole := r.Prompt / blockTokens
		r.Blocks = of.stream[:whole:whole]
		if answers {
			r.Filled = of.stream[whole:drafts[i].places(true)]
		}
		if r.After > 0 {
			t.Requests[r.After-1].GoesOn = true
		} else {
			r.Think = 0
		}
		of.latest = int32(i + 1)
	}
	t.Distinct = int(all.next)
	return t
}

// places is the blocks of the prompt, with or without those that the answer completes.
func (d *draft) places(answer bool) int {
	if answer {
		return int(d.Prompt+d.Answer) / blockTokens
	}
	return int(d.Prompt) / blockTokens
}

// numbers gives blocks the numbers that follow the last given one.
type numbers struct {
	tokens int // of a block
	next   uint32
}

func (n *numbers) append(dst []uint32, count int) []uint32 {
	for range count {
		dst = append(dst, n.next)
		n.next++
	}
	return dst
}

// stream is a chain of count blocks that begins with those of p; the others are its own.
func (n *numbers) stream(p *prefix, count int) []uint32 {
	all := make([]uint32, 0, count)
	if p != nil {
		if whole := int(p.tokens) / n.tokens; p.blocks == nil {
			p.blocks = n.append(make([]uint32, 0, whole), whole)
		}
		all = append(all, p.blocks[:min(count, len(p.blocks))]...)
	}
	return n.append(all, count-len(all))
}
