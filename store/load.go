package store

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"reprise/policy"
)

// Open makes a store and fills it from its backing: entries in the order of their last access, then what the policy knew
// of them. Entries whose time has run out are dropped; where the capacity has become smaller, those used longest ago
// are. Damaged records are left out and counted in Stats. After ErrSpace or ErrVersion the data is as it was. Open takes
// over the backing and closes it on an error, too.
func Open(o Options) (*Store, error) {
	if err := o.fill(); err != nil {
		return nil, err
	}
	s := &Store{
		opt: o, ledger: policy.NewLedger(o.Evictor, o.Limit),
		keys: map[Key]*resident{}, ids: map[policy.ID]*resident{}, labels: map[string]string{},
		opened: o.Now(),
	}
	s.persistent, _ = o.Evictor.(policy.Persistent)
	s.base = float64(s.opened.UnixNano()) / 1e9
	if o.Backing == nil {
		rand.Read(s.secret[:])
		return s, nil
	}
	if err := s.load(); err != nil {
		return nil, errors.Join(fmt.Errorf("open store: %w", err), o.Backing.Close())
	}
	return s, nil
}

// load reads the backing and starts the goroutine that writes to it.
func (s *Store) load() error {
	l := newLoader(s.opt.Space)
	report, err := s.opt.Backing.Load(l.add)
	if err != nil {
		return err
	}
	if err := l.checkSpace(report.Name); err != nil {
		return err
	}
	report.Skipped += l.skipped
	report.Kept -= l.skipped
	s.report = report
	s.debts = newDebts()
	if _, err := s.try(func() { s.restore(l) }); err != nil {
		s.opt.OnFault("policy", err)
	}
	s.begin(l)
	return nil
}

// begin tells what the load met, and starts to write unless nothing can be written.
func (s *Store) begin(l *loader) {
	if r := s.report; r.Skipped > 0 || r.Aside != "" {
		s.opt.OnFault("load", fmt.Errorf("%w in %s: %d records kept, %d skipped%s", ErrDamaged, r.Name, r.Kept, r.Skipped, aside(r.Aside)))
	}
	if s.report.ReadOnly {
		s.debts = nil
		s.opt.OnFault("load", fmt.Errorf("%w: %s: serving from memory, changes will be lost", ErrReadOnly, s.report.Name))
		return
	}
	s.flusher = &flusher{syncs: make(chan chan error), stop: make(chan struct{}), done: make(chan struct{})}
	if s.debts.head = l.missing(s.secret); s.debts.head != nil {
		s.flush(idReserve)
	}
	go s.run()
}

func aside(path string) string {
	if path == "" {
		return ""
	}
	return "; the damaged file is now " + path
}

// loader gathers the records of a backing.
type loader struct {
	space    string
	entries  map[policy.ID]*resident
	vectors  map[policy.ID][]float32
	aliases  map[policy.ID][]Key
	states   map[policy.ID]entryState
	topics   []policy.TopicState
	counters counters
	format   *string
	secret   *[32]byte
	skipped  int
}

func newLoader(space string) *loader {
	return &loader{
		space: space, entries: map[policy.ID]*resident{}, vectors: map[policy.ID][]float32{},
		aliases: map[policy.ID][]Key{}, states: map[policy.ID]entryState{},
	}
}

// add takes one record. One that does not decode is skipped; no error ends the load.
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
		space := string(r.Body)
		l.format = &space
	case KindSecret:
		if len(r.Body) != 32 {
			return ErrDamaged
		}
		l.secret = (*[32]byte)(slices.Clone(r.Body))
	case KindCounters:
		l.counters, err = decodeCounters(r.Body)
	case KindEntry:
		var e Entry
		if e, err = decodeEntry(r.ID, r.Body); err == nil {
			l.entries[id] = &resident{Entry: e}
		}
	case KindVector:
		err = decodeInto(l.vectors, id, func() ([]float32, error) { return decodeVector(l.space, r.Body) })
	case KindAliases:
		err = decodeInto(l.aliases, id, func() ([]Key, error) { return decodeAliases(r.Body) })
	case KindState:
		err = decodeInto(l.states, id, func() (entryState, error) { return decodeState(r.Body) })
	case KindTopic:
		var t policy.TopicState
		if t, err = decodeTopic(r.ID, r.Body); err == nil {
			l.topics = append(l.topics, t)
		}
	default:
		return fmt.Errorf("read record of kind %d: %w", r.Kind, ErrDamaged)
	}
	return err
}

func decodeInto[V any](m map[policy.ID]V, id policy.ID, decode func() (V, error)) error {
	v, err := decode()
	if err == nil {
		m[id] = v
	}
	return err
}

func (l *loader) checkSpace(name string) error {
	if l.format == nil || *l.format == l.space {
		return nil
	}
	return fmt.Errorf("%w: %s holds vectors of %q and the embedder makes %q; name another file, or move this one away to start empty",
		ErrSpace, name, *l.format, l.space)
}

// missing are the records that every backing has and this one lacks.
func (l *loader) missing(secret [32]byte) []Record {
	var head []Record
	if l.format == nil {
		head = append(head, Record{KindFormat, 0, []byte(l.space)})
	}
	if l.secret == nil {
		head = append(head, Record{KindSecret, 0, secret[:]})
	}
	return head
}

// restore fills the store with what was read.
func (s *Store) restore(l *loader) {
	s.restoreNumbers(l)
	order := l.order(s.opt.Now(), s.opt.Limit)
	s.restored = make(map[policy.ID][]float32, len(order))
	for _, r := range order {
		s.restoreEntry(r, l)
	}
	for _, r := range order {
		s.restoreAliases(r, l.aliases[r.ID])
	}
	s.restorePolicy(l)
	s.dropOrphans(l)
}

func (s *Store) restoreNumbers(l *loader) {
	if l.secret != nil {
		s.secret = *l.secret
	} else {
		rand.Read(s.secret[:])
	}
	c := l.counters
	s.base, s.seq, s.nextID, s.maxTopic = max(s.base, c.at), c.seq, c.nextID, c.maxTopic
	s.at = s.base
	for id, r := range l.entries {
		r.last = l.states[id].last
		s.seq, s.nextID, s.maxTopic = max(s.seq, r.last), max(s.nextID, id), max(s.maxTopic, r.Topic)
	}
	for _, t := range l.topics {
		s.maxTopic = max(s.maxTopic, t.ID)
	}
	s.written = s.countersLocked()
}

// order chooses the entries that are to live on, last accessed last. Of two with one key the newer stays.
func (l *loader) order(now time.Time, limit policy.Limit) []*resident {
	all := slices.SortedFunc(maps.Values(l.entries), func(a, b *resident) int {
		return cmp.Or(cmp.Compare(b.last, a.last), cmp.Compare(b.ID, a.ID))
	})
	newest := make(map[Key]policy.ID, len(all))
	for _, r := range all {
		newest[r.Key] = max(newest[r.Key], r.ID)
	}
	kept, bytes := all[:0], int64(0)
	for _, r := range all {
		size := r.Footprint(len(l.vectors[r.ID]))
		full := limit.Entries > 0 && len(kept) >= limit.Entries || limit.Bytes > 0 && bytes+size > limit.Bytes
		if full || newest[r.Key] != r.ID || !r.Usable(now) {
			continue
		}
		kept, bytes = append(kept, r), bytes+size
	}
	slices.Reverse(kept)
	return kept
}

func (s *Store) restoreEntry(r *resident, l *loader) {
	s.labelLocked(&r.Entry)
	s.addLocked(r)
	if v := l.vectors[r.ID]; v != nil {
		s.restored[r.ID] = v
	}
	at := policy.Tick{Seq: r.last, At: s.at}
	s.ledger.Insert(r.item(len(l.vectors[r.ID])), at, nil)
}

func (s *Store) restoreAliases(r *resident, keys []Key) {
	for _, k := range keys {
		if s.keys[k] == nil && len(r.aliases) < s.opt.MaxAliases {
			s.addAliasLocked(r, k)
		}
	}
}

func (s *Store) restorePolicy(l *loader) {
	if s.persistent == nil {
		return
	}
	for id := range s.ids {
		if st, ok := l.states[id]; ok && st.policy.ID == id {
			s.persistent.ImportEntry(st.policy)
		}
	}
	for _, t := range l.topics {
		s.persistent.ImportTopic(t)
		if _, ok := s.persistent.ExportTopic(t.ID); !ok {
			s.topicLocked(t.ID) // the policy has no use for it any more: to be deleted
		}
	}
}

// dropOrphans owes the backing the removal of everything that belongs to no entry.
func (s *Store) dropOrphans(l *loader) {
	drop := func(id policy.ID) {
		if s.ids[id] == nil {
			s.noteGoneLocked(id)
		}
	}
	for id := range l.entries {
		drop(id)
	}
	for id := range l.vectors {
		drop(id)
	}
	for id := range l.aliases {
		drop(id)
	}
	for id := range l.states {
		drop(id)
	}
}

// Restored yields the entries that Open found, last accessed last, as copies with their vectors, and then lets go of the
// vectors: a second call yields entries without. Call it before anything else is stored.
func (s *Store) Restored() iter.Seq[*Entry] {
	return func(yield func(*Entry) bool) {
		s.mu.Lock()
		vectors := s.restored
		s.restored = nil
		order := slices.Collect(maps.Values(s.ids))
		s.mu.Unlock()
		slices.SortFunc(order, func(a, b *resident) int {
			return cmp.Or(cmp.Compare(a.last, b.last), cmp.Compare(a.ID, b.ID))
		})
		for _, r := range order {
			e := r.Entry
			e.Vector = vectors[e.ID]
			if !yield(&e) {
				return
			}
		}
	}
}
