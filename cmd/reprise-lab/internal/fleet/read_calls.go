package fleet

import (
	"cmp"
	"slices"

	"reprise/cmd/reprise-lab/sim/blocks/files"
	"reprise/internal/enginesim"
	"reprise/proxy/upstream/prefix"
)

// calls reads model calls with their text.
type calls struct {
	sessions map[string][]files.CallRecord
	order    []string // of their first lines
}

func (c *calls) line(text []byte) error {
	one, err := files.ParseCall(text)
	if err != nil {
		return err
	}
	if c.sessions[one.Session] == nil {
		c.order = append(c.order, one.Session)
	}
	c.sessions[one.Session] = append(c.sessions[one.Session], one)
	return nil
}

func (c *calls) end() (*Trace, error) {
	var all [][]Request
	for _, name := range c.order {
		session := c.sessions[name]
		slices.SortStableFunc(session, func(a, b files.CallRecord) int { return cmp.Compare(a.Timestamp, b.Timestamp) })
		var requests []Request
		for i, one := range session {
			at := float64(one.Timestamp) / 1e6
			if i > 0 {
				at = float64(one.Timestamp-session[i-1].Timestamp) / 1e6
			}
			requests = append(requests, requestOf(at, &one, session[0].Input))
		}
		all = append(all, requests)
	}
	return &Trace{Requests: bySession(all), Sessions: true, Unit: textUnit}, nil
}

// requestOf makes the request of a call in a session whose first prompt is opening. A prompt that goes on from it is that message and a
// second one; its instructions and its tools, which are not marked in the text, are in the first.
func requestOf(at float64, one *files.CallRecord, opening string) Request {
	input := one.Input
	var c prefix.Chain
	c.Begin(0)
	if n := len(opening); n > 0 && n < len(input) && input[:n] == opening {
		c.Add(prefix.Message, []byte(input[:n]))
		c.Add(prefix.Message, []byte(input[n:]))
	} else if input != "" {
		c.Add(prefix.Message, []byte(input))
	}
	t := &text{proxy: slices.Clone(c.Blocks), bytes: c.Bytes, shared: c.Shared, scaffold: c.Scaffold, opening: c.Opening}
	tokens := enginesim.Tokenize(input)
	whole := uint64(0)
	for i, token := range tokens {
		whole = link(whole, uint64(token))
		if (i+1)%textUnit == 0 {
			t.engine = append(t.engine, whole)
		}
	}
	return Request{At: at, Prompt: max(1, len(tokens)), Answer: max(1, len(enginesim.Tokenize(one.Output))), Key: whole, content: t}
}
