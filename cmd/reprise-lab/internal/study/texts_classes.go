package study

import (
	"fmt"

	"reprise/policy/sim"
	"reprise/topics"
)

// Classes replaces the identities of s by semantic classes, parents too: the first text of a class stands for it, and a
// text belongs to the nearest of these from gate on, else it is the first of a new one. So an infinite cache hits what one
// that answers by similarity would. Requests without a vector keep their own identity. It takes a comparison for each
// distinct text and each class before it.
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

// classifier knows the first text of each class, under its identity.
type classifier struct {
	gate  float64
	first *topics.Flat
	found []topics.Neighbor
}

func (c *classifier) class(r *sim.Request) (id uint64, err error) {
	if r.Content == nil || r.Content.Vector == nil {
		return r.ID, nil
	}
	v := r.Content.Vector
	if c.first == nil {
		c.first = topics.NewFlat(len(v))
	}
	c.found = c.first.Search(v, 1, c.found)
	if len(c.found) > 0 && float64(c.found[0].Score) >= c.gate {
		return c.found[0].ID, nil
	}
	return r.ID, c.first.Upsert(r.ID, v)
}
