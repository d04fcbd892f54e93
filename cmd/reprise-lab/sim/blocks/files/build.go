package files

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"reprise/cmd/reprise-lab/sim/blocks"
)

// builder collects the requests of a file in the order of its records. A request's After is, until finish, a number in that order.
type builder struct {
	o       Options
	at      int // line of the file
	trace   blocks.Trace
	numbers blocks.Numbers
	kinds   map[string]uint16
	chains  []chain // of the requests
	held    int     // block numbers in chains, counted once where they share memory
	epoch   bool    // times are of a calendar: the first is made 0
}

// chain is the blocks of a request and of its answer.
type chain struct {
	all   []uint32 // with the capacity that its owner can extend it into
	taken bool     // a later chain extends it in that memory
}

func newBuilder(o Options) *builder {
	return &builder{o: o, trace: blocks.Trace{Tokens: o.Tokens}, kinds: map[string]uint16{}}
}

// mostName is the characters of a type: tables have it in their first column.
const mostName = 64

// printable replaces the characters that could change a terminal or the direction of a text.
func printable(name string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return utf8.RuneError
		}
		return r
	}, name)
}

// kind is the number of a type of requests.
func (b *builder) kind(name string) (uint16, error) {
	if n, ok := b.kinds[name]; ok {
		return n, nil
	}
	if name != printable(name) || utf8.RuneCountInString(name) > mostName {
		return 0, fmt.Errorf("type %.80q: want at most %d characters, all of which can be printed", name, mostName)
	}
	if len(b.kinds) == MostKinds {
		return 0, fmt.Errorf("type %.40q: want at most %d types in a file", name, MostKinds)
	}
	n := uint16(len(b.kinds))
	b.kinds[name] = n
	b.trace.Kinds = append(b.trace.Kinds, name)
	return n, nil
}

// add appends a request whose chain is the first same blocks of the chain of request from (number from 1; 0: of none) and then others.
// The first prompt of them are Blocks, the others are Filled; -1: all are Blocks.
func (b *builder) add(r blocks.Request, from int32, same int, others []uint32, prompt int) error {
	if r.After > 0 && r.At < b.trace.Requests[r.After-1].At {
		return fmt.Errorf("time %g s: want %g s or later, the time of the request that this one continues", r.At, b.trace.Requests[r.After-1].At)
	}
	all, err := b.extend(from, same, others)
	if err != nil {
		return err
	}
	if prompt < 0 {
		prompt = len(all)
	}
	r.Blocks, r.Filled = all[:prompt:prompt], nil
	if len(all) > prompt {
		r.Filled = all[prompt:len(all):len(all)]
	}
	b.trace.Requests = append(b.trace.Requests, r)
	b.chains = append(b.chains, chain{all: all})
	return nil
}

// extend returns the chain, in the memory of the earlier one where it can be.
func (b *builder) extend(from int32, same int, others []uint32) ([]uint32, error) {
	if same+len(others) > MostChain {
		return nil, fmt.Errorf("%d blocks: want at most %d in a chain", same+len(others), MostChain)
	}
	var base []uint32
	if from > 0 {
		earlier := &b.chains[from-1]
		base = earlier.all[:same:same]
		if len(others) > 0 && same == len(earlier.all) && !earlier.taken {
			base, earlier.taken = earlier.all, true
		}
	}
	if cap(base)-same < len(others) {
		room := same + len(others)
		if from > 0 {
			room += room / 4 // for the next requests of the conversation
		}
		base = append(make([]uint32, 0, room), base...)
		b.held += room
	}
	return append(base, others...), b.full()
}

// full reports a trace that takes more memory than allowed.
func (b *builder) full() error {
	if b.held > MostHeld {
		return fmt.Errorf("the chains have more than %d block numbers: want a shorter trace", MostHeld)
	}
	if max(b.numbers.Len(), b.trace.Distinct) > MostDistinct {
		return fmt.Errorf("more than %d different blocks: want a shorter trace", MostDistinct)
	}
	return nil
}

// common is the length of the common beginning of two chains.
func common(a, b []uint32) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// addChain appends a request of a complete chain, which may share memory with that of request from. It does not keep the slice.
func (b *builder) addChain(r blocks.Request, from int32, all []uint32, prompt int) error {
	same := 0
	if from > 0 {
		same = common(b.chains[from-1].all, all)
	}
	return b.add(r, from, same, all[same:], prompt)
}

// next is the number, from 1, that the next request gets.
func (b *builder) next() int32 { return int32(len(b.trace.Requests)) + 1 }

// finish puts the requests in the order of their times and numbers the continuations.
func (b *builder) finish() (*blocks.Trace, error) {
	if len(b.trace.Requests) == 0 {
		return nil, errEmpty
	}
	sorted := blocks.ByTime(b.trace.Requests)
	start := 0.0
	if b.epoch {
		start = sorted[0].At
	}
	for i := range sorted {
		r := &sorted[i]
		r.At -= start
		if r.After > 0 {
			sorted[r.After-1].GoesOn = true
		}
	}
	t := b.trace
	t.Requests = sorted
	t.Distinct = max(t.Distinct, b.numbers.Len())
	return &t, nil
}
