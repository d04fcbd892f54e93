package files

import (
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"reprise/cmd/reprise-lab/sim/blocks"
)

// ArrivalRecord is a row of an Azure trace.
type ArrivalRecord struct {
	At     float64 // seconds since 1970
	Prompt int     // tokens
	Answer int     // tokens
}

// ArrivalHeader is the first row of an Azure trace.
const ArrivalHeader = "TIMESTAMP,ContextTokens,GeneratedTokens"

const arrivalTime = "2006-01-02 15:04:05.9999999"

// arrivalTimes are the forms of a time: those of the traces of 2023 and 2024, and RFC 3339.
var arrivalTimes = []string{arrivalTime, arrivalTime + "Z07:00", time.RFC3339}

func parseArrivalTime(text string) (at time.Time, err error) {
	for _, form := range arrivalTimes {
		if at, err = time.Parse(form, text); err == nil {
			return at, nil
		}
	}
	return at, fmt.Errorf("column TIMESTAMP: %q: want a time like %s or %s", text, arrivalTime, time.RFC3339)
}

// ParseArrival reads a row that is not the first.
func ParseArrival(line []byte) (ArrivalRecord, error) {
	row, err := csv.NewReader(strings.NewReader(string(line))).Read()
	if err != nil {
		return ArrivalRecord{}, err
	}
	if len(row) != 3 {
		return ArrivalRecord{}, fmt.Errorf("%d columns: want %s", len(row), ArrivalHeader)
	}
	at, err := parseArrivalTime(row[0])
	if err != nil {
		return ArrivalRecord{}, err
	}
	r := ArrivalRecord{At: float64(at.UnixMicro()) / 1e6}
	if r.Prompt, err = column("ContextTokens", row[1], 1); err != nil {
		return ArrivalRecord{}, err
	}
	r.Answer, err = column("GeneratedTokens", row[2], 0)
	return r, err
}

func column(name, value string, least int) (int, error) {
	n, err := strconv.Atoi(value)
	if err != nil {
		return 0, fmt.Errorf("column %s: %q: want a number", name, value)
	}
	return n, checkTokens(name, n, least)
}

// azureParser has times and lengths of the file, and generated blocks: a share of the requests continues an earlier one whose prompt and
// answer are shorter than the prompt, drawn among the last ones that were not continued yet; the others share nothing.
type azureParser struct {
	*builder
	begun    bool
	random   *rand.Rand
	open     []int32 // numbers of the last requests that are not continued
	sessions uint32
}

const (
	azureOpen  = 256 // requests that can be continued
	azureDraws = 16  // to find one that is short enough
)

func (p *azureParser) line(text []byte) error {
	if !p.begun {
		p.begun = true
		p.random = rand.New(rand.NewPCG(p.o.Seed, 0x617a757265))
		if string(text) != ArrivalHeader {
			return fmt.Errorf("a first row %.60q: want %s", text, ArrivalHeader)
		}
		return nil
	}
	one, err := ParseArrival(text)
	if err != nil {
		return err
	}
	kind, err := p.kind("request")
	if err != nil {
		return err
	}
	r := blocks.Request{At: one.At, Prompt: int32(one.Prompt), Answer: int32(one.Answer), Kind: kind, Turn: 1}
	p.follow(&r)
	from, same := r.After, 0
	if from > 0 {
		same = len(p.chains[from-1].all)
	} else {
		p.sessions++
		r.Session = p.sessions
	}
	p.open = append(p.open, p.next())
	if len(p.open) > azureOpen {
		p.open = p.open[1:]
	}
	prompt, all := one.Prompt/p.o.Tokens, (one.Prompt+one.Answer)/p.o.Tokens
	if all > MostChain {
		return fmt.Errorf("%d tokens: want at most %d blocks of %d", one.Prompt+one.Answer, MostChain, p.o.Tokens)
	}
	fresh := make([]uint32, all-same)
	for i := range fresh {
		fresh[i] = uint32(p.trace.Distinct)
		p.trace.Distinct++
	}
	return p.add(r, from, same, fresh, prompt)
}

// follow makes a request the continuation of an earlier one, if one is drawn.
func (p *azureParser) follow(r *blocks.Request) {
	if len(p.open) == 0 || p.random.Float64() >= p.o.Continues {
		return
	}
	for range azureDraws {
		at := p.random.IntN(len(p.open))
		number := p.open[at]
		earlier := &p.trace.Requests[number-1]
		if earlier.Prompt+earlier.Answer < r.Prompt && earlier.At <= r.At {
			r.After, r.Turn, r.Session, r.Think = number, earlier.Turn+1, earlier.Session, r.At-earlier.At
			p.open = append(p.open[:at], p.open[at+1:]...)
			return
		}
	}
}

func (p *azureParser) end() error {
	p.epoch = true
	p.note("blocks are generated")
	return nil
}
