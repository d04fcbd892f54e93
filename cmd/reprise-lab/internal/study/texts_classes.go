package study

import (
	"fmt"

	"reprise/cmd/reprise-lab/sim"
	"reprise/topics"
)

// Classes replaces the identities of s, and those of parents, by semantic classes. The first text of a class represents it. A
// text belongs to the class whose first text is nearest, from gate on, or else starts a new class. An infinite cache then has
// the same hits as one that answers by similarity. Requests without a vector keep their identity. The cost is a comparison of
// each distinct text with each earlier class.
func Classes(s *sim.Slice, gate float64) error {
	classes := map[uint64]uint64{} // by identity
	c := classifier{gate: gate}
	for i := range s.All {
		r := &s.All[i]
		if classes[r.ID] == 0 {
			class, err := c.class(r)
			if err != nil {
				return fmt.Errorf("classes of %s, request %d: %w", s.Title, i+1, err)
			}
			classes[r.ID] = class
		}
		r.ID = classes[r.ID]
		if r.Parent = classes[r.Parent]; r.Parent == r.ID {
			r.Parent = 0
		}
	}
	return nil
}

// classifier has the first text of each class, by identity.
type classifier struct {
	gate  float64
	first *topics.Topics
}

func (c *classifier) class(r *sim.Request) (id uint64, err error) {
	if r.Content == nil || r.Content.Vector == nil {
		return r.ID, nil
	}
	v := r.Content.Vector
	if c.first == nil {
		c.first, err = topics.New(topics.Options{Dim: len(v), Hit: c.gate, Route: c.gate / 2, Edge: c.gate})
		if err != nil {
			return 0, err
		}
		c.first.Close() // no graph is built in the background, so that a run repeats itself
	}
	if near, _ := c.first.Search(topics.Query{Vector: v}); len(near.Matches) > 0 { // no anchor ever leaves, so there is nothing to refresh
		return uint64(near.Matches[0].ID), nil
	}
	_, _, err = c.first.Add(topics.Member{ID: topics.EntryID(r.ID), Vector: v})
	return r.ID, err
}
