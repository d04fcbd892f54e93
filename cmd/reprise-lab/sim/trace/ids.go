package trace

import (
	"bufio"
	"bytes"
	"errors"

	"reprise/cmd/reprise-lab/sim"
	"reprise/internal/traffic"
)

func parseIDs(in *bufio.Reader, yield func(sim.Request) bool) error {
	if err := checkIDs(in); err != nil {
		return err
	}
	return eachLine(in, func(line []byte) (bool, error) {
		return yield(sim.Request{ID: identity(line)}), nil
	})
}

var (
	errProse = errors.New("these lines are prose, and no ids: want one id a line, or another format")
	errRows  = errors.New("these lines have the same number of commas, as rows of a table: want a request log, or one id a line")
)

const (
	fewLines   = 32 // that are looked at
	proseWords = 4  // of a line of prose
)

// checkIDs refuses texts of other kinds, in which every line would be an id of its own and no request would ever repeat: prose, most of
// whose first lines have several words, and rows of a table, which all have the same number of commas.
func checkIDs(in *bufio.Reader) error {
	head, _ := in.Peek(in.Size())
	if end := bytes.LastIndexByte(head, '\n'); end >= 0 {
		head = head[:end]
	}
	seen, prose, commas, rows := 0, 0, 0, true
	for line := range bytes.Lines(bytes.TrimPrefix(head, []byte(traffic.Mark))) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		if len(bytes.Fields(line)) >= proseWords {
			prose++
		}
		n := bytes.Count(line, []byte(","))
		rows = rows && n > 0 && (seen == 0 || n == commas)
		commas = n
		if seen++; seen == fewLines {
			break
		}
	}
	switch {
	case 2*prose > seen:
		return errProse
	case seen > 1 && rows:
		return errRows
	}
	return nil
}
