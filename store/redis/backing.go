package redis

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
	"unsafe"

	redis "github.com/redis/go-redis/v9"

	"reprise/store"
)

// The body of a record in the server begins with its form. A list of aliases has none: the script that appends changes it.
const (
	formPlain  = 0 // as the store has it
	formRecord = 1 // of an entry, by store.AppendRecord, with the vector
	formVector = 2 // of an entry that had none, as store.VectorIn reads it
)

// backing is the records of a store. It has the same connections as the Shared, and leaves them open.
type backing struct {
	s      *Shared
	member bool // space and secret are those of the head, and are not written
	closed atomic.Bool
}

var _ store.Backing = (*backing)(nil)

// Backing is the records of the entries, for a process that starts, and what the keeper writes of the policy's state. It reports the
// space and the secret that Agree has found. A Load reads all of it, in some hundred round trips; ErrUnreachable is as that of Open.
func (s *Shared) Backing() store.Backing { return &backing{s: s, member: true} }

// Load implements store.Backing.
func (b *backing) Load(fn func(store.Record) error) (r store.Report, err error) {
	r.Name = b.s.Name()
	if b.closed.Load() {
		return r, store.ErrClosed
	}
	l := loading{s: b.s, space: *b.s.space.Load(), fn: fn, report: &r}
	if b.member {
		secret := b.s.Secret()
		if err := errors.Join(fn(store.Record{Kind: store.KindFormat, Body: []byte(l.space)}), fn(store.Record{Kind: store.KindSecret, Body: secret[:]})); err != nil {
			return r, err
		}
	}
	const atOnce = 16
	for _, kind := range []store.Kind{store.KindEntry, store.KindState} {
		for from := uint64(0); from < buckets; from += atOnce {
			if err := l.buckets(kind, from, from+atOnce); err != nil {
				return r, fmt.Errorf("load %s: %w", r.Name, err)
			}
		}
	}
	b.s.link.foreign.Add(int64(r.Skipped))
	return r, nil
}

// loading is a Load in progress.
type loading struct {
	s      *Shared
	space  string
	fn     func(store.Record) error
	report *store.Report
}

// buckets reads some hashes of the shelf of a kind.
func (l *loading) buckets(kind store.Kind, from, to uint64) error {
	ctx := context.Background() // the client bounds each answer
	pipe := l.s.link.client().Pipeline()
	var answers []*redis.Cmd
	for id := from; id < to; id++ {
		answers = append(answers, pipe.Do(ctx, "hgetall", l.s.link.keys.bucket(kind, id)))
	}
	if _, err := pipe.Exec(ctx); err != nil && !redis.HasErrorPrefix(err, "WRONGTYPE") {
		return orUnreachable(l.s.link.seen(err))
	}
	for _, a := range answers {
		pairs, err := a.Slice()
		if err != nil {
			if !redis.HasErrorPrefix(err, "WRONGTYPE") {
				return orUnreachable(l.s.link.seen(err))
			}
			l.report.Skipped++
		}
		for i := 0; i+1 < len(pairs); i += 2 {
			if err := l.record(pairs[i], pairs[i+1]); err != nil {
				return err
			}
		}
	}
	return nil
}

// record passes on what a field of a hash holds, or counts it as damaged.
func (l *loading) record(name, value any) error {
	field, _ := name.(string)
	body, _ := value.(string)
	if len(field) != 9 || body == "" && store.Kind(field[0]) != store.KindAliases {
		l.report.Skipped++
		return nil
	}
	kind, id := store.Kind(field[0]), binary.BigEndian.Uint64([]byte(field[1:]))
	var failed error // of fn
	fn := func(r store.Record) error {
		failed = l.fn(r)
		return failed
	}
	var err error
	switch {
	case kind == store.KindAliases:
		err = fn(store.Record{Kind: kind, ID: id, Body: []byte(body)})
	case body[0] == formPlain:
		err = fn(store.Record{Kind: kind, ID: id, Body: []byte(body[1:])})
	case body[0] == formRecord && kind == store.KindEntry:
		err = store.RecordsIn(id, []byte(body[1:]), l.space, fn)
	case body[0] == formVector && kind == store.KindVector:
		err = store.VectorIn(id, []byte(body[1:]), l.space, fn)
	default:
		err = store.ErrDamaged
	}
	if failed != nil {
		return failed
	}
	if err != nil {
		l.report.Skipped++
	} else {
		l.report.Kept++
	}
	return nil
}

// Write implements store.Backing: one script writes the batch. The state of an entry that another process has removed meanwhile is left out:
// no removal would follow.
func (b *backing) Write(batch *store.Batch) error {
	if b.closed.Load() {
		return store.ErrClosed
	}
	w := writing{keys: &b.s.link.keys, places: map[string]int{}}
	for r := range batch.Deletions() {
		w.add(r.Kind, r.ID, "d", "")
	}
	for _, r := range batch.Put {
		switch body := unsafe.String(unsafe.SliceData(r.Body), len(r.Body)); {
		case b.member && (r.Kind == store.KindFormat || r.Kind == store.KindSecret):
		case b.member && r.Kind == store.KindState:
			w.add(r.Kind, r.ID, "s", "\x00"+body)
		case r.Kind == store.KindAliases:
			w.add(r.Kind, r.ID, "p", body)
		default:
			w.add(r.Kind, r.ID, "p", "\x00"+body)
		}
	}
	if len(w.args) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second) // a stop waits for it
	defer cancel()
	v, err := b.s.link.run(ctx, writeScript, w.names, w.args...)
	if err != nil {
		return fmt.Errorf("write records: %w", err)
	}
	b.s.link.countForeign(fmt.Sprint(v))
	return nil
}

// writing gathers the arguments of writeScript.
type writing struct {
	keys   *keys
	places map[string]int // of hashes among the names
	names  []string
	args   []any
}

func (w *writing) add(kind store.Kind, id uint64, op, body string) {
	name := w.keys.bucket(kind, id)
	at, known := w.places[name]
	if !known {
		w.names = append(w.names, name)
		at = len(w.names)
		w.places[name] = at
	}
	w.args = append(w.args, at, field(kind, id), op, body)
}

// Close implements store.Backing.
func (b *backing) Close() error {
	b.closed.Store(true)
	return nil
}
