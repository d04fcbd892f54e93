package traffic

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
)

// records cuts a file of JSON into records.
type records interface {
	// next returns a record, valid until the next call, or io.EOF after the last one. After errLongLine the next record can
	// be read; any other error is final.
	next() ([]byte, error)
	// place names the line or the number of the last record, for error messages.
	place() string
}

// newRecords reads one value a line, or one large array, depending on the first byte.
func newRecords(in *bufio.Reader) records {
	SkipMark(in)
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

// array is a file that is one JSON array of records.
type array struct {
	in   *json.Decoder
	n    int // number of the record that next returned last, from 1
	open bool
}

func (a *array) place() string { return fmt.Sprintf("record %d", a.n) }

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
