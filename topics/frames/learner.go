package frames

import (
	"cmp"
	"hash/maphash"
	"math/bits"
	"slices"
	"strings"
)

const (
	recentPrompts = 160 // distinct prompts whose segments are kept
	endSegments   = 12  // segments of each end of a prompt that are kept
	leastPrompts  = 8   // that have a frame in common
	leastStart    = 16  // bytes of the segment that a frame is found by
	leastBytes    = 32  // of the constants of a frame
	Most          = 16  // frames of a scope
	mostText      = 2048
	filterSize    = 4096
	retry         = 16                // of so many prompts that have a frame one is looked at for another
	patience      = 4 * recentPrompts // prompts in which a frame within another one is found, before it is in force
	mostLater     = 16
	mostPause     = 7
	forgetAfter   = 4096 // prompts without it, or up to twice as many, end a frame
)

// Learner finds the frames of one scope. The zero value is ready. It takes up to 48 KiB and is for one goroutine at a time.
type Learner struct {
	number int64 // of the prompts that were observed
	ring   []sequence
	counts *[filterSize]uint8 // of prompts in the ring, by the low bits of a digest: never too few
	frames []*Frame
	later  []within          // oldest first
	places map[uint32]uint32 // constants, and the frames that have them
	pause  int64             // prompts in which it does not look for a frame, after it has found none
	until  int64             // the prompt from which on it looks again
}

// within is a frame that was found within another one, and the number of the prompt in which that was first.
type within struct {
	id    [32]byte
	first int64
}

// sequence is the ends of a prompt.
type sequence struct {
	prompt  uint64
	digests []uint32
}

const words = (recentPrompts + 63) / 64

// members is a set of prompts of the ring.
type members [words]uint64

func (m *members) len() (n int) {
	for _, w := range m {
		n += bits.OnesCount64(w)
	}
	return n
}

func (m members) and(o *members) members {
	for i := range m {
		m[i] &= o[i]
	}
	return m
}

// Frames are those in force, which do not change.
func (l *Learner) Frames() []*Frame { return l.frames }

// Observe finds the frame of a prompt among those in force, nil where it has none, and learns from it. changed says that other frames are in force from
// the next prompt on.
func (l *Learner) Observe(p *Prompt) (frame *Frame, changed bool) {
	l.number++
	frame = l.Find(p)
	if frame != nil {
		frame.seen = l.number
		frame.uses++
	}
	if l.number%forgetAfter == 0 {
		changed = l.age()
	}
	if !l.keep(p) || frame != nil && l.number%retry != 0 {
		return frame, changed
	}
	if l.number < l.until {
		return frame, changed
	}
	found, looked := l.learn(p, frame)
	if found {
		l.pause, l.until = 0, 0
	} else if looked { // what looks like a frame and is none costs no more than other prompts
		l.pause = min(2*l.pause+1, mostPause)
		l.until = l.number + l.pause
	}
	return frame, found || changed
}

// Restore puts frames in force, where there are none. They belong to the learner.
func (l *Learner) Restore(all []*Frame) {
	if len(l.frames) == 0 {
		l.set(all[:min(len(all), Most)])
	}
}

// Find finds the frame of a prompt: the one with the most constants, nil where it has none. It learns nothing.
func (l *Learner) Find(p *Prompt) (frame *Frame) {
	if len(l.frames) == 0 {
		return nil
	}
	var with uint32
	for _, d := range p.digests {
		with |= l.places[d]
	}
	for ; with != 0; with &= with - 1 {
		f := l.frames[bits.TrailingZeros32(with)]
		if frame != nil && f.weight() <= frame.weight() {
			continue
		}
		if _, ok := f.places(p); ok {
			frame = f
		}
	}
	return frame
}

func (f *Frame) weight() (n int) {
	for i := range f.constants {
		n += len(f.constants[i].text)
	}
	return n
}

// ends is the part of the prompt that is kept in the ring: the segments that may be constants, of both its ends.
func (p *Prompt) ends(yield func(i int)) {
	last := len(p.segs) - endSegments
	for i := range p.segs {
		if i >= endSegments && i < last {
			continue
		}
		if !p.segs[i].asked {
			yield(i)
		}
	}
}

// keep takes the prompt that was read into the ring, in the place of the oldest; false where it is there.
func (l *Learner) keep(p *Prompt) bool {
	id := maphash.String(seed, p.Text)
	for i := range l.ring {
		if l.ring[i].prompt == id {
			return false
		}
	}
	if l.counts == nil {
		l.counts = new([filterSize]uint8)
	}
	if len(l.ring) < recentPrompts {
		l.ring = append(l.ring, sequence{})
	}
	s := &l.ring[int(l.number)%len(l.ring)]
	if s.prompt != 0 && len(l.ring) < recentPrompts {
		s = &l.ring[len(l.ring)-1]
	}
	for i, d := range s.digests {
		if !had(s.digests[:i], d) {
			l.counts[d%filterSize]--
		}
	}
	s.prompt, s.digests = id, s.digests[:0]
	p.ends(func(i int) {
		d := p.digests[i]
		if !had(s.digests, d) {
			l.counts[d%filterSize]++
		}
		s.digests = append(s.digests, d)
	})
	return true
}

func had(all []uint32, d uint32) bool {
	for _, one := range all {
		if one == d {
			return true
		}
	}
	return false
}

// candidate is a segment of the prompt that many others have.
type candidate struct {
	at    int // among the segments
	in    members
	len   int
	label bool
}

// learn looks for a frame that the prompt which was read last has in common with others. looked says that it had reason to.
func (l *Learner) learn(p *Prompt, outer *Frame) (found, looked bool) {
	var all []candidate
	p.ends(func(i int) {
		if d := p.digests[i]; l.counts[d%filterSize] >= leastPrompts && p.inEnds(d) {
			if in := l.with(d); in.len() >= leastPrompts {
				all = append(all, candidate{i, in, p.segs[i].to - p.segs[i].from, p.segs[i].label})
			}
		}
	})
	if len(all) == 0 {
		return false, false
	}
	chosen, group := l.choose(all)
	if len(chosen) == 0 {
		return false, true
	}
	var constants []constant
	asked, before := false, 0
	for _, c := range chosen {
		s := p.segs[c.at]
		text := strings.Clone(p.Text[s.from:s.to])
		asked = asks(text) || asked && c.at == before+1 && mark(text) == len(text) // Text: "
		before = c.at
		constants = append(constants, constant{p.digests[c.at], text, asked})
	}
	f := newFrame(constants)
	f.seen, f.uses = l.number, leastPrompts
	if w := f.weight(); w < leastBytes || w > mostText || len(chosen) == len(p.segs) || l.ordered(f, group) < leastPrompts {
		return false, true
	}
	if _, ok := f.places(p); !ok {
		return false, true
	}
	if outer != nil && !l.lasts(f) {
		return false, true
	}
	return l.add(f), true
}

// lasts reports whether a frame within another one, which prompts of both have, is still found long after it was found first. Otherwise it may be of
// one document about which much is asked for a while.
func (l *Learner) lasts(f *Frame) bool {
	at := slices.IndexFunc(l.later, func(w within) bool { return w.id == f.id })
	if at < 0 {
		if len(l.later) == mostLater {
			l.later = l.later[:copy(l.later, l.later[1:])]
		}
		l.later = append(l.later, within{f.id, l.number})
		return false
	}
	if l.number-l.later[at].first < patience {
		return false
	}
	l.later = slices.Delete(l.later, at, at+1)
	return true
}

// inEnds reports whether a segment is nowhere in the prompt but in what is kept of it.
func (p *Prompt) inEnds(d uint32) bool {
	n := 0
	for _, one := range p.digests {
		if one == d {
			n++
		}
	}
	p.ends(func(i int) {
		if p.digests[i] == d {
			n--
		}
	})
	return n == 0
}

// with is the prompts that have a segment.
func (l *Learner) with(d uint32) (in members) {
	for i := range l.ring {
		if had(l.ring[i].digests, d) {
			in[i/64] |= 1 << (i % 64)
		}
	}
	return in
}

// choose chooses the constants among candidates, which come in order, and the prompts that have them all: from the longer segment that most have,
// to all that nearly all of these have. A segment that fewer have is a constant where the prompts part into a few kinds there: templates that begin
// alike. Otherwise it is in a slot.
func (l *Learner) choose(all []candidate) (chosen []candidate, group members) {
	start := -1
	for i := range all {
		if all[i].label || all[i].len < leastStart {
			continue
		}
		if start < 0 || all[i].in.len() > all[start].in.len() {
			start = i
		}
	}
	if start < 0 {
		return nil, group
	}
	in := make([]bool, len(all))
	in[start], group = true, all[start].in
	for {
		best, most := -1, 0
		for i := range all {
			if n := l.shared(&all[i], &group); !in[i] && n > most {
				best, most = i, n
			}
		}
		if best < 0 || most < leastPrompts || most*8 < group.len()*7 && !l.parts(&group, all, in, most) {
			break
		}
		in[best], group = true, group.and(&all[best].in)
	}
	for i := range all {
		if in[i] {
			chosen = append(chosen, all[i])
		}
	}
	return chosen, group
}

func (l *Learner) shared(c *candidate, group *members) int {
	in := c.in.and(group)
	return in.len()
}

// parts reports whether a group parts into few kinds, of which one has size members: nearly all have a segment that makes them one of a kind.
func (l *Learner) parts(group *members, all []candidate, in []bool, size int) bool {
	n := group.len()
	if size*5 < n {
		return false
	}
	covered := 0
	var counted map[uint32]int
	for i := range l.ring {
		if group[i/64]&(1<<(i%64)) == 0 {
			continue
		}
		if counted == nil {
			counted = l.countIn(group)
		}
		for _, d := range l.ring[i].digests {
			if k := counted[d]; k*5 >= n && k*8 < n*7 && k >= leastPrompts {
				covered++
				break
			}
		}
	}
	return covered*8 >= n*7
}

func (l *Learner) countIn(group *members) map[uint32]int {
	counted := map[uint32]int{}
	for i := range l.ring {
		if group[i/64]&(1<<(i%64)) != 0 {
			for j, d := range l.ring[i].digests {
				if !had(l.ring[i].digests[:j], d) {
					counted[d]++
				}
			}
		}
	}
	return counted
}

// ordered is how many of a group have the constants in their order.
func (l *Learner) ordered(f *Frame, group members) (n int) {
	for i := range l.ring {
		if group[i/64]&(1<<(i%64)) == 0 {
			continue
		}
		at := 0
		for _, d := range l.ring[i].digests {
			if at < len(f.constants) && f.constants[at].digest == d {
				at++
			}
		}
		if at == len(f.constants) {
			n++
		}
	}
	return n
}

// add puts a frame in force, in the place of the one that was found in the fewest prompts where there are many.
func (l *Learner) add(f *Frame) bool {
	if slices.ContainsFunc(l.frames, f.same) {
		return false
	}
	all := slices.Clone(l.frames)
	if len(all) < Most {
		all = append(all, f)
	} else {
		least := slices.MinFunc(all, func(a, b *Frame) int { return cmp.Or(cmp.Compare(a.uses, b.uses), cmp.Compare(a.seen, b.seen)) })
		all[slices.Index(all, least)] = f
	}
	l.set(all)
	return true
}

// age halves what the frames count, and ends those that were not seen of late.
func (l *Learner) age() (changed bool) {
	left := slices.DeleteFunc(slices.Clone(l.frames), func(f *Frame) bool {
		f.uses /= 2
		return l.number-f.seen >= forgetAfter
	})
	if changed = len(left) < len(l.frames); changed {
		l.set(left)
	}
	return changed
}

func (l *Learner) set(all []*Frame) {
	l.frames, l.places = all, map[uint32]uint32{}
	for i, one := range all {
		for j := range one.constants {
			l.places[one.constants[j].digest] |= 1 << i
		}
	}
}
