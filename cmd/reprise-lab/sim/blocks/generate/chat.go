package generate

import (
	"math"

	"reprise/cmd/reprise-lab/sim/blocks"
)

// chat is a type of request of a service that people use.
type chat struct {
	name     string
	requests float64 // published number of them, of all types
	again    float64 // probability that a first turn has a second one
	tail     float64 // exponent of the power law of the number of turns, above 1
	first    length  // tokens that the user sends at first, with search results or an image
	next     length  // and in each later turn
	answer   length
	pauses   gaps // from the end of an answer to the next request

	document length  // tokens of a document before the first message; its user may open another session with it
	repeat   float64 // probability that a session has the document of one of the latest sessions

	prompts []prefix  // that the application or the user sets before the session, the most frequent first
	popular []float64 // running sums of their shares
	place   float64   // in (0, 1): where the latest number of turns is in their law
	long    float64   // the same for the length of the latest document
	latest  []*prefix // documents of the latest sessions
}

const (
	mostTurns       = 232 // published, of one day
	longTurns       = 8.5 // of a session in which messages and answers are half as long: those who write many write short ones
	fastTurns       = 60  // of a session in which pauses are half as long
	latestDocuments = 30
)

// turns is the number of requests of a session: P(at least t) = again (1.5/(t-0.5))^tail for t from 2. The places in the law are a sequence that fills it evenly from any start, because the few longest of independent draws would carry a
// tenth of the blocks in one trace and none in the next.
func (c *chat) turns() int {
	_, c.place = math.Modf(c.place + golden)
	if c.place >= c.again {
		return 1
	}
	return int(min(.5+1.5*math.Pow(c.place/c.again, -1/c.tail), mostTurns))
}

// meanTurns is the mean of turns.
func (c *chat) meanTurns() float64 {
	mean := 1.0
	for t := 2.0; t <= mostTurns; t++ {
		mean += c.again * math.Pow(1.5/(t-.5), c.tail)
	}
	return mean
}

const (
	context = 30000 // tokens: a session ends before its prompt and answer are more
	decode  = 30    // tokens per second of an answer
)

// people makes requests of several types over a horizon in seconds.
type people struct {
	random
	kinds  []chat
	cum    []float64 // running sums of their shares of the sessions
	users  int
	drafts []draft
}

// session appends the requests of one session from its start, which may be before the trace: only those from time 0 on are kept.
func (p *people) session(start, horizon float64) {
	kind := p.pick(p.cum)
	c := &p.kinds[kind]
	of := &talk{prefix: p.begin(c)}
	user := of.prefix.user
	if user == 0 {
		user = p.someone()
	}
	n, at, think, prompt := c.turns(), start, 0.0, of.prefix.tokens
	shorter, faster := 1/(1+float64(n)/longTurns), 1/(1+float64(n)/fastTurns)
	for turn := 1; turn <= n && at < horizon; turn++ {
		law := c.next
		if turn == 1 {
			law = c.first
		}
		prompt += p.scaled(law, shorter)
		answer := p.scaled(c.answer, shorter)
		if prompt+answer > context {
			return
		}
		if at >= 0 {
			r := blocks.Request{At: at, Think: think, Prompt: prompt, Answer: answer, Kind: uint16(kind), Turn: int32(turn), User: user}
			p.drafts = append(p.drafts, draft{r, of})
		}
		think = p.gap(c.pauses) * faster
		prompt += answer
		at += float64(answer)/decode + think
	}
}

// begin is what the session of a type has before its first message.
func (p *people) begin(c *chat) *prefix {
	of := &c.prompts[p.pick(c.popular)]
	if c.document.median == 0 {
		return of
	}
	if len(c.latest) == latestDocuments && p.Float64() < c.repeat {
		return c.latest[p.IntN(latestDocuments)]
	}
	_, c.long = math.Modf(c.long + silver)
	d := &prefix{tokens: of.tokens + c.document.at(normalAt(c.long)), user: p.someone()}
	if len(c.latest) == latestDocuments {
		c.latest = c.latest[1:]
	}
	c.latest = append(c.latest, d)
	return d
}

// someone is a user. The most active fifth starts a third of the sessions.
func (p *people) someone() uint32 {
	return uint32(1 + float64(p.users)*math.Pow(p.Float64(), 1.8))
}
