package align

import (
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"regexp"
)

// Level is how much of a request is written in a canonical way before it is keyed and forwarded.
//
// A model sees the change, and its answers may differ: chat templates render tools and schemas in the order of their members, models
// write the properties of a schema in the order in which it lists them (one whose "reasoning" should come before its "answer" loses
// that), and the order of tools may shift which one is chosen. So a level above [C0] is for an API whose clients write the same things
// in changing order; the report shows where that is so.
type Level uint8

// The levels.
const (
	C0 Level = iota // bytes as the client sent them
	// C2 orders the members of JSON schemas: in the parameters of tools, and in the schema of the answer. Of arrays, only the names in
	// "required" are ordered. Values in enum, const, default and examples stay as they are.
	C2
	// C3 is C2, orders tools by name, and moves those lines of the system prompt that match an expression of the operator behind the
	// others of their text. Both are left out where the client has set breakpoints of the cache: it has arranged the prompt itself. In a
	// conversation, the messages behind a line that has changed are prefilled again all the same: the client does better to put it into its
	// last message.
	C3
)

var levels = map[Level]string{C0: "C0", C2: "C2", C3: "C3"}

func (l Level) String() string { return levels[l] }

// ParseLevel reads the name of a level.
func ParseLevel(s string) (Level, error) {
	for l, name := range levels {
		if s == name {
			return l, nil
		}
	}
	return C0, fmt.Errorf("level %q is not one of C0, C2, C3", s)
}

// Canonicaliser rewrites the bodies of one API. A nil one leaves all as they are. It is safe for concurrent use.
type Canonicaliser struct {
	level    Level
	volatile []*regexp.Regexp
	version  string
}

// NewCanonicaliser returns a Canonicaliser, nil for [C0]. The expressions are used by [C3] only.
func NewCanonicaliser(level Level, volatile []*regexp.Regexp) *Canonicaliser {
	switch level {
	case C2:
		return &Canonicaliser{level: C2, version: "C2.1"}
	case C3:
		h := fnv.New64a()
		for _, r := range volatile {
			fmt.Fprintf(h, "%q", r)
		}
		return &Canonicaliser{level: C3, volatile: volatile, version: "C3.1-" + hex.EncodeToString(h.Sum(nil))}
	}
	return nil
}

// Version names what Apply does: "" for nothing, else the level, a number that changes with this code, and for C3 a digest of the
// expressions. Keys of affinity contain it, because requests under another version have other prefixes.
func (c *Canonicaliser) Version() string {
	if c == nil {
		return ""
	}
	return c.version
}
