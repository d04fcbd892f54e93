package canon

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"strconv"
)

// The canonical encoding: every value begins with a byte for its kind and contains its own length or end, so that two
// sequences of values have the same bytes only when they are equal.
const (
	tagNull   = 'n'
	tagFalse  = 'f'
	tagTrue   = 't'
	tagNumber = 'd' // [-]digits e exponent ;
	tagText   = 's' // length, bytes
	tagLong   = 'S' // SHA-256 of a text over longText
	tagLink   = 'l' // the number of an id; see [Link]
	tagArray  = 'a' // count, values
	tagObject = 'o' // count, sorted names and values
	tagMsg    = 'm' // role, content, other members, tagEnd
	tagMasked = 'M' // a text of which something is ignored: count, text and name of a group each, text
	tagIgnore = 'i' // SHA-256 of what is ignored
	tagNone   = '-' // a message without content
	tagMark   = 'x' // a part of text, in the rest of an ask: other members, tagEnd
	tagEnd    = 'e'

	tagBase   = "reprise canon 2"
	tagKey    = 'K'
	tagState  = 'A'
	tagScope  = 'R'
	tagNoTurn = 'P'
)

// longText is the length from which a text is encoded as its hash, so that megabytes of base64 are not copied.
const longText = 4096

func appendIdentity(dst []byte, code byte, id Identity) []byte {
	dst = appendText(append(dst, tagBase...), id.Tenant)
	dst = appendText(dst, id.Namespace)
	dst = appendText(dst, id.Path)
	dst = appendText(dst, id.Query)
	dst = binary.AppendUvarint(dst, uint64(len(id.Headers)))
	for _, h := range id.Headers {
		dst = appendText(dst, h)
	}
	return append(dst, code)
}

func appendText[T string | []byte](dst []byte, s T) []byte {
	if len(s) >= longText {
		sum := sha256.Sum256([]byte(s))
		return append(append(dst, tagLong), sum[:]...)
	}
	dst = binary.AppendUvarint(append(dst, tagText), uint64(len(s)))
	return append(dst, s...)
}

// appendValue appends the canonical form of value i.
func (d *doc) appendValue(dst []byte, i uint32) []byte { return d.appendAt(dst, nil, i) }

// appendAt appends value i, which is at a place in the table of defaults, without the members that mean the same as their absence.
func (d *doc) appendAt(dst []byte, at *place, i uint32) []byte {
	dst = d.spill.take(dst)
	n := &d.nodes[i]
	switch n.kind() {
	case falsy:
		return append(dst, tagFalse)
	case truth:
		return append(dst, tagTrue)
	case number:
		return appendNumber(dst, d.text(i))
	case text:
		return d.appendString(dst, i)
	case linked:
		return binary.AppendUvarint(append(dst, tagLink), uint64(n.aux))
	case array:
		var items *place
		if at != nil {
			items = at.items
		}
		dst = binary.AppendUvarint(append(dst, tagArray), uint64(n.end))
		for j := i + 1; j < n.next(); j = d.nodes[j].next() {
			dst = d.appendAt(dst, items, j)
		}
		return dst
	case object:
		return d.appendObject(dst, at, i)
	}
	return append(dst, tagNull)
}

func (d *doc) appendObject(dst []byte, at *place, i uint32) []byte {
	names := d.members(i)
	count := len(names)
	if at != nil {
		for _, name := range names {
			if d.isDefault(at.inside(d.text(name)), name+1) {
				count--
			}
		}
	}
	dst = binary.AppendUvarint(append(dst, tagObject), uint64(count))
	for _, name := range names {
		inner := at.inside(d.text(name))
		if !d.isDefault(inner, name+1) {
			dst = d.appendAt(appendText(dst, d.text(name)), inner, name+1)
		}
	}
	return dst
}

// appendString keeps the hash of a long text in the arena: a picture in the last ask is encoded twice, as a part of the
// ask and of the scope.
func (d *doc) appendString(dst []byte, i uint32) []byte {
	n := &d.nodes[i]
	if n.escaped() || n.end-n.start < longText {
		return appendText(dst, d.text(i))
	}
	if n.aux == 0 {
		sum := sha256.Sum256(d.text(i))
		d.arena = append(d.arena, sum[:]...)
		n.aux = uint32(len(d.arena))
	}
	return append(append(dst, tagLong), d.arena[n.aux-sha256.Size:n.aux]...)
}

// appendMember appends a member by the node of its name.
func (d *doc) appendMember(dst []byte, name uint32) []byte {
	return d.appendValue(appendText(dst, d.text(name)), name+1)
}

// appendNumber writes a number in its one exact form: digits without zeros at either end, and an exponent; 0 and -0 have
// no digits and no sign. No float is involved, so large integers stay different.
func appendNumber(dst, raw []byte) []byte {
	n, _ := readDecimal(raw)
	dst = append(dst, tagNumber)
	if n.neg {
		dst = append(dst, '-')
	}
	start := len(dst)
	dst = appendSignificant(dst, start, n.whole)
	dst = appendSignificant(dst, start, n.frac)
	exp := n.exp - len(n.frac)
	for len(dst) > start && dst[len(dst)-1] == '0' {
		dst = dst[:len(dst)-1]
		exp++
	}
	if len(dst) == start {
		if n.neg {
			dst = dst[:start-1]
		}
		exp = 0
	}
	dst = strconv.AppendInt(append(dst, 'e'), int64(exp), 10)
	return append(dst, ';')
}

// appendSignificant appends digits without leading zeros; the digits before them are in dst from byte start on.
func appendSignificant(dst []byte, start int, ds []byte) []byte {
	for len(dst) == start && len(ds) > 0 && ds[0] == '0' {
		ds = ds[1:]
	}
	return append(dst, ds...)
}

// chain returns the hash of the next link in the chain of turns.
func chain(tag byte, a, b Hash) Hash {
	var in [1 + 2*sha256.Size]byte
	in[0] = tag
	copy(in[1:], a[:])
	copy(in[1+sha256.Size:], b[:])
	return sha256.Sum256(in[:])
}

// seal returns the hash of all bytes appended to buf since the last seal, the spilled ones included, and empties buf.
func (p *Reader) seal() Hash {
	h := p.spill.sum(p.buf)
	p.buf = p.buf[:0]
	return h
}

// discard empties buf.
func (p *Reader) discard() {
	p.spill.open = false
	p.buf = p.buf[:0]
}

// spill hashes the beginning of canonical bytes that are too many to keep: the canonical form of a million numbers is a multiple of the body.
type spill struct {
	hash hash.Hash // SHA-256; nil before the first spill
	open bool      // hash has the beginning of the present bytes
}

// spillBytes is how many canonical bytes are kept before they are hashed.
const spillBytes = 64 << 10

// take hashes dst and empties it, where it is large.
func (s *spill) take(dst []byte) []byte {
	if len(dst) < spillBytes {
		return dst
	}
	if s.hash == nil {
		s.hash = sha256.New()
	}
	if !s.open {
		s.hash.Reset()
		s.open = true
	}
	s.hash.Write(dst)
	return dst[:0]
}

// sum returns the hash of what was taken and rest.
func (s *spill) sum(rest []byte) Hash {
	if !s.open {
		return sha256.Sum256(rest)
	}
	s.open = false
	s.hash.Write(rest)
	return Hash(s.hash.Sum(nil))
}
