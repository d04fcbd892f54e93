package traffic

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
)

// ConversationReader reads the conversations of a file one after the other. It holds one record in memory. A record that
// cannot be parsed is skipped and counted, except the first one: that one is an error, because the file is probably not the
// intended one.
type ConversationReader struct {
	name    string
	input   io.ReadCloser
	total   int64
	read    atomic.Int64 // bytes of the file, before unpacking
	records records
	n       int                 // records read
	format  *conversationFormat // nil before the first record is read
	parser  conversationParser
	ready   []Conversation
	ended   bool

	skipped    int
	firstFault error
}

// OpenConversations opens a file of conversations, packed with gzip, zstd or not, and reads its first record, which decides
// the format. The path "-" is the standard input. The caller closes the reader.
func OpenConversations(path string) (*ConversationReader, error) {
	if path == "-" {
		return NewConversationReader("standard input", os.Stdin, 0)
	}
	f, info, err := OpenStream(path)
	if err != nil {
		return nil, err
	}
	return NewConversationReader(path, f, info.Size())
}

// NewConversationReader reads the first record of input, whose size is total; 0 is not known. It closes input if it returns an error.
func NewConversationReader(name string, input io.ReadCloser, total int64) (*ConversationReader, error) {
	r := &ConversationReader{name: name, input: input, total: total}
	raw := bufio.NewReaderSize(counter{input, &r.read}, 4<<10) // small, so that Progress grows in small steps
	plain, err := Unpack(raw)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("read %s: %w", name, err), input.Close())
	}
	r.records = newRecords(plain)
	if err := r.fill(); err != nil {
		return nil, errors.Join(err, input.Close())
	}
	return r, nil
}

// Format is the format of the file.
func (r *ConversationReader) Format() Format { return r.format.name }

// Title is the format for people, with its layout where there are several.
func (r *ConversationReader) Title() string { return r.format.String() }

// Close closes the file.
func (r *ConversationReader) Close() error { return r.input.Close() }

// Progress returns how many bytes of the file have been read, and its size; 0 is not known. It may be called while another
// goroutine is in Next.
func (r *ConversationReader) Progress() (read, total int64) { return r.read.Load(), r.total }

// Skipped returns the number of records that were skipped, and what was wrong with the first of them.
func (r *ConversationReader) Skipped() (int, error) { return r.skipped, r.firstFault }

// Next returns the next conversation, or io.EOF after the last one. Any other error is final and names the file and the
// line or record.
func (r *ConversationReader) Next() (Conversation, error) {
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
func (r *ConversationReader) fill() error {
	record, err := r.records.next()
	switch {
	case err == errLongLine:
		r.n++
		return r.skip(fmt.Errorf("line of %w", err))
	case err == io.EOF && r.format == nil:
		return fmt.Errorf("read %s: no records in it", r.name)
	case err == io.EOF:
		r.ended = true
		r.ready = r.parser.end()
		return nil
	case err != nil:
		return fmt.Errorf("read %s: %s: %w", r.name, r.records.place(), err)
	}
	r.n++
	if r.format == nil {
		if r.format = detectConversation(record); r.format == nil {
			return fmt.Errorf("read %s: %s: %w: expected %s", r.name, r.records.place(), ErrFormat, describeConversations())
		}
		r.parser = r.format.parser()
	}
	if r.ready, err = r.parser.add(record); err != nil {
		return r.skip(err)
	}
	return nil
}

// skip counts a record that cannot be parsed. It returns the error if that is the first record.
func (r *ConversationReader) skip(err error) error {
	what := ErrFormat.Error()
	if r.format != nil {
		what = "expected " + r.format.wants
	}
	err = fmt.Errorf("read %s: %s: %w; %s", r.name, r.records.place(), err, what)
	if r.format == nil || r.n == 1 {
		return err
	}
	if r.skipped++; r.skipped == 1 {
		r.firstFault = err
	}
	return nil
}

// counter counts the bytes that are read.
type counter struct {
	io.Reader
	n *atomic.Int64
}

func (c counter) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n.Add(int64(n))
	return n, err
}

// OpenStream opens a file, a pipe or a device.
func OpenStream(path string) (*os.File, os.FileInfo, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = fmt.Errorf("open %s: this is a folder: want a file", path)
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, info, nil
}
