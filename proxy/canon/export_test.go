package canon

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
)

// The codes of errors and the limits, for tests.
const (
	CodeJSON, CodeUnicode, CodeDuplicate, CodeCase = codeJSON, codeUnicode, codeDuplicate, codeCase
	CodeDepth, CodeRange, CodeMissing, CodeType    = codeDepth, codeRange, codeMissing, codeType

	MaxIgnored, MaxMessages, MaxPrompt, MaxValues = maxIgnored, maxMessages, maxPrompt, maxValues
)

// IsOdd and Fold are how names in odd letter case are found.
var (
	IsOdd = isOdd
	Fold  = fold
)

// The dumps write a value in one form for every reader of JSON, so that readers can be compared; testdata/dump.js is one
// more.

// DumpString dumps a string.
func DumpString(b *bytes.Buffer, s string) { fmt.Fprintf(b, "s%d:%s", len(s), s) }

// DumpFloat dumps a number.
func DumpFloat(b *bytes.Buffer, f float64) { fmt.Fprintf(b, "d%016x", math.Float64bits(f)) }

// dumpTape dumps what the strict scan read.
func dumpTape(b *bytes.Buffer, d *doc, i uint32) {
	n := d.nodes[i]
	switch n.kind() {
	case null, falsy, truth:
		b.WriteByte("nft"[n.kind()])
	case number:
		f, _ := strconv.ParseFloat(string(d.text(i)), 64)
		DumpFloat(b, f)
	case text:
		DumpString(b, string(d.text(i)))
	case array:
		b.WriteByte('[')
		for j := i + 1; j < n.next(); j = d.nodes[j].next() {
			dumpTape(b, d, j)
		}
		b.WriteByte(']')
	case object:
		b.WriteByte('{')
		for _, name := range d.members(i) {
			dumpTape(b, d, name)
			dumpTape(b, d, name+1)
		}
		b.WriteByte('}')
	}
}

// DumpBody scans body and dumps it; false when it is refused.
func DumpBody(known Names, body []byte) (string, bool) {
	var d scanner
	if d.scan(body) != nil || d.checkNames(known, 0) != nil {
		return "", false
	}
	var b bytes.Buffer
	dumpTape(&b, &d.doc, 0)
	return b.String(), true
}

// WithoutPlaces is r without the places in its body.
func WithoutPlaces(r Request) Request {
	r.Body, r.Segments = nil, nil
	for i := range r.parts.list {
		if p := &r.parts.list[i]; p.at < atRest {
			p.at = 0
		}
	}
	return r
}

// Remembered is how many texts g has found something in, or nothing, and remembers.
func Remembered(g *Ignore) int { return len(g.found.young) + len(g.found.old) }
