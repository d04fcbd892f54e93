// Package file keeps the records of a store in one file, by bbolt.
//
// bbolt makes each batch whole or absent, also when the process is killed. It trusts what it reads, though, and disks do
// lie: so every record carries a checksum, the pages are checked before bbolt may see them, and a file whose structure
// is broken is moved aside and read record by record into a new one. The list of free pages, which nothing protects, is
// not kept in the file but found anew by each Open.
package file

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"slices"
	"time"

	"go.etcd.io/bbolt"

	"reprise/store"
)

// ErrForeign is a file that no version of this program can have written. It is left as it is.
var ErrForeign = errors.New("not a file of this program")

// File is a store.Backing in one file.
type File struct {
	db     *bbolt.DB // nil when the records come from the wreck
	wreck  *wreck
	held   *os.File // the wreck's
	report store.Report

	salt, gen uint64
	bad       []badRecord // what Load left out: the first Write deletes it
	broken    error       // after a panic in bbolt: its locks may be held for ever
}

// badRecord is where a damaged record stands; its key may be damaged, too.
type badRecord struct{ bucket, key []byte }

var _ store.Backing = (*File)(nil)

// Load implements store.Backing.
func (f *File) Load(fn func(store.Record) error) (store.Report, error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	f.salt = rand.Uint64()
	var err error
	if f.wreck != nil {
		err = f.wreck.each(func(fr frame) error { return f.deliver(fr, fn) })
		f.report.Skipped = f.wreck.damaged
	} else {
		err = f.view(func(tx *bbolt.Tx) error { return f.loadBuckets(tx, fn) })
	}
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
	for _, k := range append(store.Kinds(), kindGraves) {
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
	fr, err := parseFrame(value)
	if errors.Is(err, store.ErrVersion) {
		return err
	}
	if len(key) != 8 || err != nil || fr.kind != k || fr.id != binary.BigEndian.Uint64(key) {
		f.report.Skipped++
		f.bad = append(f.bad, badRecord{bucketOf(k), bytes.Clone(key)})
		return nil
	}
	return f.deliver(fr, fn)
}

func (f *File) deliver(fr frame, fn func(store.Record) error) error {
	f.salt, f.gen = fr.salt, max(f.gen, fr.gen)
	if fr.kind == kindGraves {
		return nil
	}
	f.report.Kept++
	return fn(store.Record{Kind: fr.kind, ID: fr.id, Body: fr.body})
}

// Write implements store.Backing. It returns when the disk has the batch.
func (f *File) Write(b *store.Batch) error {
	switch {
	case f.broken != nil:
		return fmt.Errorf("write %s: %w", f.report.Name, f.broken)
	case f.report.ReadOnly != nil:
		return fmt.Errorf("write %s: %w: %w", f.report.Name, store.ErrReadOnly, f.report.ReadOnly)
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	err := f.update(func(tx *bbolt.Tx) error { return f.writeBatch(tx, b) })
	if errors.Is(err, errPanic) {
		f.broken = err
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", f.report.Name, cause(f.report.Name, err))
	}
	f.bad = nil
	return nil
}

func (f *File) update(fn func(*bbolt.Tx) error) (err error) {
	defer guard(&err, errPanic)
	return f.db.Update(fn)
}

func (f *File) writeBatch(tx *bbolt.Tx, b *store.Batch) error {
	f.gen++
	for _, r := range f.bad {
		if err := tx.Bucket(r.bucket).Delete(r.key); err != nil {
			return err
		}
	}
	if err := f.bury(tx, b.Delete); err != nil {
		return err
	}
	return f.putAll(tx, b.Put)
}

// bury deletes records, and notes the entries among them as dead.
func (f *File) bury(tx *bbolt.Tx, records []store.Record) error {
	dead := graves{}
	for _, r := range records {
		if b := tx.Bucket(bucketOf(r.Kind)); b != nil {
			if err := b.Delete(keyOf(r.ID)); err != nil {
				return err
			}
		}
		if r.Kind == store.KindEntry {
			dead.add(r.ID, func(span uint64) []byte {
				fr, _ := parseFrame(tx.Bucket(bucketOf(kindGraves)).Get(keyOf(span)))
				return fr.body
			})
		}
	}
	var bitmaps []store.Record
	for span, bits := range dead {
		bitmaps = append(bitmaps, store.Record{Kind: kindGraves, ID: span, Body: bits})
	}
	return f.putAll(tx, bitmaps)
}

// putAll writes records in the order of their keys, which keeps bbolt on neighbouring pages.
func (f *File) putAll(tx *bbolt.Tx, records []store.Record) error {
	slices.SortFunc(records, func(a, b store.Record) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID))
	})
	for _, r := range records {
		fr := frame{kind: r.Kind, salt: f.salt, gen: f.gen, id: r.ID, body: r.Body}
		if err := putFrame(tx, fr); err != nil {
			return err
		}
	}
	return nil
}

// putFrame writes a frame. A file of an older version has no bucket for kinds that came later.
func putFrame(tx *bbolt.Tx, fr frame) error {
	if !known(fr.kind) {
		return fmt.Errorf("write record of kind %d: %w", fr.kind, store.ErrDamaged)
	}
	b, err := tx.CreateBucketIfNotExists(bucketOf(fr.kind))
	if err != nil {
		return err
	}
	b.FillPercent = 0.9 // ids grow: most insertions are at the end
	return b.Put(keyOf(fr.id), fr.append(make([]byte, 0, frameHeader+len(fr.body))))
}

func keyOf(id uint64) []byte { return binary.BigEndian.AppendUint64(nil, id) }

// Close implements store.Backing. After a panic in bbolt it leaves the file to the end of the process, because bbolt
// may wait for a lock for ever.
func (f *File) Close() error {
	if f.held != nil {
		f.held.Close()
	}
	if f.db == nil || f.broken != nil {
		return nil
	}
	return f.db.Close()
}

// asideName is a free name for a damaged file.
func asideName(path string) string {
	base := path + ".damaged-" + time.Now().UTC().Format("20060102T150405")
	for i, n := 1, base; ; i++ {
		if _, err := os.Lstat(n); errors.Is(err, os.ErrNotExist) {
			return n
		}
		n = fmt.Sprintf("%s.%d", base, i)
	}
}
