package trace

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"reprise/cmd/reprise-lab/sim"
	"reprise/internal/traffic"
)

// column is the name of a traffic.Record's field.
type column string

// columns are the names that a header may have, in lower case.
var columns = map[string]column{
	"id": "id", "obj_id": "id", "object_id": "id", "objid": "id", "key": "id",
	"at": "at", "time": "at", "timestamp": "at", "clock_time": "at",
	"size": "size", "obj_size": "size", "object_size": "size", "bytes": "size",
	"cost": "cost", "tokens": "cost",
	"topic": "topic", "conversation": "conversation", "session": "conversation", "session_id": "conversation",
	"parent": "parent", "parent_id": "parent", "scope": "scope", "tenant": "scope", "turn": "turn",
	"text": "text", "prompt": "text",
}

// layout is the order of the columns.
type layout struct {
	columns []column
	least   int  // fields of a row
	more    bool // fields beyond the columns are ignored
}

// headless is the layout of a file without a header.
var headless = layout{[]column{"at", "id", "size"}, 2, true}

// maxRow bounds the memory that a row takes.
const maxRow = 64 << 20

func parseCSV(in *bufio.Reader, yield func(sim.Request) bool) error {
	traffic.SkipMark(in)
	bound := &bounded{in: in, left: maxRow}
	rows := csv.NewReader(bound)
	rows.ReuseRecord = true
	rows.FieldsPerRecord = -1 // parse has a better error
	var head *layout
	for ; ; bound.left = maxRow {
		row, err := rows.Read()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return csvFault(rows, err)
		}
		if head == nil {
			named := false
			if head, named = header(row); named {
				continue
			}
		}
		line, _ := rows.FieldPos(0)
		request, err := head.parse(row)
		if err != nil {
			return fmt.Errorf("line %d: %w", line, err)
		}
		if !yield(request) {
			return nil
		}
	}
}

// bounded reads at most left bytes: a quote that is never closed makes one row of the rest of the file.
type bounded struct {
	in   io.Reader
	left int
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, fmt.Errorf("a row of more than %d bytes: is a quote not closed?", maxRow)
	}
	n, err := b.in.Read(p)
	b.left -= n
	return n, err
}

// csvFault puts the place before the fault. A read error has no line; its place is the number of bytes that were read.
func csvFault(rows *csv.Reader, err error) error {
	if fault := (*csv.ParseError)(nil); errors.As(err, &fault) {
		return fmt.Errorf("line %d, column %d: %w", fault.Line, fault.Column, fault.Err)
	}
	return fmt.Errorf("after byte %d: %w", rows.InputOffset(), err)
}

// header returns the layout of the first row. The row names columns if one of them is an id or a text.
func header(row []string) (head *layout, named bool) {
	head = &layout{least: len(row)}
	for _, name := range row {
		c := columns[strings.ToLower(strings.TrimSpace(name))]
		named = named || c == "id" || c == "text"
		head.columns = append(head.columns, c)
	}
	if !named {
		return &headless, false
	}
	return head, true
}

func (l *layout) parse(row []string) (sim.Request, error) {
	if len(row) < l.least || len(row) > len(l.columns) && !l.more {
		return sim.Request{}, fmt.Errorf("%d fields, want %d", len(row), l.least)
	}
	var r traffic.Record
	for i, c := range l.columns[:min(len(l.columns), len(row))] {
		if err := set(&r, c, strings.TrimSpace(row[i])); err != nil {
			return sim.Request{}, err
		}
	}
	if err := r.Check(); err != nil {
		return sim.Request{}, err
	}
	return RequestOf(&r)
}

// set sets a field of r from text. An empty value leaves it unset.
func set(r *traffic.Record, c column, value string) (err error) {
	if value == "" {
		return nil
	}
	switch c {
	case "id":
		r.ID = traffic.Label(value)
	case "topic":
		r.Topic = traffic.Label(value)
	case "conversation":
		r.Conversation = traffic.Label(value)
	case "parent":
		r.Parent = traffic.Label(value)
	case "scope":
		r.Scope = traffic.Label(value)
	case "text":
		r.Text = value
	case "at":
		r.At, err = strconv.ParseFloat(value, 64)
	case "cost":
		r.Cost, err = strconv.ParseFloat(value, 64)
	case "size":
		r.Size, err = strconv.ParseInt(value, 10, 64)
	case "turn":
		var n int64
		n, err = strconv.ParseInt(value, 10, 32)
		r.Turn = int32(n)
	}
	if err != nil {
		return traffic.WrongField(string(c), strconv.Quote(value))
	}
	return nil
}
