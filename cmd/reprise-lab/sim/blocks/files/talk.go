package files

import (
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"slices"

	"reprise/cmd/reprise-lab/sim/blocks"
	"reprise/internal/traffic"
)

// talks makes requests of recorded conversations. The prompt of a turn is the system prompt, the turns and the answers on the path to it,
// and its own text. In a tree each turn of the user is one request which continues the turn above it with the first answer to that, so that
// a turn with several continuations is asked once.
type talks struct {
	*builder
	random   *rand.Rand
	sessions uint32
	spans    []span
	turns    []talkTurn // of the current conversation
	text     []byte
	chain    []uint32
}

// talkTurn is a turn of a conversation with all before it.
type talkTurn struct {
	request int32    // number, from 1
	bytes   int      // of the prompt and the answer
	rest    []byte   // their end that fills no block
	prompts []string // for Options.Predict
	answers []string // to them
}

func openTalks(path string, f Format, o Options) (*blocks.Trace, error) {
	r, err := traffic.OpenConversations(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if Format(r.Format()) != f {
		return nil, fmt.Errorf("read %s: these are conversations of format %s: want %s", path, r.Format(), f)
	}
	b := newBuilder(o.withDefaults())
	t := talks{builder: b, random: rand.New(rand.NewPCG(o.Seed, 0x7468696e6b))}
	for {
		c, err := r.Next()
		if err == io.EOF {
			break
		}
		if err == nil {
			err = t.conversation(&c)
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: conversation %d: %w", filepath.Base(path), t.sessions, err)
		}
	}
	t.place(t.spans)
	t.note("times are sampled")
	if n, _ := r.Skipped(); n > 0 {
		t.note(fmt.Sprintf("times are sampled; %d records could not be read", n))
	}
	done, err := b.finish()
	if err != nil {
		err = fmt.Errorf("read %s: %w", path, err)
	}
	return done, err
}

func (t *talks) conversation(c *traffic.Conversation) error {
	t.sessions++
	t.turns = t.turns[:0]
	from, last := len(t.trace.Requests), 0.0
	for i := range c.Turns {
		if err := t.turn(c, i); err != nil {
			return fmt.Errorf("turn %d: %w", i+1, err)
		}
		last = max(last, t.trace.Requests[len(t.trace.Requests)-1].At)
	}
	t.spans = append(t.spans, span{from, len(t.trace.Requests), last + t.o.Think})
	return nil
}

func (t *talks) turn(c *traffic.Conversation, i int) error {
	said := &c.Turns[i]
	kind, err := t.kind("chat")
	if err != nil {
		return err
	}
	r := blocks.Request{Answer: tokensOf(len(said.Answer)), Kind: kind, Turn: 1, Session: t.sessions}
	var before talkTurn
	t.text = append(t.text[:0], c.System...)
	if said.Parent >= 0 {
		before = t.turns[said.Parent]
		parent := &t.trace.Requests[before.request-1]
		r.After, r.Turn, r.Think = before.request, parent.Turn+1, t.random.ExpFloat64()*t.o.Think
		r.At = parent.At + r.Think
		t.text = append(t.text[:0], before.rest...)
	}
	t.text = append(t.text, said.Text...)
	now := talkTurn{request: t.next(), bytes: before.bytes - len(before.rest) + len(t.text)}
	if err := t.fits(now.bytes + len(said.Answer)); err != nil {
		return err
	}
	r.Prompt = max(1, tokensOf(now.bytes))
	if t.o.Predict != nil {
		now.prompts = append(slices.Clip(before.prompts), said.Text)
		r.Prob = t.o.Predict(Turn{Prompts: now.prompts, Answers: before.answers, Number: int(r.Turn), Kind: "chat"})
		now.answers = append(slices.Clip(before.answers), said.Answer)
	}
	prompt := t.blocks(&r, said.Answer, &now)
	now.bytes += len(said.Answer)
	t.turns = append(t.turns, now)
	same := 0
	if r.After > 0 {
		same = len(t.chains[r.After-1].all)
	}
	return t.add(r, r.After, same, t.chain, same+prompt)
}

// blocks cuts what a turn adds, which is in text, and its answer into blocks: chain. It returns how many the prompt completes.
func (t *talks) blocks(r *blocks.Request, answer string, now *talkTurn) (prompt int) {
	parent := uint32(0)
	if r.After > 0 {
		if all := t.chains[r.After-1].all; len(all) > 0 {
			parent = all[len(all)-1] + 1
		}
	}
	t.chain, now.rest = t.cut(t.chain[:0], parent, t.text)
	prompt = len(t.chain)
	t.chain, now.rest = t.cut(t.chain, parent, slices.Concat(now.rest, []byte(answer)))
	return prompt
}
