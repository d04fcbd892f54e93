package files

import (
	"errors"
	"fmt"
	"slices"

	"reprise/cmd/reprise-lab/sim/blocks"
)

// SessionRecord is a line of a file of agent sessions: all requests of one session.
type SessionRecord struct {
	Block    int              `json:"block_size"`    // tokens of a block
	Tools    int              `json:"tool_tokens"`   // of the tools at the start of the prompts
	System   int              `json:"system_tokens"` // of the system prompt after them
	Requests []SessionRequest `json:"requests"`
}

// SessionRequest is a request of a session.
type SessionRequest struct {
	T      float64    `json:"t"`           // seconds after the start of the session
	In     int        `json:"in"`          // tokens of the prompt
	Out    int        `json:"out"`         // tokens of the answer
	Inputs []string   `json:"input_types"` // of the prompt's new part: text, tool_result, …
	Stop   string     `json:"stop"`        // why the answer ended; "": not recorded
	Served *float64   `json:"api_time"`    // seconds from the request to the end of its answer; nil: not recorded
	Think  *float64   `json:"think_time"`  // seconds from the end of the answer before it; nil: not recorded
	Runs   [][2]int64 `json:"hash_rle"`    // first and count of each run of blocks, as numbers of the session. None: calls of a sub-agent, which are not part of this chain
}

// Ended reports whether the end of the answer is recorded.
func (r *SessionRequest) Ended() bool { return r.Stop != "" || r.Served != nil }

// ParseSession reads a line.
func ParseSession(line []byte) (SessionRecord, error) {
	var s SessionRecord
	if err := decode(line, &s); err != nil {
		return s, err
	}
	if s.Block < 1 || s.Block > mostBlock {
		return s, fmt.Errorf("field block_size: %d: want 1 to %d tokens", s.Block, mostBlock)
	}
	if err := errors.Join(checkTokens("tool_tokens", s.Tools, 0), checkTokens("system_tokens", s.System, 0)); err != nil {
		return s, err
	}
	last := 0.0
	for i := range s.Requests {
		r := &s.Requests[i]
		if len(r.Runs) == 0 {
			continue
		}
		if err := r.check(s.Block, last); err != nil {
			return s, fmt.Errorf("request %d: %w", i, err)
		}
		last = r.T
	}
	return s, nil
}

func (r *SessionRequest) check(block int, last float64) error {
	err := errors.Join(checkSeconds("t", r.T, last), checkTokens("in", r.In, 1), checkTokens("out", r.Out, 0),
		checkSeconds("api_time", deref(r.Served), 0), checkSeconds("think_time", deref(r.Think), 0))
	if err != nil {
		return err
	}
	n := 0
	for _, run := range r.Runs {
		if run[1] < 1 || run[1] > MostChain {
			return fmt.Errorf("field hash_rle: a run of %d: want 1 to %d blocks", run[1], MostChain)
		}
		if run[0] < 0 || run[0] > mostLocal {
			return fmt.Errorf("field hash_rle: a run from %d: want 0 to %d", run[0], mostLocal)
		}
		if n += int(run[1]); n > MostChain {
			break
		}
	}
	return checkBlocks("hash_rle", n, r.In, block)
}

// mostLocal bounds the number of a block in its session: with the number of the session it is one of 64 bits.
const mostLocal = 1<<31 - 1

// sessionParser makes a conversation of each session. The file has no times at which sessions began: their starts are sampled.
type sessionParser struct {
	*builder
	sessions uint32
	spans    []span
}

// span is the requests of a session, and how long it is active.
type span struct {
	from, to int // places in the trace
	seconds  float64
}

func (p *sessionParser) line(text []byte) error {
	s, err := ParseSession(text)
	if err != nil {
		return err
	}
	if p.sessions > 0 && s.Block != p.trace.Tokens {
		return fmt.Errorf("field block_size: %d: want %d, as in the lines before", s.Block, p.trace.Tokens)
	}
	p.trace.Tokens = s.Block
	p.sessions++
	from := len(p.trace.Requests)
	var last *SessionRequest
	for i := range s.Requests {
		r := &s.Requests[i]
		if len(r.Runs) == 0 || !r.Ended() && !p.o.Unended {
			continue
		}
		if err := p.request(r, last, i > 0 && last == &s.Requests[i-1], len(p.trace.Requests)-from); err != nil {
			return fmt.Errorf("request %d: %w", i, err)
		}
		last = r
	}
	if last != nil {
		p.spans = append(p.spans, span{from, len(p.trace.Requests), last.T + deref(last.Served) - s.Requests[0].T})
	}
	return nil
}

// request adds a request that follows last, which is the one before it in the session's record or, where others were left out, an
// earlier one. Turn is how many there were.
func (p *sessionParser) request(one, last *SessionRequest, adjoins bool, turn int) error {
	kind, err := p.kind(one.kind())
	if err != nil {
		return err
	}
	r := blocks.Request{At: one.T, Prompt: int32(one.In), Answer: int32(one.Out), Kind: kind, Turn: int32(turn) + 1, Session: p.sessions}
	var parent uint32
	same, rest := 0, one.Runs
	if last != nil {
		r.After = p.next() - 1
		if r.Think = max(0, one.T-last.T-deref(last.Served)); adjoins && one.Think != nil {
			r.Think = *one.Think
		}
		same, rest = commonRuns(last.Runs, one.Runs)
	}
	if same > 0 {
		parent = p.chains[r.After-1].all[same-1] + 1
	}
	return p.add(r, r.After, same, p.number(parent, rest), -1)
}

// number gives numbers to the blocks of runs after the block of number parent-1.
func (p *sessionParser) number(parent uint32, runs [][2]int64) (all []uint32) {
	n := 0
	for _, run := range runs {
		n += int(run[1])
	}
	all = make([]uint32, 0, n)
	for _, run := range runs {
		for id := run[0]; id < run[0]+run[1]; id++ {
			own := uint64(id)
			if parent == 0 { // numbers are local: sessions share nothing
				own |= uint64(p.sessions) << 32
			}
			number := p.numbers.Next(parent, own)
			all = append(all, number)
			parent = number + 1
		}
	}
	return all
}

// commonRuns is how many blocks two chains have in common from their start, and the runs of the second one after them.
func commonRuns(a, b [][2]int64) (same int, rest [][2]int64) {
	var x, y [2]int64 // what is left of the current runs
	for {
		if x[1] == 0 && len(a) > 0 {
			x, a = a[0], a[1:]
		}
		if y[1] == 0 && len(b) > 0 {
			y, b = b[0], b[1:]
		}
		n := min(x[1], y[1])
		if n == 0 || x[0] != y[0] {
			break
		}
		same += int(n)
		x, y = [2]int64{x[0] + n, x[1] - n}, [2]int64{y[0] + n, y[1] - n}
	}
	if y[1] > 0 {
		rest = append(rest, y)
	}
	return same, append(rest, b...)
}

// kind is what the engine has at the arrival: whether the new part of the prompt is the result of a tool or of the user.
func (r *SessionRequest) kind() string {
	switch {
	case slices.Contains(r.Inputs, "tool_result"):
		return "tool_result"
	case slices.Contains(r.Inputs, "text"):
		return "text"
	}
	return "other"
}

func deref(t *float64) float64 {
	if t == nil {
		return 0
	}
	return *t
}

func (p *sessionParser) end() error {
	p.place(p.spans)
	p.note("starts of sessions are sampled")
	return nil
}
