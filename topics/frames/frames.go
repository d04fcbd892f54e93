// Package frames finds the text that many prompts of a scope share, in order: the frame of a template. What stands between its constants are
// slots, and one of them may ask. A prompt behind an instruction, or a document, is then compared by what it asks, while all the rest has to be
// equal.
//
// A prompt is cut into segments: lines, sentences, labels, tags, fences, quotation marks, JSON members. A [Learner] keeps digests of the segments
// of the latest distinct prompts of one scope, and of no slot its text. Segments that stand alike, in order, in at least eight of them become the
// constants of a frame. What a frame means is not guessed: see [Cut] for what of a slot may differ.
//
// Digests of segments are short, and seeded for each process: they propose. The bytes of the constants decide, and their SHA-256 identifies a frame
// in all processes.
package frames

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"hash/maphash"
	"strings"
)

var seed = maphash.MakeSeed()

func digestOf(text string) uint32 { return max(uint32(maphash.String(seed, text)), 1) } // 0 is none

// Frame is the constants of a template, in order.
type Frame struct {
	id        [32]byte
	constants []constant
	asks      bool  // a label says what asks
	seen      int64 // number of the prompt that it was last found in
	uses      int64 // prompts that it was found in; those of before count less
}

type constant struct {
	digest uint32
	text   string
	label  bool // it stands before what is asked
}

// Constants are the texts of the frame, in order.
func (f *Frame) Constants() []string {
	all := make([]string, len(f.constants))
	for i := range f.constants {
		all[i] = f.constants[i].text
	}
	return all
}

func newFrame(constants []constant) *Frame {
	f, h := &Frame{constants: constants}, sha256.New()
	for i := range constants {
		writePart(h, constants[i].text)
		f.asks = f.asks || constants[i].label
	}
	h.Sum(f.id[:0])
	return f
}

// IDs are those that cuts by the frame may have.
func (f *Frame) IDs() (all [][32]byte) {
	all = append(all, f.id)
	for gap := range len(f.constants) + 1 {
		if !f.asks || gap > 0 && f.constants[gap-1].label {
			all = append(all, f.idOf(gap))
		}
	}
	return all
}

// idOf is that of cuts of which what stands behind so many constants asks: another slot is another question, and what one has shown says nothing of it.
func (f *Frame) idOf(gap int) [32]byte {
	return sha256.Sum256(binary.LittleEndian.AppendUint64(append(make([]byte, 0, 40), f.id[:]...), uint64(gap)))
}

// saved is a constant of a frame as it is written.
type saved struct {
	Text string `json:"text"`
	Asks bool   `json:"asks,omitempty"` // what stands behind it
}

// MarshalJSON implements json.Marshaler.
func (f *Frame) MarshalJSON() ([]byte, error) {
	all := make([]saved, len(f.constants))
	for i, c := range f.constants {
		all[i] = saved{c.text, c.label}
	}
	return json.Marshal(all)
}

// UnmarshalJSON implements json.Unmarshaler.
func (f *Frame) UnmarshalJSON(body []byte) error {
	var all []saved
	if err := json.Unmarshal(body, &all); err != nil {
		return err
	}
	constants := make([]constant, len(all))
	for i, c := range all {
		constants[i] = constant{digestOf(c.Text), c.Text, c.Asks}
	}
	*f = *newFrame(constants)
	return nil
}

// Cut is a prompt in parts.
type Cut struct {
	// ID identifies the frame by its constants, and which slot asks: zero where the prompt has none.
	ID [32]byte
	// Rest is a digest of everything that is neither a constant nor the ask; zero where there is nothing else.
	Rest [32]byte
	// From and To are the bytes of the prompt that ask: what may be compared by meaning. They are equal where nothing may.
	From, To int
	// Named: a label, or a declaration, says that this part asks. Without one it is the only slot of the frame, or the whole prompt.
	Named bool
	// Slots are the bytes that vary, of a cut that asks nothing, for topics alone: the first of them where they are long.
	Slots string
}

// Whole is the cut of a prompt without a frame: see Front.
func Whole(prompt string) Cut {
	c := Cut{From: Front(prompt), To: len(prompt)}
	if c.Named = c.From > 0; c.Named {
		c.Rest = sha256.Sum256([]byte(prompt[:c.From]))
	}
	return c
}

// Front is where a prompt without a frame begins to ask: behind the label of its last line, from a closed list. It is 0, for the whole prompt, where
// that has one line, or its last one no label.
func Front(prompt string) int {
	end := len(strings.TrimRight(prompt, " \r\n"))
	at := strings.LastIndexByte(prompt[:end], '\n') + 1
	if at == 0 {
		return 0
	}
	line := prompt[at:end]
	colon := strings.IndexByte(line[:min(len(line), longestLabel+1)], ':')
	if colon < 0 || !asks(line[:colon+1]) {
		return 0
	}
	from := at + colon + 1
	for from < end && (prompt[from] == ' ' || prompt[from] == '*') {
		from++
	}
	if from == end {
		return 0
	}
	return from
}

type writer interface{ Write([]byte) (int, error) }

func writePart(to writer, text string) {
	var n [8]byte
	binary.LittleEndian.PutUint64(n[:], uint64(len(text)))
	to.Write(n[:])
	to.Write([]byte(text))
}

// mostSlots is how many bytes of slots that do not ask become a vector: more do not tell its topic better.
const mostSlots = 2048

// Prompt is a text in segments. It does not change.
type Prompt struct {
	Text    string
	segs    []segment
	digests []uint32
}

// Read cuts a text into segments. The cost is linear: some 0.2 µs for ten words.
func Read(text string) *Prompt {
	p := &Prompt{Text: text, segs: make([]segment, 0, 8+len(text)/64), digests: make([]uint32, 0, 8+len(text)/64)}
	each(text, func(s segment) bool {
		p.segs = append(p.segs, s)
		p.digests = append(p.digests, digestOf(text[s.from:s.to]))
		return true
	})
	return p
}

// Cut cuts a prompt that has the frame, and reports whether it has: every constant as often as in the frame, and in its order. One more of any is a
// slot that looks like the frame, of which nobody can tell where it ends; only of a quotation mark there may be more, and what is behind it is then
// no part of the ask.
func (f *Frame) Cut(p *Prompt) (c Cut, ok bool) {
	places, ok := f.places(p)
	if !ok {
		return c, false
	}
	return f.cut(p.Text, places), true
}

// places finds the constants among the segments of a prompt.
func (f *Frame) places(p *Prompt) (places []segment, ok bool) {
	places = make([]segment, 0, len(f.constants))
	for i, d := range p.digests {
		s := &p.segs[i]
		if n := len(places); n < len(f.constants) && f.constants[n].digest == d && f.constants[n].text == p.Text[s.from:s.to] {
			places = append(places, *s)
		} else if s.to-s.from > 1 && f.has(d) {
			return nil, false
		}
	}
	return places, len(places) == len(f.constants)
}

func (f *Frame) has(digest uint32) bool {
	for i := range f.constants {
		if f.constants[i].digest == digest {
			return true
		}
	}
	return false
}

// slot is what stands between two constants, without the white space around it.
type slot struct{ from, to, gap int }

func (f *Frame) cut(prompt string, places []segment) (c Cut) {
	var room [16]slot
	slots := room[:0]
	ask := -1
	at := 0
	for i := 0; i <= len(places); i++ {
		to := len(prompt)
		if i < len(places) {
			to = places[i].from
		}
		if from, end := trim(prompt, at, to); from < end {
			if i > 0 && f.constants[i-1].label {
				ask, c.Named = len(slots), true // the last one
			}
			slots = append(slots, slot{from, end, i})
		}
		if i < len(places) {
			at = places[i].to
		}
	}
	if !f.asks && len(slots) == 1 && slots[0].to-slots[0].from <= mostSlots {
		ask = 0
	}
	rest := sha256.New()
	c.ID = f.id
	at = 0
	for i, p := range places {
		f.writeGap(rest, prompt, at, p.from, slots, ask)
		at = p.to
		if i == len(places)-1 {
			f.writeGap(rest, prompt, at, len(prompt), slots, ask)
		}
	}
	rest.Sum(c.Rest[:0])
	if ask >= 0 {
		c.ID, c.From, c.To = f.idOf(slots[ask].gap), slots[ask].from, slots[ask].to
	} else {
		c.Slots = join(prompt, slots)
	}
	return c
}

// writeGap writes what stands between two constants, without the ask.
func (f *Frame) writeGap(to writer, prompt string, from, end int, slots []slot, ask int) {
	if ask >= 0 && slots[ask].from >= from && slots[ask].to <= end {
		writePart(to, "ask")
		return
	}
	writePart(to, prompt[from:end])
}

func join(prompt string, slots []slot) string {
	var b strings.Builder
	for _, s := range slots {
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(prompt[s.from:min(s.to, s.from+mostSlots-min(b.Len(), mostSlots))])
	}
	return strings.ToValidUTF8(b.String(), "")
}

func trim(prompt string, from, to int) (int, int) {
	for from < to && isSpace(prompt[from]) {
		from++
	}
	for to > from && isSpace(prompt[to-1]) {
		to--
	}
	return from, to
}

func (f *Frame) same(g *Frame) bool { return f.id == g.id }
