package fleet

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"reprise/cmd/reprise-lab/sim/blocks/files"
)

// Formats describes the files that Open reads, for help texts and errors.
const Formats = `  calls      a model call a line, as JSON with its text: timestamp (microseconds), session_id, input, output
  sessions   a session a line, as JSON: block_size (tokens) and requests with t (seconds), in, out (tokens) and hash_rle, the runs of
             their blocks [[first,count],…] as numbers that are local to the session
  blocks     a request a line, as JSON: timestamp (milliseconds), input_length, output_length (tokens) and hash_ids, the numbers of its
             blocks of 512 tokens (Mooncake)
  arrivals   a table of TIMESTAMP,ContextTokens,GeneratedTokens whose requests share nothing (Azure)`

// reader makes requests of the lines of a file. The end of the file is a call of end.
type reader interface {
	line(text []byte) error
	end() (*Trace, error)
}

var errFormat = errors.New("want a file of one of the formats calls, sessions, blocks and arrivals; `reprise-lab fleet --help` describes them")

// Open reads a file, packed with gzip, zstd or not. Its format is detected by the first line. An error names the line and what is allowed.
func Open(path string) (*Trace, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	t, err := read(f)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	t.Name = filepath.Base(path)
	return t, nil
}

func read(in io.Reader) (*Trace, error) {
	var r reader
	err := files.Lines(in, func(_ int, text []byte) error {
		if r == nil {
			if r = detect(text); r == nil {
				return errFormat
			}
		}
		return r.line(text)
	})
	if err == nil && r == nil {
		err = errFormat
	}
	if err != nil {
		return nil, err
	}
	t, err := r.end()
	if err == nil && len(t.Requests) == 0 {
		err = errors.New("it has no requests")
	}
	return t, err
}

// detect returns the reader of the format that a line is in, or nil.
func detect(text []byte) reader {
	switch f, _ := files.DetectLine(text); f {
	case files.Azure:
		return &arrivals{}
	case files.Sessions:
		return &sessions{}
	case files.Mooncake:
		return &hashed{}
	case files.AgentText:
		return &calls{sessions: map[string][]files.CallRecord{}}
	}
	return nil
}

// bySession puts sessions, each in its order, one after the other, by the start of each.
func bySession(sessions [][]Request) (all []Request) {
	slices.SortStableFunc(sessions, func(a, b []Request) int { return cmp.Compare(a[0].At, b[0].At) })
	for _, s := range sessions {
		for i := range s {
			s[i].After, s[i].Next = none, none
			if i > 0 {
				s[i].After = len(all) - 1
			}
			if i < len(s)-1 {
				s[i].Next = len(all) + 1
			}
			all = append(all, s[i])
		}
	}
	return all
}

// Copies returns the trace with each session n times. The prompts of a copy are equal to those of the original up to where all sessions
// are equal, and different after it, as those of another user of the same application.
func (t *Trace) Copies(n int) (*Trace, error) {
	if n == 1 {
		return t, nil
	}
	if !t.Sessions {
		return nil, fmt.Errorf("trace %s has no sessions that could be copied", t.Name)
	}
	all := *t
	all.Requests = make([]Request, 0, n*len(t.Requests))
	shared := t.common()
	for k := range n {
		from := len(all.Requests)
		for _, r := range t.Requests {
			if r.After != none {
				r.After += from
			}
			if r.Next != none {
				r.Next += from
			}
			if k > 0 {
				r.content = &copied{of: r.content, salt: uint64(k), shared: shared}
				r.Key = link(r.Key, uint64(k))
			}
			all.Requests = append(all.Requests, r)
		}
	}
	return &all, nil
}

// commonUnit is the block size by which the common beginning of sessions is found, in tokens.
const commonUnit = 64

// common is how many of the first tokens are equal in all sessions.
func (t *Trace) common() int {
	var first, other []uint64
	for i := range t.Requests {
		if t.Requests[i].After != none {
			continue
		}
		other = t.Requests[i].content.blocks(other[:0], commonUnit)
		if first == nil {
			first = slices.Clone(other)
		}
		n := 0
		for n < len(first) && n < len(other) && first[n] == other[n] {
			n++
		}
		first = first[:n]
	}
	return len(first) * commonUnit
}
