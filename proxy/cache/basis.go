package cache

import (
	"encoding/binary"
	"hash/fnv"
	"math"

	"reprise/store"
	"reprise/topics/reuse"
	"reprise/topics/reuse/edits"
	"reprise/topics/reuse/evidence"
)

// basis is why a key is an alias of an entry, as the store keeps it: the version of judge and embedder in the first two bytes, the similarity
// in the next two, 0 where the normal forms are equal, and four classes of edits; none with a similarity: meaning. 0 is of a version that
// kept none.
type basis uint64

// refused is the basis of a key that does not lead to its entry: a verdict said that the answer was wrong.
const refused = store.Refused

// versionOf is the version of a basis whose similarities are of a space.
func versionOf(space string) uint16 {
	h := fnv.New64a()
	h.Write(binary.LittleEndian.AppendUint64(nil, reuse.Version))
	h.Write([]byte(space))
	return 1 + uint16(h.Sum64()%(math.MaxUint16-1)) // neither that of 0 nor that of refused
}

// steps are those of a similarity in a basis.
func steps(similarity float64) uint64 { return uint64(max(min(similarity, 1), 0) * math.MaxUint16) }

// newBasis is that of an answer which a verdict found right.
func newBasis(version uint16, by Basis, v *reuse.Verdict, similarity float64) basis {
	b := uint64(version) << 48
	if by != ByForm {
		b |= max(steps(similarity), 1) << 32
	}
	if by == ByEdits {
		for i, class := range v.Case.Edits {
			b |= uint64(class) << (8 * i)
		}
	}
	return basis(b)
}

func (b basis) version() uint16 { return uint16(b >> 48) }
func (b basis) steps() uint64   { return uint64(b>>32) & math.MaxUint16 }

// byForm reports whether it rests on equal forms.
func (b basis) byForm() bool { return b<<16 == 0 }

// fill adds to a case what b says of it.
func (b basis) fill(c *evidence.Case) {
	for class := uint32(b); class != 0; class >>= 8 {
		c.Edits = append(c.Edits, edits.Class(class))
	}
	c.Explained = len(c.Edits) > 0 || b.byForm()
	c.Similarity = float64(b.steps()) / math.MaxUint16
}

// caseOf is the case in which an alias leads r, or a turn of it, to e.
func (l *learner) caseOf(r *Request, b basis, e *store.Entry) evidence.Case {
	c := evidence.Case{Tenant: evidence.ID(e.Tenant), Space: l.meaning.Load().space, Hit: true}
	c.Scope, c.Family = placeOf(r, e)
	b.fill(&c)
	return c
}
