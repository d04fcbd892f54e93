// Package trace reads request traces and recorded conversations from files, and the request log that package traffic writes.
//
// Every reader streams: the file is opened each time its requests are read, and only one record is in memory. Files may be
// packed with gzip or zstd, which is detected by their first bytes. If a record of a request trace cannot be parsed, the
// requests before it have been yielded, and the error names the line or record, the field, and what is allowed; the caller
// adds the name of the trace, as sim.Replay does. In a file of conversations such a record is skipped and counted, except
// the first one.
package trace

import (
	"bufio"
	"errors"
	"fmt"
	"iter"
	"os"
	"slices"
	"strings"

	"reprise/cmd/reprise-lab/sim"
	"reprise/internal/traffic"
)

// Format is a file format of traces.
type Format = traffic.Format

// buffer is the size of read buffers: enough to detect a format, and to keep system calls rare.
const buffer = 64 << 10

// The formats of traces and conversations.
const (
	// Auto detects one of the others by the content of the file.
	Auto Format = "auto"
	// IDs has one identity a line: a number or any text.
	IDs Format = "ids"
	// Requests is the request log: one Record a line, as JSON.
	Requests Format = "requests"
	// OracleGeneral is libCacheSim's binary format: records of 24 bytes, little endian: uint32 time in seconds, uint64 id,
	// uint32 size, int64 index of the next access, which is not used.
	OracleGeneral Format = "oracle-general"
	OASST                = traffic.OASST
	SGD                  = traffic.SGD
	ShareGPT             = traffic.ShareGPT
	// Chat is read by traffic.OpenConversations; it is not a trace, see ErrChat.
	Chat = traffic.Chat
)

// parser yields the requests of a file until yield returns false or the file ends. Its errors have the form "place: what".
type parser func(in *bufio.Reader, yield func(sim.Request) bool) error

var parsers = map[Format]parser{IDs: parseIDs, Requests: parseRequests, OracleGeneral: parseOracle}

// Formats lists the formats that Open reads.
func Formats() []Format {
	return []Format{Auto, IDs, Requests, OASST, SGD, ShareGPT, OracleGeneral}
}

// file is the trace of a file in one of the formats of parsers.
type file struct {
	path  string
	parse parser
}

var _ sim.Trace = (*file)(nil)

// Open returns the trace of a file. Auto and the formats of conversations read the first record of the file. The others read
// nothing before Requests is called, but a file that cannot be opened is an error at once.
func Open(path string, f Format) (sim.Trace, error) {
	if f == Auto {
		found, err := Detect(path)
		if err != nil {
			return nil, err
		}
		f = found
	}
	if slices.Contains([]Format{Chat, SGD, ShareGPT, OASST}, f) {
		return openConversations(path, f)
	}
	parse, ok := parsers[f]
	if !ok {
		return nil, fmt.Errorf("format %q: want %s", f, oneOf(Formats()))
	}
	in, err := openFile(path)
	if err != nil {
		return nil, err
	}
	return &file{path, parse}, in.Close()
}

func oneOf(all []Format) string {
	var names []string
	for _, f := range all {
		names = append(names, string(f))
	}
	return "one of " + strings.Join(names, ", ")
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
	in, err := traffic.Unpack(bufio.NewReaderSize(raw, buffer))
	if err != nil {
		return err
	}
	return f.parse(in, yield)
}

// openFile opens a file that can be read several times.
func openFile(path string) (*os.File, error) {
	f, info, err := traffic.OpenStream(path)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("open %s: this is a pipe or a device, and a trace is read more than once: want a file", path)
		return nil, errors.Join(err, f.Close())
	}
	return f, err
}
