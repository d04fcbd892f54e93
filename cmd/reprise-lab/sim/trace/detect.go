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

	"reprise/internal/traffic"
)

// Detect returns the format of a file by its first bytes. A file of JSON is a request log, unless the fields of the first
// record are those of a format of conversations, which may also be one array. A file that is not text is libCacheSim's if its
// first records are plausible. Every other text is ids.
func Detect(path string) (Format, error) {
	raw, err := openFile(path)
	if err != nil {
		return "", err
	}
	defer raw.Close()
	in, err := traffic.Unpack(bufio.NewReaderSize(raw, buffer))
	if err != nil {
		return "", fmt.Errorf("read %s: %w", path, err)
	}
	head, err := in.Peek(buffer)
	if len(head) == 0 && err != io.EOF {
		return "", fmt.Errorf("read %s: %w", path, err)
	}
	text := bytes.TrimSpace(bytes.TrimPrefix(head, []byte(traffic.Mark)))
	if len(text) == 0 && err == io.EOF {
		return "", fmt.Errorf("read %s: no requests in it", path)
	}
	f, ok := detect(head)
	if bytes.HasPrefix(text, []byte("[")) || f == Requests {
		switch r, err := traffic.NewConversationReader(path, io.NopCloser(in), 0); {
		case err == nil:
			return r.Format(), nil
		case !errors.Is(err, traffic.ErrFormat):
			return "", err
		}
	}
	if !ok {
		return "", fmt.Errorf("read %s: %w: want %s", path, traffic.ErrFormat, oneOf(Formats()[1:]))
	}
	return f, nil
}

// detect returns the format of a file that begins with head. For JSON that is Requests for an object, and none for an array.
func detect(head []byte) (Format, bool) {
	if !isText(head) {
		return OracleGeneral, isOracle(head)
	}
	text := bytes.TrimSpace(bytes.TrimPrefix(head, []byte(traffic.Mark)))
	switch {
	case len(text) == 0 || text[0] == '[':
		return "", false
	case text[0] == '{':
		return Requests, true
	}
	return IDs, true
}

// isText reports whether head is UTF-8 without control characters. The last character may be incomplete.
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

// isOracle reports whether head begins with records whose times do not decrease and whose next accesses are plausible.
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
