// Package file keeps the records of a store in one file, by bbolt.
//
// bbolt writes a batch whole or not at all, also when the process is killed, but it does not check what it reads. So each
// record carries a checksum, and Open checks every page before bbolt sees the file. A record that does not check is
// skipped and counted. A file whose structure or tombstones do not check is moved aside whole and the store starts empty:
// nothing is searched for in it, because a search finds purged answers too. The list of free pages is not kept in the
// file but computed by each Open.
//
// Damage in one place never undoes a purge. What it could do, and what prevents it:
//
//   - bbolt has two meta pages and writes them in turns; where the later one is damaged it goes back to the other, and so
//     to the state before the last batch. Both must check and belong to successive batches, or the file is moved aside.
//     A kill cannot cause this: the 80 bytes of a meta are written at once, into one page of the kernel's cache and one
//     sector of the disk.
//   - A damaged page number can lead to a former version of a page, with entries deleted since. See kindTombstones. It
//     lacks the records written since, which nothing reports: they are misses.
//
// A disk that reports a write as done and never does it leaves an older file that checks; nothing in the file shows it.
//
// More files may lie beside that of a store at path, and belong to it: a backup or a move takes them along.
//
//	path.purged        purges that bbolt could not write, as on a full disk; see journal.go. Otherwise empty space, taken in advance
//	path.compacting    the copy that Open makes of a file that is mostly free; see compact.go
//	path.damaged-TIME  a file that was moved aside. The next purge removes it
//
// Where the file is moved away while it is in use, what takes its place is left alone: it may be the store of another process.
//
// What a purge has deleted is overwritten after it, see tidy.go, and a file that is mostly free becomes shorter when it is opened. Earlier
// versions kept indexes in path.graph, which named what they were made from; Open removes it.
package file

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"os"
	"runtime/debug"
	"slices"

	"go.etcd.io/bbolt"

	"reprise/store"
)

// ErrForeign is a file that no version of this program can have written. It is left as it is.
var ErrForeign = errors.New("not a file of this program")

// File is a store.Backing in one file.
type File struct {
	db      *bbolt.DB   // nil for a damaged file that cannot be moved aside
	held    *os.File    // the file that db has open
	is      os.FileInfo // of it, to recognise it by
	options bbolt.Options
	report  store.Report
	dead    tombstones // as the file has them
	evicted evictions
	bad     []badRecord // what Load left out: the first Write deletes it
	broken  error       // after a panic in bbolt: its locks may never be released
	journal journal
	tidy    tidying
}

// badRecord is where a record lies that Load left out. Its key may be damaged, too.
type badRecord struct{ bucket, key []byte }

var _ store.Backing = (*File)(nil)

// Load implements store.Backing.
func (f *File) Load(fn func(store.Record) error) (store.Report, error) {
	if f.db == nil {
		return f.report, nil
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	err := f.view(func(tx *bbolt.Tx) error { return f.loadBuckets(tx, fn) })
	if errors.Is(err, errPanic) { // a part of the file cannot be read: serve what was, and write nothing
		f.broken, f.report.ReadOnly, err = err, err, nil
		f.report.Skipped++
	}
	if err != nil {
		err = advise("read", f.report.Name, err)
	}
	return f.report, err
}

// errPanic is what a panic in bbolt becomes.
var errPanic = errors.New("bbolt stopped")

func (f *File) view(fn func(*bbolt.Tx) error) (err error) {
	defer guard(&err, errPanic)
	return f.db.View(fn)
}

func (f *File) loadBuckets(tx *bbolt.Tx, fn func(store.Record) error) error {
	for _, k := range store.Kinds() {
		b := tx.Bucket(bucketOf(k))
		if b == nil {
			continue
		}
		if err := b.ForEach(func(key, value []byte) error { return f.loadOne(k, key, value, fn) }); err != nil {
			return err
		}
	}
	return nil
}

func (f *File) loadOne(k store.Kind, key, value []byte, fn func(store.Record) error) error {
	if len(key) == 8 && (f.evicted.holds(k, idOf(key)) || k == store.KindEntry && f.journal.has(idOf(key))) {
		return nil
	}
	body, err := readRecord(k, key, value)
	if errors.Is(err, store.ErrVersion) {
		return err
	}
	if err != nil || k == store.KindEntry && f.dead.has(idOf(key)) {
		f.report.Skipped++
		f.bad = append(f.bad, badRecord{bucketOf(k), bytes.Clone(key)})
		return nil
	}
	if k == store.KindEntry {
		f.evicted.found(idOf(key), len(body))
	}
	f.report.Kept++
	return fn(store.Record{Kind: k, ID: idOf(key), Body: body})
}

// Write implements store.Backing. It returns when the disk has the batch.
func (f *File) Write(b *store.Batch) error {
	switch {
	case f.broken != nil:
		return fmt.Errorf("write %s: %w", f.report.Name, f.broken)
	case f.report.ReadOnly != nil:
		return fmt.Errorf("write %s: %w: %w", f.report.Name, store.ErrReadOnly, f.report.ReadOnly)
	}
	err := f.commit(b)
	if err != nil && f.broken == nil && b.Purged && f.inPlace() == nil && f.journal.add(purgedIn(b)) == nil {
		f.tidy.removeAsides(f.report.Name)
		return nil // bbolt deletes them later: see Tidy, which reports why it could not
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", f.report.Name, cause(f.report.Name, err))
	}
	return nil
}

func purgedIn(b *store.Batch) (ids []uint64) {
	for _, r := range b.Delete {
		if r.Kind == store.KindEntry {
			ids = append(ids, r.ID)
		}
	}
	return ids
}

// commit lets bbolt write a batch, and delete what the journal still has.
func (f *File) commit(b *store.Batch) error {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	var p plan
	err := f.update(func(tx *bbolt.Tx) error {
		p = f.plan(b)
		if err := f.deleteBad(tx); err != nil {
			return err
		}
		return writeBatch(tx, p.Batch, p.own())
	})
	if errors.Is(err, errPanic) {
		f.broken = err
	}
	if err != nil {
		return err
	}
	maps.Copy(f.dead, p.dead)
	f.evicted.done(&p)
	f.bad = nil
	f.journal.empty()
	f.committed(p.Batch)
	return nil
}

func (f *File) update(fn func(*bbolt.Tx) error) (err error) {
	defer guard(&err, errPanic)
	return f.db.Update(fn)
}

func (f *File) deleteBad(tx *bbolt.Tx) error {
	for _, r := range f.bad {
		if err := tx.Bucket(r.bucket).Delete(r.key); err != nil {
			return err
		}
	}
	return nil
}

// writeBatch puts a batch into a transaction, with records of the file's own.
func writeBatch(tx *bbolt.Tx, b *store.Batch, own []store.Record) error {
	for _, r := range b.Delete {
		if in := tx.Bucket(bucketOf(r.Kind)); in != nil {
			if err := in.Delete(keyOf(r.ID)); err != nil {
				return err
			}
		}
	}
	return putAll(tx, append(own, b.Put...))
}

// putAll writes records in the order of their keys, so that one after the other goes to the same page or the next.
func putAll(tx *bbolt.Tx, records []store.Record) error {
	slices.SortFunc(records, func(a, b store.Record) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID))
	})
	var in *bbolt.Bucket
	for i, r := range records {
		var err error
		if i == 0 || r.Kind != records[i-1].Kind {
			if in, err = bucketFor(tx, r.Kind); err != nil {
				return err
			}
		}
		fr := frame{kind: r.Kind, id: r.ID, body: r.Body}
		if err := in.Put(keyOf(r.ID), fr.append(nil)); err != nil {
			return err
		}
	}
	return nil
}

// bucketFor is the bucket that records of a kind are put into. A file of an older version has none for kinds that came later.
func bucketFor(tx *bbolt.Tx, k store.Kind) (*bbolt.Bucket, error) {
	if !known(k) {
		return nil, fmt.Errorf("write record of kind %d: %w", k, store.ErrDamaged)
	}
	b, err := tx.CreateBucketIfNotExists(bucketOf(k))
	if err == nil {
		b.FillPercent = 0.9 // ids grow: most insertions are at the end
	}
	return b, err
}

// errMoved says that the path of the store names no file, or another one than this process has open. That may be the store of another
// process, which nothing of this one must touch.
var errMoved = errors.New("the file was moved away while it was in use")

// inPlace returns errMoved unless the path still names the store's file.
func (f *File) inPlace() error {
	if named, err := os.Stat(f.report.Name); err != nil || !os.SameFile(f.is, named) {
		return errMoved
	}
	return nil
}

func known(k store.Kind) bool {
	return k == kindTombstones || k == kindEvicted || k > 0 && int(k) <= len(store.Kinds())
}

func bucketOf(k store.Kind) []byte { return []byte{byte(k)} }

func keyOf(id uint64) []byte { return binary.BigEndian.AppendUint64(nil, id) }

func idOf(key []byte) uint64 { return binary.BigEndian.Uint64(key) }

// Close implements store.Backing. It ends the overwriting of what was purged. After a panic in bbolt the file stays open until the
// process ends, because bbolt may wait for a lock that is never released.
func (f *File) Close() error {
	f.journal.close()
	if f.db == nil || f.broken != nil {
		return nil
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	var err error
	for len(f.evicted.urgent) > 0 && err == nil {
		err = f.sweep()
	}
	for f.tidy.purged && err == nil {
		err = f.guarded(f.scrub)
	}
	if f.broken != nil {
		return err
	}
	return errors.Join(err, f.db.Close())
}
