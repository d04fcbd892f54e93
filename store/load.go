package store

import (
	"crypto/rand"
	"errors"
	"fmt"
	"slices"

	"reprise/policy"
)

// Open makes a store and fills it from its backing: entries in the order of their last access, then the state of the policy.
// Entries whose time is over are dropped; where the capacity has become smaller, those used longest ago are dropped too. Damaged
// records are skipped and counted in Stats. After ErrVersion the data is unchanged. Open owns the backing, and closes it on an error, too.
//
// Vectors of another space than Options.Space are left out: their entries are among Lacking.
func Open(o Options) (*Store, error) {
	if err := o.fill(); err != nil {
		return nil, err
	}
	s := &Store{opt: o, clock: newClock(o.Now)}
	s.core = core{opt: &s.opt, table: newTable(), keeper: newKeeper(o.Evictor, o.Limit), nextID: firstID(o.Process), maxTopic: policy.TopicID(firstID(o.Process))}
	s.core.space.Store(&space{o.Space, o.Dim})
	if o.Outside {
		s.core.table.anchors = map[policy.TopicID]policy.ID{}
	}
	if o.Backing == nil {
		secret := newLoader(&space{}).secretOrNew(o.Secret)
		s.secret.Store(&secret)
		return s, nil
	}
	if err := s.load(); err != nil {
		return nil, errors.Join(fmt.Errorf("open store: %w", err), o.Backing.Close())
	}
	return s, nil
}

// load reads the backing, restores the store from it, and starts the writer.
func (s *Store) load() error {
	l := newLoader(s.core.space.Load())
	l.former = s.opt.Former
	report, err := s.opt.Backing.Load(l.add)
	if err != nil {
		return err
	}
	s.core.space.Store(l.space)
	report.Skipped += l.skipped
	report.Kept -= l.skipped
	s.report = report
	s.restore(l)
	return nil
}

// restore fills the store with the records that were read, and starts the writer.
func (s *Store) restore(l *loader) {
	secret := l.secretOrNew(s.opt.Secret)
	s.secret.Store(&secret)
	s.core.dirty = s.core.newDirtySet(0)
	s.core.table.anchors = map[policy.TopicID]policy.ID{}
	s.core.vectors, s.evidence = l.vectors, l.evidence
	s.clock.resume(l.restoreNumbers(&s.core))
	loaded := s.core.counters(s.clock.last())
	if s.report.Aside != "" || s.report.Skipped > 0 { // the count of purges may be lost: go on with a number that it cannot have reached
		s.core.purges.Store(max(s.core.purges.Load(), uint64(s.opt.Now().Unix())))
	}
	lost, err := s.try(func(*events) { l.restore(&s.core, s.opt.Now(), s.clock.last().At) })
	if err != nil {
		s.opt.OnFault("policy", err)
	}
	if s.core.dirty.len() > 0 {
		s.core.dirty.since = s.opt.Now()
	}
	if l.unlearned != nil {
		s.core.faults++
		s.opt.OnFault("policy", l.unlearned)
	}
	s.dropped = append(l.dropped, lost...)
	s.begin(l, loaded)
}

// begin reports what the load found, and starts the writer unless the backing is read-only.
func (s *Store) begin(l *loader, loaded counters) {
	if r := s.report; r.Skipped > 0 || r.Aside != "" {
		s.opt.OnFault("load", fmt.Errorf("%w in %s: %d records kept, %d skipped%s", ErrDamaged, r.Name, r.Kept, r.Skipped, aside(r.Aside)))
	}
	if why := s.report.ReadOnly; why != nil {
		s.core.dirty = nil
		s.opt.OnFault("load", fmt.Errorf("%w: %s: serving from memory, changes will be lost: %w", ErrReadOnly, s.report.Name, why))
		return
	}
	s.writer = newWriter(s)
	s.writer.written, s.writer.maxTopic, s.writer.learned, s.writer.counted = loaded, loaded.maxTopic, l.taken, l.evidence
	s.core.kept.Store(l.counters.purges)
	if !s.opt.Outside { // with Outside the processes have agreed on space and secret before
		s.core.dirty.head = l.missing(s.Secret())
	}
	if s.core.dirty.head != nil {
		s.writer.flush(idReserve, false)
	}
	go s.writer.run()
}

func aside(path string) string {
	if path == "" {
		return ""
	}
	return "; the damaged file is now " + path
}

// loader gathers the records of a backing.
type loader struct {
	space     *space
	former    Former
	entries   map[policy.ID]*resident
	vectors   map[policy.ID][]float32
	aliases   map[policy.ID][]alias
	states    map[policy.ID]entryState
	topics    []policy.TopicState
	counters  counters
	format    *string
	secret    *[32]byte
	labels    map[string]string // one copy of each label
	learned   []byte            // the snapshot of the policy
	taken     []byte            // the same, once the policy has restored it
	unlearned error             // why the policy could not restore it
	evidence  []byte
	dropped   []Event // entries that were found and dropped
	skipped   int
}

func newLoader(of *space) *loader {
	return &loader{
		space: of, entries: map[policy.ID]*resident{}, vectors: map[policy.ID][]float32{},
		aliases: map[policy.ID][]alias{}, states: map[policy.ID]entryState{}, labels: map[string]string{},
	}
}

// label returns the one copy of a label: all entries of a file together have few.
func (l *loader) label(b []byte) string {
	s, ok := l.labels[string(b)]
	if !ok {
		s = string(b)
		if len(l.labels) < maxLabels {
			l.labels[s] = s
		}
	}
	return s
}

// add adds one record. One that does not decode is skipped; no error ends the load.
func (l *loader) add(r Record) error {
	if err := l.decode(r); err != nil {
		l.skipped++
	}
	return nil
}

func (l *loader) decode(r Record) (err error) {
	id := policy.ID(r.ID)
	switch r.Kind {
	case KindFormat:
		l.named(string(r.Body))
	case KindSecret:
		if len(r.Body) != 32 {
			return ErrDamaged
		}
		l.secret = (*[32]byte)(slices.Clone(r.Body))
	case KindCounters:
		return decode("counters", r.Body, func(c *codec) { c.counters(&l.counters) })
	case KindEntry:
		e := Entry{ID: id}
		if err = decode("entry", r.Body, func(c *codec) { c.labels = l.label; c.entry(&e) }); err == nil {
			l.entries[id] = compact(&e)
		}
	case KindVector:
		var v []float32
		if v, err = decodeVector(l.space.name, r.Body); v != nil {
			l.vectors[id] = v
		}
	case KindAliases:
		var all []alias
		if err = decode("aliases", r.Body, func(c *codec) { c.aliases(&all) }); err == nil {
			l.aliases[id] = all
		}
	case KindState:
		var st entryState
		if err = decode("state", r.Body, func(c *codec) { c.state(&st) }); err == nil {
			l.states[id] = st
		}
	case KindTopic:
		t := policy.TopicState{ID: policy.TopicID(r.ID)}
		if err = decode("topic", r.Body, func(c *codec) { c.topic(&t) }); err == nil {
			l.topics = append(l.topics, t)
		}
	case KindLearned:
		l.learned = slices.Clone(r.Body)
	case KindEvidence:
		l.evidence = slices.Clone(r.Body)
	default:
		return fmt.Errorf("read record of kind %d: %w", r.Kind, ErrDamaged)
	}
	return err
}

// named notes the space that the backing names in its first record, and asks Options.Former about it.
func (l *loader) named(name string) {
	l.format = &name
	if l.space.name == "" && l.former != nil {
		if same, dim := l.former.Former(name); same != "" {
			l.space = &space{same, dim}
		}
	}
}

// secretOrNew returns the secret that is given, else the one that was read, else a new one.
func (l *loader) secretOrNew(given [32]byte) [32]byte {
	if given == ([32]byte{}) && l.secret != nil {
		return *l.secret
	}
	if given == ([32]byte{}) {
		rand.Read(given[:])
	}
	return given
}

// missing returns the records that every backing must have and this one lacks. The format record names the space of the last embedder; each
// vector has the mark of its own space.
func (l *loader) missing(secret [32]byte) []Record {
	var head []Record
	if known := l.space.name != "" || l.former == nil; known && (l.format == nil || *l.format != l.space.name) {
		head = append(head, l.space.record())
	}
	if l.secret == nil {
		head = append(head, Record{KindSecret, 0, secret[:]})
	}
	return head
}

// space is the vector space of the embedder.
type space struct {
	name string // "" until it is known, see Options.Former
	dim  int
}

func (s *space) record() Record { return Record{KindFormat, 0, []byte(s.name)} }
