// Package files reads traces of requests to models as chains of blocks, and writes them.
//
// Every reader streams: of a file, one record and the numbers of all blocks are in memory, and chains that extend an earlier one of their
// conversation share its memory. A file may be packed with gzip or zstd. An error names the line, the field and what is allowed. What a
// file can take is bounded, so that a damaged count cannot take all memory: MostLine bytes a line, MostTokens a request, MostChain blocks
// a chain, MostDistinct blocks and MostHeld block numbers in chains that share nothing.
package files

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"reprise/cmd/reprise-lab/sim/blocks"
	"reprise/cmd/reprise-lab/sim/trace"
	"reprise/internal/traffic"
)

// Format is a file format of block traces.
type Format string

// The formats of block traces.
const (
	// Auto detects one of the others by the first record of the file.
	Auto Format = "auto"
	// Blocks is this package's own: a Header and a Record a line, as JSON. Write writes it.
	Blocks Format = "blocks"
	// Mooncake has a MooncakeRecord a line.
	Mooncake Format = "mooncake"
	// Sessions has a SessionRecord a line: all requests of an agent's session, with the runs of their blocks.
	Sessions Format = "sessions"
	// AgentText has a CallRecord a line: a call of a model with its text, which is cut into blocks of Options.Tokens.
	AgentText Format = "agent-text"
	// Chat has a ChatRecord a line: bodies of chat requests in the order of their arrival, which are cut into blocks. Times are sampled.
	Chat Format = "chat"
	// ShareGPT has recorded conversations; their turns become growing prompts and their times are sampled.
	ShareGPT Format = "sharegpt"
	// OASST has recorded conversations as trees: each turn of a user is a request with the path from the root as its prompt.
	OASST Format = "oasst"
	// SGD has recorded dialogues.
	SGD Format = "sgd"
	// Azure has arrival times and lengths alone, an ArrivalRecord a line. The blocks are generated.
	Azure Format = "azure"
)

var about = []struct {
	format Format
	help   string
}{
	{Auto, "one of the others, by the first record"},
	{Blocks, `our own: a first line {"format":"blocks","block_size":16}, then a request a line: at (seconds), prompt (tokens) and blocks, a list of whole numbers that name its blocks from the first one on, or runs [[first,count],…]; optional are answer (tokens), kind (a name), turn (from 1), session and user (numbers), after (which request it continues, counted from 1)`},
	{Mooncake, "JSON lines with timestamp (ms), input_length, output_length and hash_ids of blocks of 512 tokens"},
	{Sessions, "a session a line: block_size and requests with t (s), in, out, stop, think_time, api_time and hash_rle [[first,count],…]"},
	{AgentText, "JSON lines with timestamp (µs), session_id, input, output: text, cut into chained blocks"},
	{Chat, "a log of chat requests, a body a line in the order of arrival, with messages: cut into chained blocks; times are sampled"},
	{ShareGPT, "recorded conversations, JSON with conversations: turns become growing prompts, times are sampled"},
	{OASST, "recorded trees of messages, OASST1"},
	{SGD, "recorded dialogues, JSON with turns"},
	{Azure, "a table of TIMESTAMP,ContextTokens,GeneratedTokens: arrivals and lengths; blocks are generated"},
}

// Formats lists the formats that Open reads, Auto first.
func Formats() []Format {
	var all []Format
	for _, a := range about {
		all = append(all, a.format)
	}
	return all
}

// Help describes the formats, one a line.
func Help() string {
	var all []string
	for _, a := range about {
		all = append(all, fmt.Sprintf("  %-11s %s", a.format, a.help))
	}
	return strings.Join(all, "\n")
}

func oneOf(all []Format) string {
	var names []string
	for _, f := range all {
		names = append(names, string(f))
	}
	return "one of " + strings.Join(names, ", ")
}

// Options are the choices of a reader. The zero value is ready.
type Options struct {
	Tokens    int     // of a block, 1 to 4096. Default: the size in the file, see Recut, or 16 where it has text or lengths. A token of a text is BytesPerToken
	Think     float64 // mean seconds between an answer and the next turn where times are sampled; default 100 (paper 004 §A4)
	Active    int     // conversations that are active at one time, at most, where their starts are sampled; default 200 (paper 004 §A4)
	Continues float64 // Azure: share of the requests that continue an earlier one, in [0, 1), if one is short enough; default 0.5. -1: none
	Seed      uint64  // of what is sampled or generated
	Unended   bool    // Sessions: requests without a recorded end (neither stop nor api_time) count too

	// Predict sets Request.Prob, the probability that the conversation goes on, of formats with text. The turn and its texts are valid
	// during the call. nil: Prob stays 0. With it a reader of AgentText keeps the texts of the file in memory.
	Predict func(Turn) float32
}

// Turn is what a predictor has of a request.
type Turn struct {
	Prompts []string // of the user in this conversation so far, the oldest first, the current one last
	Answers []string // to all but the last of Prompts; nil: their texts are not known
	Number  int      // of the turn, from 1
	Kind    string   // of the request, from Trace.Kinds
}

// BytesPerToken is the length of a token where a text is cut into blocks.
const BytesPerToken = 4

func (o Options) withDefaults() Options {
	if o.Tokens == 0 {
		o.Tokens = 16
	}
	if o.Think == 0 {
		o.Think = 100
	}
	if o.Active == 0 {
		o.Active = 200
	}
	if o.Continues == 0 {
		o.Continues = 0.5
	}
	return o
}

// Validate reports a field out of its range.
func (o Options) Validate() error {
	switch {
	case o.Tokens < 0 || o.Tokens > mostBlock:
		return fmt.Errorf("block size %d: want 1 to %d tokens, 0 for the default", o.Tokens, mostBlock)
	case !(o.Think >= 0) || math.IsInf(o.Think, 0):
		return fmt.Errorf("think time %g: want a number of seconds from 0", o.Think)
	case o.Active < 0:
		return fmt.Errorf("active conversations %d: want a number from 1, 0 for the default", o.Active)
	case !(o.Continues >= 0 && o.Continues < 1) && o.Continues != -1:
		return fmt.Errorf("share of continuations %g: want 0 to 1, -1 for none", o.Continues)
	}
	return nil
}

// Open reads a file, packed with gzip, zstd or not, into memory.
func Open(path string, f Format, o Options) (*blocks.Trace, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	if !slices.Contains(Formats(), f) {
		return nil, fmt.Errorf("read %s: format %q: want %s", path, f, oneOf(Formats()))
	}
	if f == Auto {
		found, err := Detect(path)
		if err != nil {
			return nil, err
		}
		f = found
	}
	t, err := open(path, f, o)
	if err != nil {
		return nil, err // which names the file
	}
	t.Name = printable(filepath.Base(path))
	return t, nil
}

func open(path string, f Format, o Options) (*blocks.Trace, error) {
	switch f {
	case ShareGPT, OASST, SGD:
		return openTalks(path, f, o)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	t, err := Read(file, f, o)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return t, nil
}

// parser makes requests of the lines of a file. Its errors name the field.
type parser interface {
	line(text []byte) error
	// end is called after the last line.
	end() error
}

// streamed are the formats that Read reads.
var streamed = []Format{Blocks, Mooncake, Sessions, AgentText, Chat, Azure}

var errEmpty = errors.New("no requests in it")

// Read reads a trace from a stream as Open does. The formats of recorded conversations, and Auto, need a file.
func Read(in io.Reader, f Format, o Options) (*blocks.Trace, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	given := o.Tokens
	b := newBuilder(o.withDefaults())
	p := b.parser(f)
	if p == nil {
		return nil, fmt.Errorf("format %q of a stream: want %s", f, oneOf(streamed))
	}
	if err := Lines(in, func(n int, text []byte) error { b.at = n; return p.line(text) }); err != nil {
		return nil, err
	}
	if err := p.end(); err != nil {
		return nil, err
	}
	t, err := b.finish()
	if err != nil || given == 0 {
		return t, err
	}
	return Recut(t, given)
}

func (b *builder) parser(f Format) parser {
	switch f {
	case Blocks:
		return &ownParser{builder: b}
	case Mooncake:
		return &mooncakeParser{builder: b}
	case Sessions:
		return &sessionParser{builder: b}
	case AgentText:
		return &callParser{builder: b}
	case Chat:
		return &chatParser{builder: b}
	case Azure:
		return &azureParser{builder: b}
	}
	return nil
}

// Detect returns the format of a file by its first record. A pipe is refused, because its records could not be read again.
func Detect(path string) (Format, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return "", fmt.Errorf("read %s: no regular file, so that its format cannot be detected: want %s", path, oneOf(streamed))
	}
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	var first []byte
	errFound := errors.New("found")
	err = Lines(file, func(_ int, text []byte) error { first = text; return errFound })
	switch {
	case err == nil:
		return "", fmt.Errorf("read %s: %w", path, errEmpty)
	case !errors.Is(err, errFound):
		return "", fmt.Errorf("read %s: %w", path, err)
	}
	if f, ok := DetectLine(first); ok {
		return f, nil
	}
	if f, err := trace.Detect(path); err == nil && slices.Contains([]Format{ShareGPT, OASST, SGD}, Format(f)) {
		return Format(f), nil
	}
	return "", fmt.Errorf("read %s: %w of block traces: want %s", path, traffic.ErrFormat, oneOf(Formats()[1:]))
}
