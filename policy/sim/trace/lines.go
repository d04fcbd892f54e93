package trace

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
)

// maxLine bounds a line, so that a file of something else does not fill the memory.
const maxLine = 64 << 20

// mark is what some editors begin a text with.
var mark = []byte("\ufeff")

func skipMark(in *bufio.Reader) {
	if head, _ := in.Peek(len(mark)); bytes.Equal(head, mark) {
		in.Discard(len(mark))
	}
}

// lines cuts a file into lines and counts them.
type lines struct {
	in  *bufio.Reader
	n   int // of the line that next returned last, from 1
	buf []byte
}

// next returns a line that is not blank, without the white space around it, valid until the next call; io.EOF after the
// last one. What a read error cuts short is no line.
func (l *lines) next() ([]byte, error) {
	for {
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

// read returns one line. Only where it is longer than the reader's buffer is it copied.
func (l *lines) read() ([]byte, error) {
	part, err := l.in.ReadSlice('\n')
	if err != bufio.ErrBufferFull {
		return part, err
	}
	l.buf = l.buf[:0]
	for err == bufio.ErrBufferFull {
		if len(l.buf) > maxLine {
			return nil, fmt.Errorf("more than %d bytes", maxLine)
		}
		l.buf = append(l.buf, part...)
		part, err = l.in.ReadSlice('\n')
	}
	return append(l.buf, part...), err
}

// each calls f with every line until f returns false or an error, which then names the line.
func (l *lines) each(f func(line []byte) (more bool, err error)) error {
	skipMark(l.in)
	for {
		line, err := l.next()
		if err == io.EOF {
			return nil
		}
		more := true
		if err == nil {
			more, err = f(line)
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", l.n, err)
		}
		if !more {
			return nil
		}
	}
}
