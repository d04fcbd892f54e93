package fleet

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// hashed reads requests of which the numbers of the blocks are given.
type hashed struct{ all []Request }

// hashedUnit is the size of the blocks of such a file, in tokens.
const hashedUnit = 512

func (h *hashed) line(text []byte) error {
	var one struct {
		Timestamp *float64 `json:"timestamp"` // milliseconds
		Input     int      `json:"input_length"`
		Output    int      `json:"output_length"`
		IDs       []int    `json:"hash_ids"`
	}
	if err := json.Unmarshal(text, &one); err != nil {
		return err
	}
	if one.Timestamp == nil {
		return errors.New("want the field timestamp in milliseconds")
	}
	if err := errors.Join(checkTokens("input_length", one.Input, 1), checkTokens("output_length", one.Output, 0)); err != nil {
		return err
	}
	if want := (one.Input + hashedUnit - 1) / hashedUnit; len(one.IDs) != want {
		return fmt.Errorf("field hash_ids: %d numbers: want %d for %d tokens in blocks of %d", len(one.IDs), want, one.Input, hashedUnit)
	}
	content := &runs{unit: hashedUnit, tokens: one.Input, scaffold: 1}
	for _, id := range one.IDs {
		content.add(id, 1)
	}
	h.all = append(h.all, open(*one.Timestamp/1e3, one.Input, one.Output, content))
	return nil
}

func (h *hashed) end() (*Trace, error) { return &Trace{Requests: inTime(h.all), Unit: hashedUnit}, nil }

// open is a request that follows no other one.
func open(at float64, prompt, answer int, content *runs) Request {
	return Request{At: at, After: none, Next: none, Prompt: prompt, Answer: max(1, answer), Key: content.key(), content: content}
}

func inTime(all []Request) []Request {
	slices.SortStableFunc(all, func(a, b Request) int {
		switch {
		case a.At < b.At:
			return -1
		case a.At > b.At:
			return 1
		}
		return 0
	})
	for i := range all[min(1, len(all)):] {
		all[i+1].At -= all[0].At
	}
	if len(all) > 0 {
		all[0].At = 0
	}
	return all
}

// add appends identities, as one span with the last ones where they go on from them.
func (r *runs) add(first, count int) {
	if n := len(r.list); n > 0 && r.list[n-1].first+r.list[n-1].count == first {
		r.list[n-1].count += count
		return
	}
	r.list = append(r.list, span{first, count})
}

// key is the hash of the whole prompt.
func (r *runs) key() uint64 {
	h := link(r.salt, uint64(r.tokens))
	for _, s := range r.list {
		h = link(link(h, uint64(s.first)), uint64(s.count))
	}
	return h
}

// sessions reads sessions of requests of which runs of blocks are given.
type sessions struct {
	all  [][]Request
	unit int
}

func (s *sessions) line(text []byte) error {
	var one struct {
		Block    int `json:"block_size"`
		Tools    int `json:"tool_tokens"`
		System   int `json:"system_tokens"`
		Requests []struct {
			T    float64  `json:"t"`
			In   int      `json:"in"`
			Out  int      `json:"out"`
			Runs [][2]int `json:"hash_rle"` // none: a group of calls by another program, which is left out
		} `json:"requests"`
	}
	if err := json.Unmarshal(text, &one); err != nil {
		return err
	}
	if s.unit == 0 {
		s.unit = one.Block
	}
	if one.Block != s.unit || s.unit < textUnit || s.unit%textUnit != 0 || s.unit&(s.unit-1) != 0 {
		return fmt.Errorf("field block_size: %d: want a power of two from %d, the same in all lines", one.Block, textUnit)
	}
	var session []Request
	last := 0.0
	for i, r := range one.Requests {
		if len(r.Runs) == 0 {
			continue
		}
		if err := errors.Join(checkTokens("in", r.In, 1), checkTokens("out", r.Out, 0)); err != nil {
			return fmt.Errorf("request %d: %w", i, err)
		}
		content := &runs{salt: uint64(len(s.all) + 1), unit: s.unit, tokens: r.In, scaffold: (one.Tools + one.System) / s.unit}
		for _, run := range r.Runs {
			if run[1] < 1 || run[1] > most {
				return fmt.Errorf("request %d: field hash_rle: a run of %d: want 1 to %d", i, run[1], most)
			}
			content.add(run[0], run[1])
		}
		session = append(session, open(max(0, r.T-last), r.In, r.Out, content))
		last = r.T
	}
	if len(session) > 0 {
		session[0].At = float64(len(s.all)) // the file does not have the times at which sessions began: they keep their order
		s.all = append(s.all, session)
	}
	return nil
}

func (s *sessions) end() (*Trace, error) {
	return &Trace{Requests: bySession(s.all), Sessions: true, Unit: s.unit}, nil
}

// arrivals reads times and lengths alone: no prompt shares anything with another one.
type arrivals struct {
	all   []Request
	begun bool
}

const arrivalTime = "2006-01-02 15:04:05.9999999"

func (a *arrivals) line(text []byte) error {
	if !a.begun {
		a.begun = true
		return nil
	}
	row, err := csv.NewReader(strings.NewReader(string(text))).Read()
	if err != nil {
		return err
	}
	if len(row) != 3 {
		return fmt.Errorf("%d columns: want TIMESTAMP,ContextTokens,GeneratedTokens", len(row))
	}
	at, err := time.Parse(arrivalTime, row[0])
	if err != nil {
		return fmt.Errorf("column TIMESTAMP: %q: want a time like %s", row[0], arrivalTime)
	}
	var tokens [2]int
	for i, name := range []string{"ContextTokens", "GeneratedTokens"} {
		if tokens[i], err = strconv.Atoi(row[i+1]); err != nil {
			return fmt.Errorf("column %s: %q: want a number", name, row[i+1])
		}
		if err = checkTokens(name, tokens[i], 1-i); err != nil {
			return err
		}
	}
	content := &runs{salt: uint64(len(a.all) + 1), unit: commonUnit, tokens: tokens[0]}
	content.add(0, (tokens[0]+commonUnit-1)/commonUnit)
	a.all = append(a.all, open(float64(at.UnixMicro())/1e6, tokens[0], tokens[1], content))
	return nil
}

func (a *arrivals) end() (*Trace, error) {
	return &Trace{Requests: inTime(a.all), Unit: commonUnit}, nil
}
