package traffic

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
)

// maxLine bounds the memory that a line takes, in case the file is of some other kind.
const maxLine = 64 << 20

// errLongLine is the error of a line over maxLine.
var errLongLine = fmt.Errorf("more than %d bytes", maxLine)

// Mark is the byte order mark that some editors write at the start of a text.
const Mark = "\ufeff"

// SkipMark discards a byte order mark at the start of a text.
func SkipMark(in *bufio.Reader) {
	if head, _ := in.Peek(len(Mark)); string(head) == Mark {
		in.Discard(len(Mark))
	}
}

// lines cuts a file into lines and counts them.
type lines struct {
	in   *bufio.Reader
	n    int // number of the line that next returned last, from 1
	buf  []byte
	rest bool // the end of a line that was too long has not been read yet
}

func (l *lines) place() string { return fmt.Sprintf("line %d", l.n) }

// next returns the next line that is not blank, without surrounding white space. It is valid until the next call. The error
// is io.EOF after the last line, and errLongLine for a line that is too long, after which the next one can be read. A line
// that a read error cuts short is not returned.
func (l *lines) next() ([]byte, error) {
	for {
		if err := l.skipRest(); err != nil {
			return nil, err
		}
		l.n++
		line, err := l.read()
		if err != nil && (err != io.EOF || len(line) == 0) {
			return nil, err
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return line, nil
		}
	}
}

// read returns one line. It is copied only if it is longer than the reader's buffer.
func (l *lines) read() ([]byte, error) {
	part, err := l.in.ReadSlice('\n')
	if err != bufio.ErrBufferFull {
		return part, err
	}
	l.buf = l.buf[:0]
	for err == bufio.ErrBufferFull && len(l.buf)+len(part) <= maxLine {
		l.buf = append(l.buf, part...)
		part, err = l.in.ReadSlice('\n')
	}
	if len(l.buf)+len(part) > maxLine {
		l.rest = err == bufio.ErrBufferFull
		return nil, errLongLine
	}
	return append(l.buf, part...), err
}

// skipRest reads the rest of a line that was too long.
func (l *lines) skipRest() (err error) {
	for l.rest {
		_, err = l.in.ReadSlice('\n')
		l.rest = err == bufio.ErrBufferFull
	}
	return err
}
