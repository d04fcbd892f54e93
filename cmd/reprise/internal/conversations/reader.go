package conversations

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"

	"reprise/policy/sim/trace"
)

// ErrFormat is wrapped by the error for a file whose first record is of no known format.
var ErrFormat = errors.New("no known format")

// Reader reads the conversations of a file one after the other, without holding the file in memory. A record that makes
// no sense is left out and counted, but for the first one: with that, the file is probably another one than was meant.
type Reader struct {
	name    string
	input   io.ReadCloser
	total   int64
	read    atomic.Int64 // bytes of the file, before unpacking
	records source
	format  *format // nil before the first record is read
	parser  parser
	ready   []Conversation
	ended   bool

	skipped    int
	firstFault error
}

// Open opens a file, packed with gzip, zstd or plain, and reads its first record, by which it knows the format; "-" is the
// standard input. The caller closes the reader.
func Open(path string) (*Reader, error) {
	if path == "-" {
		return newReader("standard input", os.Stdin, 0)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = fmt.Errorf("open %s: a directory, want a file", path)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return newReader(path, f, info.Size())
}

func newReader(name string, input io.ReadCloser, total int64) (*Reader, error) {
	r := &Reader{name: name, input: input, total: total}
	raw := bufio.NewReaderSize(counter{input, &r.read}, 4<<10) // small, so that Progress is no stairway
	plain, err := trace.Unpack(raw)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("read %s: %w", name, err), input.Close())
	}
	r.records = newSource(plain)
	if err := r.fill(); err != nil {
		return nil, errors.Join(err, input.Close())
	}
	return r, nil
}

// Format is the name of the file's format, as ErrFormat's error lists it.
func (r *Reader) Format() string { return r.format.name }

// Close closes the file.
func (r *Reader) Close() error { return r.input.Close() }

// Progress is how many bytes of the file have been read, and how many there are; 0 is not known. It may be called while
// another goroutine is in Next.
func (r *Reader) Progress() (read, total int64) { return r.read.Load(), r.total }

// Skipped is the number of records that were left out, and what was wrong with the first of them.
func (r *Reader) Skipped() (int, error) { return r.skipped, r.firstFault }

// Next returns the next conversation, io.EOF after the last one. Any other error is final and names the file and the place.
func (r *Reader) Next() (Conversation, error) {
	for len(r.ready) == 0 {
		if r.ended {
			return Conversation{}, io.EOF
		}
		if err := r.fill(); err != nil {
			return Conversation{}, err
		}
	}
	c := r.ready[0]
	r.ready = r.ready[1:]
	return c, nil
}

// fill reads one record and keeps the conversations that it completes.
func (r *Reader) fill() error {
	record, err := r.records.next()
	if fault := (*recordFault)(nil); errors.As(err, &fault) {
		return r.skip(err)
	}
	switch {
	case err == io.EOF && r.format == nil:
		return fmt.Errorf("read %s: no records in it", r.name)
	case err == io.EOF:
		r.ended = true
		r.ready = r.parser.end()
		return nil
	case err != nil:
		return fmt.Errorf("read %s: %s: %w", r.name, r.records.place(), err)
	}
	if r.format == nil {
		if r.format = detect(record); r.format == nil {
			return fmt.Errorf("read %s: %s: %w: expected %s", r.name, r.records.place(), ErrFormat, formatsInWords())
		}
		r.parser = r.format.parser()
	}
	if r.ready, err = r.parser.add(record); err != nil {
		return r.skip(err)
	}
	return nil
}

// skip counts a record that makes no sense.
func (r *Reader) skip(err error) error {
	what := ErrFormat.Error()
	if r.format != nil {
		what = "expected " + r.format.wants
	}
	err = fmt.Errorf("read %s: %s: %w; %s", r.name, r.records.place(), err, what)
	if r.format == nil || r.records.count() == 1 {
		return err
	}
	if r.skipped++; r.skipped == 1 {
		r.firstFault = err
	}
	return nil
}

type counter struct {
	io.Reader
	n *atomic.Int64
}

func (c counter) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n.Add(int64(n))
	return n, err
}

// recordFault is a fault of one record, after which the next one can be read.
type recordFault struct{ error }

// source cuts a file into records.
type source interface {
	// next returns a record, valid until the next call; io.EOF after the last one.
	next() ([]byte, error)
	// place says where the last record began, for people.
	place() string
	// count is the number of records so far.
	count() int
}

// newSource tells a file of lines from one large JSON array by its first byte.
func newSource(in *bufio.Reader) source {
	for {
		b, err := in.ReadByte()
		switch {
		case err != nil:
			return &lines{in: in}
		case b == ' ' || b == '\t' || b == '\r':
			continue
		}
		in.UnreadByte()
		if b == '[' {
			return &array{in: json.NewDecoder(in)}
		}
		return &lines{in: in}
	}
}

// maxRecord bounds a line, so that a file of something else does not fill the memory.
const maxRecord = 64 << 20

// lines is a file of one JSON value a line.
type lines struct {
	in      *bufio.Reader
	line, n int
	buf     []byte
}

func (l *lines) place() string { return fmt.Sprintf("line %d", l.line) }
func (l *lines) count() int    { return l.n }

func (l *lines) next() ([]byte, error) {
	for {
		if err := l.read(); err != nil {
			return nil, err
		}
		if text := bytes.TrimSpace(l.buf); len(text) > 0 {
			l.n++
			return text, nil
		}
	}
}

// read fills buf with one line. Of a line that is too long the rest is passed over.
func (l *lines) read() error {
	l.buf = l.buf[:0]
	l.line++
	long := false
	for {
		part, err := l.in.ReadSlice('\n')
		if long = long || len(l.buf)+len(part) > maxRecord; !long {
			l.buf = append(l.buf, part...)
		}
		switch {
		case err == bufio.ErrBufferFull:
			continue
		case err == io.EOF && len(l.buf) > 0 || err == nil && !long:
			return nil
		case err == nil:
			l.n++
			return &recordFault{fmt.Errorf("line of more than %d bytes", maxRecord)}
		}
		return err
	}
}

// array is a file that is one JSON array of records.
type array struct {
	in   *json.Decoder
	n    int
	open bool
}

func (a *array) place() string { return fmt.Sprintf("record %d", a.n) }
func (a *array) count() int    { return a.n }

func (a *array) next() ([]byte, error) {
	if !a.open {
		if _, err := a.in.Token(); err != nil {
			return nil, err
		}
		a.open = true
	}
	a.n++
	if !a.in.More() {
		if _, err := a.in.Token(); err != nil {
			return nil, noEOF(err)
		}
		return nil, io.EOF
	}
	var record json.RawMessage
	err := a.in.Decode(&record)
	return record, noEOF(err)
}

// noEOF keeps an array that is cut short from looking complete.
func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
