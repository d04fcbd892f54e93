package answer

import (
	"bytes"
	"encoding/binary"
	"iter"
)

// The events of a stream differ from each other in little more than a piece of text. A stored stream is folded: of each line only that is
// kept which differs from the last line before it with the same first byte. A line ends with all line feeds that follow it. That costs a
// comparison of bytes, where a general compression costs fifteen times as much, and leaves a tenth of most streams.

// fold is a line that begins with the byte first: head bytes of the line that it is like, then middle, then tail bytes of that line.
type fold struct {
	first      byte
	head, tail int
	middle     []byte
}

// maxFold is how many times as long as its encoding a stream may be: it bounds what reading an encoding takes.
const maxFold = 64

// likes has, for each first byte, where the last line with it begins and ends.
type likes [256]struct{ from, to int }

// folds are the lines of a body.
func folds(body []byte) iter.Seq[fold] {
	return func(yield func(fold) bool) {
		var last likes
		for from := 0; from < len(body); {
			to := endOfLine(body, from)
			like := &last[body[from]]
			line, old := body[from:to], body[like.from:like.to]
			head := sharedHead(line, old)
			tail := sharedTail(line[head:], old[head:])
			if !yield(fold{body[from], head, tail, line[head : len(line)-tail]}) {
				return
			}
			like.from, like.to = from, to
			from = to
		}
	}
}

// endOfLine is where the line that begins at byte from ends.
func endOfLine(body []byte, from int) int {
	n := bytes.IndexByte(body[from:], '\n')
	if n < 0 {
		return len(body)
	}
	to := from + n
	for to < len(body) && body[to] == '\n' {
		to++
	}
	return to
}

// sharedHead is with how many equal bytes a and b begin.
func sharedHead(a, b []byte) (n int) {
	most := min(len(a), len(b))
	for n+8 <= most && binary.LittleEndian.Uint64(a[n:]) == binary.LittleEndian.Uint64(b[n:]) {
		n += 8
	}
	for n < most && a[n] == b[n] {
		n++
	}
	return n
}

// sharedTail is with how many equal bytes a and b end.
func sharedTail(a, b []byte) (n int) {
	most := min(len(a), len(b))
	for n+8 <= most && binary.LittleEndian.Uint64(a[len(a)-n-8:]) == binary.LittleEndian.Uint64(b[len(b)-n-8:]) {
		n += 8
	}
	for n < most && a[len(a)-n-1] == b[len(b)-n-1] {
		n++
	}
	return n
}

// foldedSize is the size of the lines as appendFolds encodes them.
func foldedSize(body []byte) (size int) {
	for f := range folds(body) {
		size += 1 + uvarintSize(f.head) + uvarintSize(f.tail) + uvarintSize(len(f.middle)) + len(f.middle)
	}
	return size
}

// appendFolds appends for each line its first byte, three varints (head, tail, length of the middle), and the middle.
func appendFolds(dst, body []byte) []byte {
	for f := range folds(body) {
		dst = binary.AppendUvarint(append(dst, f.first), uint64(f.head))
		dst = binary.AppendUvarint(dst, uint64(f.tail))
		dst = binary.AppendUvarint(dst, uint64(len(f.middle)))
		dst = append(dst, f.middle...)
	}
	return dst
}

// unfolded reads a body of n bytes, which is all that is left.
func (d *decoder) unfolded(n int) []byte {
	body := make([]byte, 0, n)
	var last likes
	for len(d.b) > 0 {
		from, like := len(body), &last[d.byte()]
		head, tail := d.number(like.to-like.from), d.number(like.to-like.from)
		middle := d.bytes()
		if size := head + tail + len(middle); d.bad || size == 0 || size > n-from || head+tail > like.to-like.from {
			d.fail()
			return nil
		}
		body = append(append(append(body, body[like.from:like.from+head]...), middle...), body[like.to-tail:like.to]...)
		like.from, like.to = from, len(body)
	}
	if len(body) != n {
		d.fail()
	}
	return body
}
