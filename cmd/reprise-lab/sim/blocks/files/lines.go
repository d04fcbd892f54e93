package files

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"

	"reprise/internal/traffic"
)

// What a file can have at most.
const (
	MostLine     = 64 << 20 // bytes of a line
	MostTokens   = 16 << 20 // tokens of a request
	MostChain    = 1 << 20  // blocks of a chain
	MostDistinct = 1 << 25  // blocks of a trace; so many, of a damaged file, took 1.3 GB and 5 s until the error
	MostHeld     = 1 << 27  // block numbers in memory: chains of one conversation share theirs
	MostKinds    = 256      // types of requests

	mostBlock   = 4096    // tokens of a block
	mostSeconds = 1 << 40 // of a time
)

// Lines calls f with each line that is not blank, without surrounding white space, and its number from 1. The text is valid during the
// call. The input may be packed with gzip or zstd. An error of f ends the reading and is returned with the number of the line.
func Lines(in io.Reader, f func(n int, text []byte) error) error {
	plain, err := traffic.Unpack(bufio.NewReader(in))
	if err != nil {
		return err
	}
	source := &broken{Reader: plain}
	lines := bufio.NewScanner(source)
	lines.Buffer(nil, MostLine)
	n := 0
	for lines.Scan() {
		n++
		text := bytes.TrimSpace(bytes.TrimPrefix(lines.Bytes(), []byte("\ufeff")))
		if len(text) == 0 {
			continue
		}
		if err := f(n, text); err != nil && source.err != nil {
			return fmt.Errorf("in line %d: %w", n, source.err) // the line ends where the file cannot be read
		} else if err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return fmt.Errorf("line %d: want at most %d bytes", n+1, MostLine)
	} else if err != nil {
		return fmt.Errorf("after line %d: %w", n, err)
	}
	return nil
}

// broken keeps the error that ended a stream.
type broken struct {
	io.Reader
	err error
}

func (b *broken) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if err != nil && err != io.EOF {
		b.err = err
	}
	return n, err
}

// DetectLine returns the format that a line, the first of a file, is in. It finds no format of recorded conversations.
func DetectLine(text []byte) (Format, bool) {
	if bytes.HasPrefix(text, []byte("TIMESTAMP,")) {
		return Azure, true
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(text, &fields) != nil {
		return "", false
	}
	for _, c := range []struct {
		format Format
		fields []string
	}{
		{Blocks, []string{"block_size", "format"}},
		{Mooncake, []string{"hash_ids"}},
		{Sessions, []string{"requests", "block_size"}},
		{AgentText, []string{"input", "session_id"}},
		{Chat, []string{"messages"}},
		{Blocks, []string{"at", "blocks"}},
		{Blocks, []string{"at", "runs"}},
	} {
		all := true
		for _, name := range c.fields {
			_, ok := fields[name]
			all = all && ok
		}
		if all {
			return c.format, true
		}
	}
	return "", false
}

// decode reads a record. Its error names the field and what is allowed.
func decode(text []byte, record any) error {
	err := json.Unmarshal(text, record)
	if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) {
		return fmt.Errorf("field %s: %s: want %s", wrong.Field, wrong.Value, allowed(wrong))
	}
	if err != nil {
		return fmt.Errorf("want a record as JSON: %w", err)
	}
	return nil
}

func allowed(wrong *json.UnmarshalTypeError) string {
	switch name := wrong.Type.Kind().String(); name {
	case "float64":
		return "a number"
	case "int", "int32", "int64":
		return "a whole number"
	case "uint32":
		return "a whole number from 0 to 4294967295"
	case "uint64":
		return "a whole number from 0"
	case "slice", "array":
		return "a list"
	case "struct":
		return "an object"
	default:
		return "a " + name
	}
}

// checkTokens reports a number of tokens out of range.
func checkTokens(field string, n, least int) error {
	if n < least || n > MostTokens {
		return fmt.Errorf("field %s: %d: want %d to %d tokens", field, n, least, MostTokens)
	}
	return nil
}

// checkSeconds reports a time out of range.
func checkSeconds(field string, t, least float64) error {
	if !(t >= least && t <= mostSeconds) {
		return fmt.Errorf("field %s: %g: want %g to %g seconds", field, t, least, math.Trunc(mostSeconds))
	}
	return nil
}

// checkBlocks reports a number of blocks that tokens do not have. The last block may be given though it is not full.
func checkBlocks(field string, n, tokens, unit int) error {
	full := tokens / unit
	most := min((tokens+unit-1)/unit, MostChain)
	if n >= full && n <= most {
		return nil
	}
	if full >= most {
		return fmt.Errorf("field %s: %d blocks: want %d for %d tokens in blocks of %d", field, n, most, tokens, unit)
	}
	return fmt.Errorf("field %s: %d blocks: want %d or %d for %d tokens in blocks of %d", field, n, full, most, tokens, unit)
}
