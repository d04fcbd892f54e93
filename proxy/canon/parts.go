package canon

import (
	"bytes"
	"encoding/json"
	"hash/maphash"
	"math"
)

// parts are the components of the scope of a request, beside its [Identity]. Only requests that miss need them, but a digest costs some
// nanoseconds, so that they are computed for every request.
type parts struct {
	list [mostParts]part
	n    int
	lost bool // the canonical bytes are too many to be taken apart
}

// mostParts is how many parts are kept apart.
const mostParts = 24

// part is a part by a digest of its canonical bytes.
type part struct {
	digest uint32
	at     uint32 // where the name of a member begins in the body, or one of the places below
}

// The places of parts that are no members.
const (
	atPreamble = math.MaxUint32 - iota
	atAsk
	atIgnored
	atRest // the lowest
)

// The names of parts that are no members.
const (
	PartPreamble = "messages-before" // the messages before the first user's
	PartAsk      = "last-message"    // the last ask except its users' text: images, names, system messages
	partIgnored  = "ignored"         // what the operator ignores, when the settings have changed
	PartRest     = "other-fields"    // the members of the body beyond the first ones, by name
)

var partSeed = maphash.MakeSeed()

// EachPart calls f with each part of the scope of r, beside its [Identity]: the members of the body that count, the messages
// before the first user's, and the last ask except its text. Requests of one API with equal identities and parts have equal
// scopes. A digest has 32 bits; equal parts have equal digests within one process only. body is the body of r, which a remembered Request
// may lack. EachPart returns false where the parts are too large to be told apart.
func (r *Request) EachPart(body []byte, f func(name string, digest uint32)) bool {
	for _, p := range r.parts.list[:r.parts.n] {
		switch p.at {
		case atPreamble:
			f(PartPreamble, p.digest)
		case atAsk:
			f(PartAsk, p.digest)
		case atIgnored:
			f(partIgnored, p.digest)
		case atRest:
			f(PartRest, p.digest)
		default:
			f(nameAt(body[p.at:]), p.digest)
		}
	}
	return !r.parts.lost
}

// nameAt is the name with which a part of a strict body begins.
func nameAt(b []byte) (name string) {
	end := 1 + bytes.IndexByte(b[1:], '"')
	if bytes.IndexByte(b[:end], '\\') < 0 {
		return string(b[1:end])
	}
	_ = json.NewDecoder(bytes.NewReader(b)).Decode(&name)
	return name
}

// mark notes that the canonical bytes from start on are a part. What is ignored comes first, then the members, then the other two.
func (p *Reader) mark(start int, at uint32) {
	all := &p.req.parts
	if all.lost = all.lost || p.spill.open; all.lost {
		all.n = 0
		return
	}
	digest := uint32(maphash.Bytes(partSeed, p.buf[start:]))
	const rest = mostParts - 3 // behind it are those two
	if at < atRest && all.n >= rest {
		all.list[rest] = part{all.list[rest].digest*31 + digest, atRest}
		all.n = rest + 1
		return
	}
	all.list[all.n] = part{digest, at}
	all.n++
}
