package generate

import "reprise/cmd/reprise-lab/sim/blocks"

// mover gives the blocks of requests other numbers. Chains that share memory share it again, so that a moved trace is not larger.
type mover struct {
	longest map[*uint32][]uint32 // the longest chain from an address
	moved   map[*uint32][]uint32
}

// newMover reads the chains that are to be moved.
func newMover(requests func(func(*blocks.Request))) *mover {
	m := &mover{longest: map[*uint32][]uint32{}, moved: map[*uint32][]uint32{}}
	requests(func(r *blocks.Request) {
		for _, chain := range [][]uint32{r.Blocks, r.Filled} {
			if len(chain) > 0 && len(chain) > len(m.longest[&chain[0]]) {
				m.longest[&chain[0]] = chain
			}
		}
	})
	return m
}

// request replaces the chains of a copy of a request.
func (m *mover) request(r *blocks.Request, number func(uint32) uint32) {
	r.Blocks, r.Filled = m.chain(r.Blocks, number), m.chain(r.Filled, number)
}

func (m *mover) chain(chain []uint32, number func(uint32) uint32) []uint32 {
	if len(chain) == 0 {
		return chain
	}
	all, ok := m.moved[&chain[0]]
	if !ok {
		whole := m.longest[&chain[0]]
		all = make([]uint32, len(whole))
		for i, b := range whole {
			all[i] = number(b)
		}
		m.moved[&chain[0]] = all
	}
	return all[:len(chain):len(chain)]
}
