package trace

import (
	"errors"
	"fmt"
	"io"
	"iter"

	"reprise/cmd/reprise-lab/sim"
	"reprise/internal/traffic"
)

// ErrChat is wrapped by Open's error for a file of chat requests. They can be sent to a proxy, but they have no recorded
// answers and are not a trace.
var ErrChat = errors.New("these are chat requests")

// conversations is the trace of recorded conversations: each turn of a user is a request, in the order of the file.
//
// The ID of a turn is the identity of its text and of all turns of the user before it, byte for byte: these distinguish
// requests in the exact cache if the answers come from that cache. The parent is the turn before. Topic is the label of the
// record, Conversation its number in the file. Size is the length of the recorded answer, or of the prompt if the answer is
// not known; Cost is the tokens of the answer at four bytes each. Two turns share an answer by meaning only if the turns
// before them are equal.
type conversations struct {
	path    string
	skipped int // records skipped in the last reading
	fault   error
}

var _ sim.Trace = (*conversations)(nil)

// openConversations opens the trace of a file and checks that it has the format.
func openConversations(path string, want Format) (sim.Trace, error) {
	t := &conversations{path: path}
	r, err := t.open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	switch {
	case r.Format() == Chat:
		return nil, fmt.Errorf("read %s: %w", path, ErrChat)
	case r.Format() != want:
		return nil, fmt.Errorf("read %s: these are %s, not %s", path, r.Title(), want)
	}
	return t, nil
}

func (t *conversations) open() (*traffic.ConversationReader, error) {
	f, err := openFile(t.path)
	if err != nil {
		return nil, err
	}
	return traffic.NewConversationReader(t.path, f, 0)
}

// Name is the path as it was given.
func (t *conversations) Name() string { return t.path }

// Skipped returns the number of records that the last reading skipped, and what was wrong with the first of them.
func (t *conversations) Skipped() (int, error) { return t.skipped, t.fault }

// Requests reads the file from its start.
func (t *conversations) Requests() iter.Seq2[sim.Request, error] {
	return func(yield func(sim.Request, error) bool) {
		r, err := t.open()
		if err != nil {
			yield(sim.Request{}, err)
			return
		}
		defer r.Close()
		for n := uint64(1); ; n++ {
			c, err := r.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				yield(sim.Request{}, err)
				return
			}
			for _, q := range requestsOf(&c, n) {
				if !yield(q, nil) {
					return
				}
			}
		}
		t.skipped, t.fault = r.Skipped()
	}
}

// requestsOf returns a request for each turn of conversation number n.
func requestsOf(c *traffic.Conversation, n uint64) []sim.Request {
	all := make([]sim.Request, len(c.Turns))
	for i, turn := range c.Turns {
		q := sim.Request{
			ID: Identity(turn.Text), Conversation: n, Topic: Identity(c.Topic), Scope: Identity(c.System),
			Size: int64(len(turn.Answer)), Cost: float64(len(turn.Answer) / 4), Content: &sim.Content{Text: turn.Text},
		}
		if q.Size == 0 {
			q.Size = int64(len(turn.Text))
		}
		if turn.Parent >= 0 {
			before := all[turn.Parent]
			q.Parent, q.Chain, q.Turn = before.ID, before.ID, before.Turn+1
			q.ID = Identity(fmt.Sprintf("%016x\n%s", before.ID, turn.Text))
		}
		all[i] = q
	}
	return all
}
