package trace

import (
	"bufio"
	"bytes"
	"fmt"
	"io"

	"reprise/internal/traffic"
)

// maxLine bounds the memory that a line takes, in case the file is of some other kind.
const maxLine = 64 << 20

// eachLine calls f with every line that is not blank, without surrounding white space, until f returns false or an error. The error then
// names the line.
func eachLine(in *bufio.Reader, f func(line []byte) (more bool, err error)) error {
	traffic.SkipMark(in)
	var line []byte
	for n := 1; ; n++ {
		part, err := in.ReadSlice('\n')
		for line = append(line[:0], part...); err == bufio.ErrBufferFull && len(line) <= maxLine; line = append(line, part...) {
			part, err = in.ReadSlice('\n')
		}
		more := true
		switch text := bytes.TrimSpace(line); {
		case len(line) > maxLine:
			err = fmt.Errorf("more than %d bytes", maxLine)
		case err == io.EOF && len(text) == 0:
			return nil
		case err != nil && err != io.EOF: // what was read of the line is not all of it
		case len(text) > 0:
			more, err = f(text)
		default:
			err = nil
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		if !more {
			return nil
		}
	}
}
