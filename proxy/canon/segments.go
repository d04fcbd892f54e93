package canon

// SegmentKind is the kind of text in a segment.
type SegmentKind uint8

// The kinds of segments.
const (
	SegmentTools   SegmentKind = iota + 1 // the value of a member that lists tools, such as "tools"
	SegmentSystem                         // the value of "instructions"; a system or developer message before the first ask
	SegmentMessage                        // any other element of the conversation, or all of it when it is no list
)

// Segment is one part of a body: the JSON value at Body[Off:Off+Len], without white space around it.
type Segment struct {
	Off, Len uint32
	Kind     SegmentKind
}

// Of returns the segment's bytes of the body that it is a part of.
func (s Segment) Of(body []byte) []byte { return body[s.Off:][:s.Len] }

// openSegments notes the members before the conversation and makes room for n segments of the conversation.
func (p *Reader) openSegments(n int) {
	p.req.Segments = make([]Segment, 0, len(p.rules.Tools)+len(p.rules.System)+n)
	for _, name := range p.rules.Tools {
		p.addMember(SegmentTools, p.member(0, name))
	}
	for _, name := range p.rules.System {
		p.addMember(SegmentSystem, p.member(0, name))
	}
}

// addMember notes a member of the body, if it is given.
func (p *Reader) addMember(kind SegmentKind, v uint32) {
	if p.given(v) {
		p.addSegment(kind, v, 0, p.spaceBefore(len(p.body)))
	}
}

// addSegment notes value v, a member or element of parent, which ends before byte parentEnd.
func (p *Reader) addSegment(kind SegmentKind, v, parent uint32, parentEnd int) {
	start := p.offset(v)
	p.req.Segments = append(p.req.Segments, Segment{Off: uint32(start), Len: uint32(p.end(v, parent, parentEnd) - start), Kind: kind})
}

// end is the byte after value v, a member or element of parent, which ends before byte parentEnd. It looks back from
// what follows v, so that the tape needs no ends.
func (d *doc) end(v, parent uint32, parentEnd int) int {
	end := parentEnd - 1 // the bracket
	if next := d.nodes[v].next(); next != d.nodes[parent].next() {
		end = d.spaceBefore(d.offset(next)) - 1 // the comma
	}
	return d.spaceBefore(end)
}

// spaceBefore is where the white space that ends before byte end begins.
func (d *doc) spaceBefore(end int) int {
	for end > 0 && isSpace(d.body[end-1]) {
		end--
	}
	return end
}
