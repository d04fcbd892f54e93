package replay

import (
	"fmt"
	"io"
	"iter"
	"strings"

	"reprise/cmd/reprise/internal/conversations"
	"reprise/policy/sim"
	"reprise/policy/sim/trace"
)

// talks is the trace of recorded conversations: each turn of a user is a request, in the order of the file.
//
// The identity of a turn is that of its text and of all turns of the user before it, byte for byte, because these are what
// the exact cache tells requests apart by when the answers come from it. The parent is the turn before. Topic is the label
// of the record, conversation its number in the file. Size is the length of the recorded answer, of the prompt where none
// is known; cost is its tokens, at four bytes each. Turns share an answer by meaning after the very same turns only.
type talks struct {
	path   string
	left   int // records left out in the last reading
	reason error
}

var _ sim.Trace = (*talks)(nil)

// openTalks opens a file and checks that it is of the format whose name begins so.
func openTalks(path, format string) (sim.Trace, error) {
	r, err := conversations.Open(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	switch found := r.Format(); {
	case found == "chat requests":
		return nil, fmt.Errorf("read %s: these are chat requests: `reprise demo --input` plays them through the proxy", path)
	case !strings.HasPrefix(found, format):
		return nil, fmt.Errorf("read %s: these are %s, not %s", path, found, format)
	}
	return &talks{path: path}, nil
}

// Name is the path as it was given.
func (t *talks) Name() string { return t.path }

// LeftOut is the number of records that made no sense in the last reading, and what was wrong with the first of them.
func (t *talks) LeftOut() (int, error) { return t.left, t.reason }

// Requests reads the file from its start.
func (t *talks) Requests() iter.Seq2[sim.Request, error] {
	return func(yield func(sim.Request, error) bool) {
		r, err := conversations.Open(t.path)
		if err != nil {
			yield(sim.Request{}, err)
			return
		}
		defer r.Close()
		for n := uint64(1); ; n++ {
			talk, err := r.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				yield(sim.Request{}, err)
				return
			}
			for _, q := range requests(talk, n) {
				if !yield(q, nil) {
					return
				}
			}
		}
		t.left, t.reason = r.Skipped()
	}
}

// requests are the turns of conversation n.
func requests(c conversations.Conversation, n uint64) []sim.Request {
	all := make([]sim.Request, len(c.Turns))
	for i, turn := range c.Turns {
		q := sim.Request{
			ID: trace.Identity(turn.Text), Conversation: n, Topic: trace.Identity(c.Topic), Scope: trace.Identity(c.System),
			Size: int64(turn.Reply), Cost: float64(turn.Reply / 4), Content: &sim.Content{Text: turn.Text},
		}
		if q.Size == 0 {
			q.Size = int64(len(turn.Text))
		}
		if turn.Parent >= 0 {
			before := all[turn.Parent]
			q.Parent, q.Chain, q.Turn = before.ID, before.ID, before.Turn+1
			q.ID = trace.Identity(fmt.Sprintf("%016x\n%s", before.ID, turn.Text))
		}
		all[i] = q
	}
	return all
}
