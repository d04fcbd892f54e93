package policy

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
)

// ErrSnapshot is the error of Restore for what no Snapshot of the same policy made.
var ErrSnapshot = errors.New("snapshot of a policy")

// learner is a policy whose learning can be kept apart from its entries.
type learner interface {
	// snapshot appends what was learned.
	snapshot([]byte) []byte
	// parse reads that, all of it, and returns what makes it the learner's own.
	parse([]byte) (apply func(), err error)
}

// inherit lets e start from what another one of its kind, of another size perhaps, has learned.
func inherit(e, from Evictor) {
	to, ok := e.(learner)
	if !ok {
		return
	}
	if apply, err := to.parse(from.(learner).snapshot(nil)); err == nil {
		apply()
	}
}

const (
	snapshotMagic   = "rac+"
	snapshotVersion = 2
)

// snapshot is magic, version, what the gains count, the loyalty, then for each expert its name, score, hits, requests and learning,
// and last a check sum over all of it. Numbers are big-endian, texts have their length before them.
func (p *shadows) snapshot() []byte {
	b := append([]byte(snapshotMagic), snapshotVersion)
	b = appendFloats(b, p.gains.n, p.gains.sum)
	b = appendFloats(b, p.loyalty.score, p.loyalty.margin)
	b = append(b, byte(p.loyalty.leader), byte(len(p.experts)))
	for i := range p.experts {
		x := &p.experts[i]
		b = appendText(b, []byte(x.name))
		b = appendFloats(b, x.score, x.hits, x.asked)
		var learned []byte
		if l, ok := x.evictor.(learner); ok {
			learned = l.snapshot(nil)
		}
		b = appendText(b, learned)
	}
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
}

// restore changes nothing unless all of it can be read and it is of the same experts.
func (p *shadows) restore(b []byte) error {
	r, err := openSnapshot(b)
	if err != nil {
		return err
	}
	g := gains{tokens: p.gains.tokens, n: r.float(), sum: r.float()}
	l := loyalty{step: p.loyalty.step, score: r.float(), margin: r.float(), leader: int(r.byte())}
	if n := int(r.byte()); n != len(p.experts) {
		return fmt.Errorf("%w: %d experts, not %d", ErrSnapshot, n, len(p.experts))
	}
	var all []func()
	for i := range p.experts {
		apply, err := p.experts[i].restore(r)
		if err != nil {
			return err
		}
		all = append(all, apply)
	}
	if r.bad || len(r.left) > 0 || g.n < 0 || g.sum < g.n*1e-30 || !l.valid(len(all)) {
		return fmt.Errorf("%w: damaged", ErrSnapshot)
	}
	p.gains, p.loyalty = g, l
	for _, apply := range all {
		apply()
	}
	return nil
}

func (x *expert) restore(r *snapshotReader) (apply func(), err error) {
	name, score, hits, asked := string(r.text()), r.float(), r.float(), r.float()
	learned := r.text()
	if name != x.name {
		return nil, fmt.Errorf("%w: expert %q, not %q", ErrSnapshot, name, x.name)
	}
	if r.bad || score < 0 || hits < 0 || asked < hits {
		return nil, fmt.Errorf("%w: expert %s is damaged", ErrSnapshot, name)
	}
	teach := func() {}
	if l, ok := x.evictor.(learner); ok {
		if teach, err = l.parse(learned); err != nil {
			return nil, err
		}
	}
	return func() {
		x.score, x.hits, x.asked = score, hits, asked
		teach()
	}, nil
}

func openSnapshot(b []byte) (*snapshotReader, error) {
	head := len(snapshotMagic) + 1
	if len(b) < head+4 || !bytes.HasPrefix(b, []byte(snapshotMagic)) {
		return nil, fmt.Errorf("%w: none", ErrSnapshot)
	}
	if v := b[head-1]; v != snapshotVersion {
		return nil, fmt.Errorf("%w: version %d, not %d", ErrSnapshot, v, snapshotVersion)
	}
	body, sum := b[:len(b)-4], binary.BigEndian.Uint32(b[len(b)-4:])
	if crc32.ChecksumIEEE(body) != sum {
		return nil, fmt.Errorf("%w: the check sum differs", ErrSnapshot)
	}
	return &snapshotReader{left: body[head:]}, nil
}

// snapshotReader reads what the functions below append. Once bad it yields zeros.
type snapshotReader struct {
	left []byte
	bad  bool
}

func (r *snapshotReader) take(n int) []byte {
	if r.bad || n > len(r.left) {
		r.bad = true
		return make([]byte, min(n, 8))
	}
	b := r.left[:n]
	r.left = r.left[n:]
	return b
}

func (r *snapshotReader) byte() byte { return r.take(1)[0] }

// float is a finite number.
func (r *snapshotReader) float() float64 {
	v := math.Float64frombits(binary.BigEndian.Uint64(r.take(8)))
	if math.IsNaN(v) || math.IsInf(v, 0) {
		r.bad = true
		return 0
	}
	return v
}

func (r *snapshotReader) text() []byte {
	n := binary.BigEndian.Uint32(r.take(4))
	return r.take(int(n))
}

func appendFloats(b []byte, all ...float64) []byte {
	for _, v := range all {
		b = binary.BigEndian.AppendUint64(b, math.Float64bits(v))
	}
	return b
}

func appendText(b, text []byte) []byte {
	return append(binary.BigEndian.AppendUint32(b, uint32(len(text))), text...)
}
