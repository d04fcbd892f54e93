package prefix

import "reprise/proxy/upstream/usage"

// correct compares what a member should have held of a request with what its reply reports. The tokens of the reply are another
// tokenizer's, so shares of the prompt are compared.
func (f *Fleet) correct(t *Ticket, u usage.Usage) {
	if !u.Known || u.Prompt <= 0 || len(t.blocks) == 0 {
		return
	}
	cached := int(int64(len(t.blocks)) * int64(max(0, min(u.Cached, u.Prompt))) / int64(u.Prompt))
	f.learnReach(t, cached)
	f.doubt(t, cached)
}

// mostDoubted is how many blocks of a member are remembered as doubted.
const mostDoubted = 1024

// doubt removes the blocks of a chain of which a reply has reported less than half as cached, twice.
func (f *Fleet) doubt(t *Ticket, cached int) {
	doubted := f.members[t.Member].doubted
	if 2*cached >= t.ready {
		if len(doubted) > 0 {
			for _, b := range t.blocks[:t.ready] {
				delete(doubted, b)
			}
		}
		return
	}
	first := t.blocks[cached]
	if _, again := doubted[first]; again {
		delete(doubted, first)
		f.index.remove(t.Member, t.blocks[cached:])
		return
	}
	if len(doubted) >= mostDoubted {
		clear(doubted)
	}
	doubted[first] = struct{}{}
}

// The reach of a member whose capacity is not known is learned from the ages of the blocks that replies report as cached, and of those that
// should be and are not. With a capacity that is known, a prefix goes back to the member that had it last even if it is likely lost:
// simulations have fewer hits where such prefixes spread.
const (
	reachDown  = 16 // a lost block lowers the reach by one of so many parts of the difference
	reachUp    = 4  // a block that was there beyond the reach raises it
	reachError = 16 // of so many blocks of a chain, one may be counted wrongly, because shares of tokens are no shares of bytes
)

// learnReach moves the reach of a member toward the age at which its blocks are lost.
func (f *Fleet) learnReach(t *Ticket, cached int) {
	if !f.members[t.Member].unknown {
		return
	}
	there := 0 // of the first blocks, those in the index
	for there < len(t.ages) && t.ages[there] != absent {
		there++
	}
	reach := f.index.reach(t.Member)
	wrong := 1 + len(t.blocks)/reachError
	if cached+wrong < there {
		reach = min(reach, uint32(f.index.capacity(t.Member)))
		if age := t.ages[cached+wrong]; age < reach {
			reach -= (reach - age + reachDown - 1) / reachDown
		}
	} else if n := min(cached, there); n > 0 && reach != unlimited {
		if age := t.ages[n-1]; age > reach {
			reach += (age - reach + reachUp - 1) / reachUp
		}
	}
	f.index.setReach(t.Member, reach)
}
