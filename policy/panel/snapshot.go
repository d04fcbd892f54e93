package panel

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"reprise/policy"
)

// learner is a policy whose learning can be kept apart from its entries.
type learner interface {
	// snapshot appends what was learned.
	AppendLearned([]byte) []byte
	// parse reads that, all of it, and returns what makes it the learner's own.
	ParseLearned([]byte) (apply func(), err error)
}

// inherit lets e start from what another one of its kind, of another size perhaps, has learned.
func inherit(e, from policy.Evictor) {
	to, ok := e.(learner)
	if !ok {
		return
	}
	if apply, err := to.ParseLearned(from.(learner).AppendLearned(nil)); err == nil {
		apply()
	}
}

const (
	snapshotMagic   = "rac+"
	snapshotVersion = 4
)

// snapshot is magic, version, the unit of the gains, the leader, then for each expert its name, hits, requests and
// learning, and last a check sum over all of it. Numbers are big-endian, texts have their length before them.
func (p *shadows) snapshot() []byte {
	b := append([]byte(snapshotMagic), snapshotVersion)
	b = policy.AppendFloats(b, p.gains.n, p.gains.sum)
	b = append(b, byte(p.lazy.leader), byte(len(p.experts)))
	for i := range p.experts {
		x := &p.experts[i]
		b = policy.AppendText(b, []byte(x.name))
		b = policy.AppendFloats(b, x.hits, x.asked)
		var learned []byte
		if l, ok := x.evictor.(learner); ok {
			learned = l.AppendLearned(nil)
		}
		b = policy.AppendText(b, learned)
	}
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
}

// restore changes nothing unless all of it can be read and it is of the same experts.
func (p *shadows) restore(b []byte) error {
	r, err := openSnapshot(b)
	if err != nil {
		return err
	}
	g := gains{tokens: p.gains.tokens, n: r.Float(), sum: r.Float()}
	leader := int(r.Byte())
	if n := int(r.Byte()); n != len(p.experts) {
		return fmt.Errorf("%w: %d experts, not %d", policy.ErrSnapshot, n, len(p.experts))
	}
	var all []func()
	for i := range p.experts {
		apply, err := p.experts[i].restore(r)
		if err != nil {
			return err
		}
		all = append(all, apply)
	}
	if !r.Done() || g.n < 0 || g.sum < g.n*1e-30 || leader >= len(all) {
		return fmt.Errorf("%w: damaged", policy.ErrSnapshot)
	}
	p.gains = g
	p.lazy.follow(leader)
	for _, apply := range all {
		apply()
	}
	return nil
}

func (x *expert) restore(r *policy.SnapshotReader) (apply func(), err error) {
	name, hits, asked := string(r.Text()), r.Float(), r.Float()
	learned := r.Text()
	if name != x.name {
		return nil, fmt.Errorf("%w: expert %q, not %q", policy.ErrSnapshot, name, x.name)
	}
	if r.Damaged() || hits < 0 || asked < hits {
		return nil, fmt.Errorf("%w: expert %s is damaged", policy.ErrSnapshot, name)
	}
	teach := func() {}
	if l, ok := x.evictor.(learner); ok {
		if teach, err = l.ParseLearned(learned); err != nil {
			return nil, err
		}
	}
	return func() {
		x.hits, x.asked = hits, asked
		teach()
	}, nil
}

func openSnapshot(b []byte) (*policy.SnapshotReader, error) {
	head := len(snapshotMagic) + 1
	if len(b) < head+4 || !bytes.HasPrefix(b, []byte(snapshotMagic)) {
		return nil, fmt.Errorf("%w: none", policy.ErrSnapshot)
	}
	if v := b[head-1]; v != snapshotVersion {
		return nil, fmt.Errorf("%w: version %d, not %d", policy.ErrSnapshot, v, snapshotVersion)
	}
	body, sum := b[:len(b)-4], binary.BigEndian.Uint32(b[len(b)-4:])
	if crc32.ChecksumIEEE(body) != sum {
		return nil, fmt.Errorf("%w: the check sum differs", policy.ErrSnapshot)
	}
	return policy.ReadSnapshot(body[head:]), nil
}
