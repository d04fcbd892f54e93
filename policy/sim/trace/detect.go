package trace

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"unicode/utf8"
)

// ErrFormat is wrapped by the error for a file that looks like none of the formats.
var ErrFormat = errors.New("no known format")

// Detect tells the format of a file by its first bytes: an object of JSON is a request log; what is no text, records of
// libCacheSim if their times and sizes can be; a first line with commas is CSV if it names columns or has a number, an id
// and no third one that is no number; all other text is ids. A JSON array is none of them.
func Detect(path string) (Format, error) {
	raw, err := openFile(path)
	if err != nil {
		return "", err
	}
	defer raw.Close()
	in, err := Unpack(bufio.NewReaderSize(raw, buffer))
	if err != nil {
		return "", fmt.Errorf("read %s: %w", path, err)
	}
	head, err := in.Peek(buffer)
	switch {
	case len(head) == 0 && err == io.EOF:
		return "", fmt.Errorf("read %s: no requests in it", path)
	case len(head) == 0:
		return "", fmt.Errorf("read %s: %w", path, err)
	}
	f, ok := detect(head)
	if !ok {
		return "", fmt.Errorf("read %s: %w: want %s", path, ErrFormat, inWords(Formats()[1:]))
	}
	return f, nil
}

func detect(head []byte) (Format, bool) {
	if !isText(head) {
		return OracleGeneral, isOracle(head)
	}
	text := bytes.TrimSpace(bytes.TrimPrefix(head, mark))
	switch {
	case len(text) == 0 || text[0] == '[':
		return "", false
	case text[0] == '{':
		return Requests, true
	case isCSV(text):
		return CSV, true
	}
	return IDs, true
}

// isText reports whether head is UTF-8 without control characters, but for a last one that may be cut.
func isText(head []byte) bool {
	for i := 0; i < len(head); {
		r, n := utf8.DecodeRune(head[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			return len(head)-i < utf8.UTFMax && !utf8.FullRune(head[i:])
		case r < ' ' && !strings.ContainsRune("\t\n\v\f\r", r):
			return false
		}
		i += n
	}
	return true
}

// isOracle reports whether head begins with records whose times do not go back and whose next accesses can be.
func isOracle(head []byte) bool {
	var last uint32
	n := 0
	for ; len(head) >= oracleRecord; head = head[oracleRecord:] {
		at, next := binary.LittleEndian.Uint32(head), int64(binary.LittleEndian.Uint64(head[16:]))
		if at < last || next < -2 || next > 1<<48 && next != math.MaxInt64 {
			return false
		}
		last = at
		n++
	}
	return n > 0
}

func isCSV(text []byte) bool {
	line, _, _ := bytes.Cut(text, []byte("\n"))
	var row []string
	for f := range strings.SplitSeq(string(line), ",") {
		row = append(row, strings.Trim(strings.TrimSpace(f), `"`))
	}
	if len(row) == 1 {
		return columns[strings.ToLower(row[0])] == "id"
	}
	if _, named := header(row); named {
		return true
	}
	_, err := headless.parse(row)
	return err == nil
}
