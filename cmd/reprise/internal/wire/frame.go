package wire

import (
	"bytes"
	"errors"
	"strconv"
	"strings"
)

// errFraming is the error of a connection whose next message has no certain length.
var errFraming = errors.New("ambiguous HTTP/1 message")

// refusal takes the place of what follows in such a message: it ends the line, which net/http then refuses with 400 in a request line
// as in a header, and the head. An error in its place would end the request before it too, whose handler may still run.
const refusal = "\x00\r\n\r\n"

// place is where in a message the next byte belongs.
type place uint8

const (
	before   place = iota // line ends before a request line
	request               // request line
	header                // header lines
	body                  // a body of known length
	chunk                 // line with the size of a chunk
	data                  // a chunk and the line end after it
	trailer               // lines after the last chunk
	unframed              // after an error
	lost                  // after a chunk that net/http refuses
)

// maxLine is how much of a line is kept: enough for the names and values that are looked at.
const maxLine = 64

// version is the end of a request line that may be followed by a Transfer-Encoding.
const version = " HTTP/1.1\r\n"

// framer follows the messages of one direction of an HTTP/1 connection, and finds those that two readers may divide differently:
//
//   - Content-Length together with Transfer-Encoding, where net/http takes the second and drops the first;
//   - Transfer-Encoding before HTTP/1.1, which net/http ignores;
//   - a header line that ends without CR, or continues the line before it.
//
// All else that is wrong is refused by net/http itself, which then closes the connection. The framer may therefore be more lenient.
type framer struct {
	at     place
	line   [maxLine]byte // beginning of the current line
	length int           // of the current line, which may be more
	last   byte          // the byte before the end of the line
	tail   [len(version)]byte
	left   int64 // bytes of the body or chunk that are still to come

	sized, chunked, modern bool  // the head has a Content-Length, a Transfer-Encoding, is of HTTP/1.1
	size                   int64 // the Content-Length
}

// scan follows p and returns how many of its bytes precede an error.
func (f *framer) scan(p []byte) (int, error) {
	for i := 0; i < len(p); {
		switch f.at {
		case before:
			if c := p[i]; c == '\r' || c == '\n' {
				i++
				continue
			}
			*f = framer{at: request}
		case body, data:
			n := min(f.left, int64(len(p)-i))
			i += int(n)
			if f.left -= n; f.left == 0 {
				f.passed()
			}
		case unframed:
			return i, errFraming
		case lost:
			return len(p), nil
		default:
			n, ended := f.read(p[i:])
			if i += n; ended && !f.endLine() {
				f.at = unframed
				return i - 1, errFraming
			}
		}
	}
	return len(p), nil
}

// read takes bytes up to the end of the line.
func (f *framer) read(p []byte) (n int, ended bool) {
	n = len(p)
	if i := bytes.IndexByte(p, '\n'); i >= 0 {
		n, ended = i+1, true
	}
	if f.length < maxLine {
		copy(f.line[f.length:], p[:n])
	}
	f.length += n
	if f.at == request {
		keepTail(&f.tail, p[:n])
	}
	switch {
	case n > 1 && ended:
		f.last = p[n-2]
	case !ended:
		f.last = p[n-1]
	}
	return n, ended
}

// keepTail moves the last bytes of p into tail.
func keepTail(tail *[len(version)]byte, p []byte) {
	if len(p) >= len(tail) {
		copy(tail[:], p[len(p)-len(tail):])
		return
	}
	copy(tail[:], tail[len(p):])
	copy(tail[len(tail)-len(p):], p)
}

// endLine reads the line that has ended; it is false where the message is ambiguous.
func (f *framer) endLine() bool {
	end := 1
	if f.length > 1 && f.last == '\r' {
		end = 2
	}
	whole := f.length <= maxLine
	line := f.line[:min(f.length-end, maxLine)]
	f.length = 0
	switch {
	case end == 2 || f.at == trailer:
	case f.at == chunk:
		f.at = lost
		return true
	default:
		return false
	}
	switch f.at {
	case request:
		f.at, f.modern = header, string(f.tail[:]) == version
	case header:
		return f.headerLine(line, whole)
	case chunk:
		f.chunkLine(line)
	case trailer:
		if len(line) == 0 {
			f.at = before
		}
	}
	return true
}

func (f *framer) headerLine(line []byte, whole bool) bool {
	if len(line) == 0 {
		return f.endHead()
	}
	switch line[0] {
	case ' ', '\t':
		return false
	case 'C', 'c', 'T', 't':
	default:
		return true
	}
	name, value, _ := bytes.Cut(line, []byte(":"))
	switch {
	case strings.EqualFold(string(name), "Transfer-Encoding"):
		f.chunked = true
	case strings.EqualFold(string(name), "Content-Length"):
		n, err := strconv.ParseUint(string(bytes.Trim(value, " \t")), 10, 63)
		if err != nil || !whole || f.sized && int64(n) != f.size {
			return false
		}
		f.sized, f.size = true, int64(n)
	}
	return true
}

// endHead decides what follows the head.
func (f *framer) endHead() bool {
	switch {
	case f.chunked:
		f.at = chunk
		return !f.sized && f.modern
	case f.size > 0:
		f.at, f.left = body, f.size
	default:
		f.at = before
	}
	return true
}

// chunkLine reads the size of a chunk, before white space and extensions.
func (f *framer) chunkLine(line []byte) {
	digits := len(line) - len(bytes.TrimLeft(line, "0123456789abcdefABCDEF"))
	n, err := strconv.ParseUint(string(line[:digits]), 16, 62)
	switch {
	case err != nil:
		f.at = lost
	case n == 0:
		f.at = trailer
	default:
		f.at, f.left = data, int64(n)+2
	}
}

// passed follows the end of a body or a chunk.
func (f *framer) passed() {
	if f.at == body {
		f.at = before
		return
	}
	f.at = chunk
}
