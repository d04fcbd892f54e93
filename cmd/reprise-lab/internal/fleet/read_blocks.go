package fleet

import (
	"fmt"
	"slices"

	"reprise/cmd/reprise-lab/sim/blocks/files"
)

// hashed reads requests of which the numbers of the blocks are given.
type hashed struct{ all []Request }

func (h *hashed) line(text []byte) error {
	one, err := files.ParseMooncake(text)
	if err != nil {
		return err
	}
	content := &runs{unit: files.MooncakeTokens, tokens: one.Input, scaffold: 1}
	for _, id := range one.IDs {
		content.add(int(id), 1)
	}
	h.all = append(h.all, open(one.Timestamp/1e3, one.Input, one.Output, content))
	return nil
}

func (h *hashed) end() (*Trace, error) {
	return &Trace{Requests: inTime(h.all), Unit: files.MooncakeTokens}, nil
}

// open is a request that follows no other one.
func open(at float64, prompt, answer int, content *runs) Request {
	return Request{At: at, After: none, Next: none, Prompt: prompt, Answer: max(1, answer), Key: content.key(), content: content}
}

func inTime(all []Request) []Request {
	slices.SortStableFunc(all, func(a, b Request) int {
		switch {
		case a.At < b.At:
			return -1
		case a.At > b.At:
			return 1
		}
		return 0
	})
	for i := range all[min(1, len(all)):] {
		all[i+1].At -= all[0].At
	}
	if len(all) > 0 {
		all[0].At = 0
	}
	return all
}

// add appends identities, as one span with the last ones where they go on from them.
func (r *runs) add(first, count int) {
	if n := len(r.list); n > 0 && r.list[n-1].first+r.list[n-1].count == first {
		r.list[n-1].count += count
		return
	}
	r.list = append(r.list, span{first, count})
}

// key is the hash of the whole prompt.
func (r *runs) key() uint64 {
	h := link(r.salt, uint64(r.tokens))
	for _, s := range r.list {
		h = link(link(h, uint64(s.first)), uint64(s.count))
	}
	return h
}

// sessions reads sessions of requests of which runs of blocks are given.
type sessions struct {
	all  [][]Request
	unit int
}

func (s *sessions) line(text []byte) error {
	one, err := files.ParseSession(text)
	if err != nil {
		return err
	}
	if s.unit == 0 {
		s.unit = one.Block
	}
	if one.Block != s.unit || s.unit < textUnit || s.unit%textUnit != 0 || s.unit&(s.unit-1) != 0 {
		return fmt.Errorf("field block_size: %d: want a power of two from %d, the same in all lines", one.Block, textUnit)
	}
	var session []Request
	last := 0.0
	for _, r := range one.Requests {
		if len(r.Runs) == 0 {
			continue
		}
		content := &runs{salt: uint64(len(s.all) + 1), unit: s.unit, tokens: r.In, scaffold: (one.Tools + one.System) / s.unit}
		for _, run := range r.Runs {
			content.add(int(run[0]), int(run[1]))
		}
		session = append(session, open(r.T-last, r.In, r.Out, content))
		last = r.T
	}
	if len(session) > 0 {
		session[0].At = float64(len(s.all)) // the file does not have the times at which sessions began: they keep their order
		s.all = append(s.all, session)
	}
	return nil
}

func (s *sessions) end() (*Trace, error) {
	return &Trace{Requests: bySession(s.all), Sessions: true, Unit: s.unit}, nil
}

// arrivals reads times and lengths alone: no prompt shares anything with another one.
type arrivals struct {
	all   []Request
	begun bool
}

func (a *arrivals) line(text []byte) error {
	if !a.begun {
		a.begun = true
		return nil
	}
	one, err := files.ParseArrival(text)
	if err != nil {
		return err
	}
	content := &runs{salt: uint64(len(a.all) + 1), unit: commonUnit, tokens: one.Prompt}
	content.add(0, (one.Prompt+commonUnit-1)/commonUnit)
	a.all = append(a.all, open(one.At, one.Prompt, one.Answer, content))
	return nil
}

func (a *arrivals) end() (*Trace, error) {
	return &Trace{Requests: inTime(a.all), Unit: commonUnit}, nil
}
