package files

import (
	"bufio"
	"encoding/json"
	"io"

	"reprise/cmd/reprise-lab/sim/blocks"
)

// Write writes a trace in format Blocks. What Read makes of it is equal to t.
func Write(w io.Writer, t *blocks.Trace) error {
	out := bufio.NewWriter(w)
	lines := json.NewEncoder(out)
	lines.SetEscapeHTML(false)
	err := lines.Encode(Header{Blocks, t.Tokens, t.Name, t.Kinds, t.Distinct, t.Generated, t.Note})
	var line Record
	for i := range t.Requests {
		if err != nil {
			return err
		}
		r := &t.Requests[i]
		line = Record{At: &r.At, Prompt: int(r.Prompt), Answer: int(r.Answer), Blocks: line.Blocks[:0], Runs: line.Runs[:0], Filled: line.Filled[:0],
			Kind: t.Kinds[r.Kind], Turn: int(r.Turn), Session: r.Session, User: r.User, After: r.After, Think: r.Think, GoesOn: r.GoesOn, Prob: r.Prob}
		line.chain(r)
		err = lines.Encode(&line)
	}
	if err != nil {
		return err
	}
	return out.Flush()
}

// chain sets the blocks of a request, as runs where these are shorter.
func (line *Record) chain(r *blocks.Request) {
	for i, b := range r.Blocks {
		if i > 0 && b == r.Blocks[i-1]+1 {
			line.Runs[len(line.Runs)-1][1]++
			continue
		}
		line.Runs = append(line.Runs, [2]uint64{uint64(b), 1})
	}
	if 2*len(line.Runs) >= len(r.Blocks) {
		line.Runs = line.Runs[:0]
		for _, b := range r.Blocks {
			line.Blocks = append(line.Blocks, uint64(b))
		}
	}
	for _, b := range r.Filled {
		line.Filled = append(line.Filled, uint64(b))
	}
}
