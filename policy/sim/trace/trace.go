// Package trace reads request traces from files, and writes the request log.
//
// Every reader streams: a file is opened anew each time its requests are asked for, and of it only a record is in memory.
// Files may be packed with gzip or zstd, which is told by their first bytes. Where a file makes no sense, what came before
// has been yielded, and the error names line or record, field, and what is allowed. Whoever reads the trace puts its name
// before that, as sim.Replay does.
package trace

import (
	"bufio"
	"errors"
	"fmt"
	"iter"
	"os"
	"strings"

	"reprise/policy/sim"
)

// Format is a way to write a trace down.
type Format string

// The formats that Open reads.
const (
	// Auto tells the others by the content of the file.
	Auto Format = "auto"
	// IDs is one identity a line: a number or any text.
	IDs Format = "ids"
	// Requests is the request log: one Record a line, as JSON.
	Requests Format = "requests"
	// OracleGeneral is libCacheSim's binary format: records of 24 bytes, little endian: uint32 time in seconds, uint64 id,
	// uint32 size, int64 index of the next access, which is not used.
	OracleGeneral Format = "oracle-general"
	// CSV is a table whose first row names its columns, in any case and order: id, time (or at), size, cost, topic,
	// conversation, parent, scope, turn, text; others are ignored. A first row that names neither id nor text is a request
	// like the rest, and the columns are time, id, size.
	CSV Format = "csv"
)

// parser yields the requests of a file until yield returns false or the file ends. An error is of the form "place: what".
type parser func(in *bufio.Reader, yield func(sim.Request) bool) error

var parsers = map[Format]parser{IDs: parseIDs, Requests: parseRequests, OracleGeneral: parseOracle, CSV: parseCSV}

// Formats are the names that Open knows.
func Formats() []Format { return []Format{Auto, IDs, Requests, OracleGeneral, CSV} }

type file struct {
	path  string
	parse parser
}

var _ sim.Trace = (*file)(nil)

// Open returns the trace of a file. Auto reads the file's beginning; the other formats leave the first look to Requests,
// but a file that cannot be opened is an error at once.
func Open(path string, f Format) (sim.Trace, error) {
	if f == Auto {
		found, err := Detect(path)
		if err != nil {
			return nil, err
		}
		f = found
	}
	parse, ok := parsers[f]
	if !ok {
		return nil, fmt.Errorf("format %q: want %s", f, inWords(Formats()))
	}
	in, err := openFile(path)
	if err != nil {
		return nil, err
	}
	return &file{path, parse}, in.Close()
}

func inWords(all []Format) string {
	var names []string
	for _, f := range all {
		names = append(names, string(f))
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// Name is the path as it was given.
func (f *file) Name() string { return f.path }

// Requests reads the file from its start.
func (f *file) Requests() iter.Seq2[sim.Request, error] {
	return func(yield func(sim.Request, error) bool) {
		if err := f.read(func(r sim.Request) bool { return yield(r, nil) }); err != nil {
			yield(sim.Request{}, err)
		}
	}
}

func (f *file) read(yield func(sim.Request) bool) error {
	raw, err := openFile(f.path)
	if err != nil {
		return err
	}
	defer raw.Close()
	in, err := Unpack(bufio.NewReaderSize(raw, buffer))
	if err != nil {
		return err
	}
	return f.parse(in, yield)
}

// openFile opens what can be read again and again.
func openFile(path string) (*os.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	switch {
	case err != nil:
	case info.IsDir():
		err = fmt.Errorf("open %s: this is a folder: want a file", path)
	case !info.Mode().IsRegular():
		err = fmt.Errorf("open %s: this is a pipe or a device, and a trace is read more than once: want a file", path)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
