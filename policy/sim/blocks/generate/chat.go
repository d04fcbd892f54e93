package generate

import (
	"cmp"
	"math"
	"slices"

	"reprise/policy/sim/blocks"
)

// chat is a type of request of a service that people use.
type chat struct {
	name     string
	requests float64 // published number of them, of all types
	again    float64 // probability that a first turn has a second one
	tail     float64 // exponent of the power law of the number of turns, above 1
	first    length  // tokens that the user sends at first: with a document, search results or an image
	next     length  // and in each later turn
	answer   length
	gaps     gaps // from one request of a session to the next

	prompts  []prefix  // that the application sets before the session, the most frequent first
	popular  []float64 // running sums of their shares
	sessions float64   // requests / mean number of turns
}

// turns draws the number of requests of a session: P(at least t) = again (2/t)^tail for t from 2.
func (c *chat) turns(r random) int {
	u := r.Float64()
	if u >= c.again {
		return 1
	}
	return int(min(2*math.Pow(u/c.again, -1/c.tail), mostTurns))
}

const mostTurns = 232 // published, of one day

// meanTurns is the mean of turns.
func (c *chat) meanTurns() float64 {
	mean := 1.0
	for t := 2.0; t <= mostTurns; t++ {
		mean += c.again * math.Pow(2/t, c.tail)
	}
	return mean
}

// talk is a session: its requests, and the blocks of the last of them and of its answer.
type talk struct {
	prefix *prefix
	stream []uint32
	need   int // blocks
	latest int32
	number uint32
	user   uint32
}

// draft is a request whose blocks have no numbers yet.
type draft struct {
	blocks.Request
	of *talk
}

// people makes requests of several types over a horizon in seconds.
type people struct {
	random
	kinds   []chat
	cum     []float64
	context int32   // tokens; a session ends before its prompt is longer
	decode  float64 // tokens per second of an answer, for Think
	users   int
	drafts  []draft
}

// session appends the requests of one session from a start that may be before the horizon: only those from time 0 on are kept.
func (p *people) session(start, horizon float64) {
	kind := p.pick(p.cum)
	c := &p.kinds[kind]
	of := &talk{prefix: &c.prompts[p.pick(c.popular)], user: uint32(1 + p.IntN(p.users))}
	n, at, think, prompt := c.turns(p.random), start, 0.0, of.prefix.tokens
	shorter := 1 / (1 + float64(n)/longTurns)
	for turn := 1; turn <= n && at < horizon; turn++ {
		law := c.next
		if turn == 1 {
			law = c.first
		}
		prompt += p.scaled(law, shorter)
		answer := p.scaled(c.answer, 1)
		if prompt+answer > p.context {
			return
		}
		if at >= 0 {
			p.drafts = append(p.drafts, draft{blocks.Request{
				At: at, Think: think, Prompt: prompt, Answer: answer, Kind: uint16(kind), Turn: int32(turn), User: of.user}, of})
		}
		gap := p.gap(c.gaps)
		think = max(0, gap-float64(answer)/p.decode)
		prompt += answer
		at += gap
	}
}

// longTurns is the number of turns at which the user's messages are half as long: those who exchange a hundred messages write short ones.
const longTurns = 60

// trace is the first n requests in the order of their arrival.
func (p *people) trace(n int) *blocks.Trace {
	slices.SortStableFunc(p.drafts, func(a, b draft) int { return cmp.Compare(a.At, b.At) })
	drafts := p.drafts[:min(n, len(p.drafts))]
	for i := range drafts {
		d := &drafts[i]
		d.of.need = int((d.Prompt + d.Answer) / blockTokens) // of the latest: prompts grow
	}
	t := &blocks.Trace{Tokens: blockTokens, Requests: make([]blocks.Request, len(drafts))}
	for i := range p.kinds {
		t.Kinds = append(t.Kinds, p.kinds[i].name)
	}
	var all numbers
	var talks uint32
	for i := range drafts {
		d := &drafts[i]
		if d.of.stream == nil {
			talks++
			d.of.number = talks
			d.of.stream = all.stream(d.of.prefix, d.of.need)
		}
		t.Requests[i] = d.finish(t.Requests)
		d.of.latest = int32(i + 1)
	}
	t.Distinct = int(all.next)
	return t
}

// finish is the request with its blocks and its place in the session.
func (d *draft) finish(earlier []blocks.Request) blocks.Request {
	r := d.Request
	whole := r.Prompt / blockTokens
	r.Blocks = d.of.stream[:whole:whole]
	r.Filled = d.of.stream[whole : (r.Prompt+r.Answer)/blockTokens]
	r.Session = d.of.number
	r.After = d.of.latest
	if r.After == 0 {
		r.Think = 0
	} else {
		earlier[r.After-1].GoesOn = true
	}
	return r
}
