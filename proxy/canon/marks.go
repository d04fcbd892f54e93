package canon

import (
	"bytes"
	"slices"
)

// dropMarks takes [Rules.Mark] out of the body, wherever it may stand: a member of the body, of a tool, of a block of the system prompt or
// of a message's content, and of the blocks inside such a block.
func dropMarks(p *Reader) {
	if p.rules.Mark == "" || !bytes.Contains(p.body, []byte(p.rules.Mark)) && !containsEscape(p.body) {
		return
	}
	dropMark(&p.doc, 0, p.rules.Mark)
	for _, name := range p.rules.Tools {
		dropMarksOf(p, p.member(0, name))
	}
	for _, name := range p.rules.System {
		dropMarksOf(p, p.member(0, name))
	}
	for i := range p.elements(p.member(0, p.rules.Field)) {
		dropMarksOf(p, p.member(i, "content"))
	}
}

// dropMarksOf takes the marks out of a list of blocks.
func dropMarksOf(p *Reader, blocks uint32) {
	for i := range p.elements(blocks) {
		dropMark(&p.doc, i, p.rules.Mark)
		dropMarksOf(p, p.member(i, "content"))
	}
}

// dropMark takes a member out of the object i, where its value is an object or null. What is forwarded keeps it.
func dropMark(d *doc, i uint32, name string) {
	if v := d.member(i, name); v == 0 || d.given(v) && !d.is(v, object) {
		return
	}
	names := d.members(i)
	at := slices.IndexFunc(names, func(m uint32) bool { return string(d.text(m)) == name })
	copy(names[at:], names[at+1:])
	d.nodes[i].end--
}
