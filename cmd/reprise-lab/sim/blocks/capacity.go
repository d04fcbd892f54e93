package blocks

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"reprise/cmd/reprise-lab/sim"
)

// DefaultBytesPerToken is the KV cache of one token of a model with 32 layers, 8 heads of keys and values and 128 dimensions in 16 bits
// (Llama 3.1 8B): 2 × 32 × 8 × 128 × 2 bytes.
const DefaultBytesPerToken = 131072

// Capacity is the size of a block cache, in one of four units.
type Capacity struct {
	Share  float64 // of the distinct blocks of the trace, above 0 up to 1
	Blocks int
	Tokens int64
	Bytes  int64 // of KV cache: Options.BytesPerToken
}

// tokens is the unit of a capacity in tokens, after the number.
const tokens = "tokens"

// ParseCapacity reads "10%" (of the distinct blocks), "2000" (blocks), "64000tokens" or "40GiB".
func ParseCapacity(s string) (Capacity, error) {
	s = strings.TrimSpace(s)
	if number, ok := strings.CutSuffix(s, tokens); ok {
		n, err := strconv.ParseInt(strings.TrimSpace(number), 10, 64)
		if err == nil && n > 0 {
			return Capacity{Tokens: n}, nil
		}
	} else if c, err := sim.ParseCapacity(s); err == nil {
		return Capacity{Share: c.Share, Blocks: c.Entries, Bytes: c.Bytes}, nil
	}
	return Capacity{}, fmt.Errorf(
		"capacity %q: want a share of the distinct blocks as 10%% (above 0, up to 100%%), blocks as 2000, tokens as 64000tokens, or bytes of KV cache as 40GiB (B, KB, KiB, MB, MiB, GB, GiB)", s)
}

// String is in the form that ParseCapacity reads.
func (c Capacity) String() string {
	if c.Tokens != 0 {
		return strconv.FormatInt(c.Tokens, 10) + tokens
	}
	return sim.Capacity{Share: c.Share, Entries: c.Blocks, Bytes: c.Bytes}.String()
}

// Validate returns what is wrong with c.
func (c Capacity) Validate() error {
	if c.Tokens != 0 {
		if c.Tokens < 0 || c.Share != 0 || c.Blocks != 0 || c.Bytes != 0 {
			return fmt.Errorf("capacity %+v: want exactly one positive field", c)
		}
		return nil
	}
	return sim.Capacity{Share: c.Share, Entries: c.Blocks, Bytes: c.Bytes}.Validate()
}

// In is the capacity in blocks for a trace, at least 1.
func (c Capacity) In(t *Trace, bytesPerToken int64) int {
	switch {
	case c.Share != 0:
		return max(1, int(math.Round(c.Share*float64(t.Distinct))))
	case c.Blocks != 0:
		return c.Blocks
	case c.Tokens != 0:
		return max(1, int(c.Tokens/int64(t.Tokens)))
	}
	return max(1, int(c.Bytes/bytesPerToken/int64(t.Tokens)))
}
