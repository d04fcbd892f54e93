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
	bolterrors "go.etcd.io/bbolt/errors"

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

// Open opens the file at path, or makes it, readable by its owner alone. The whole of it is read once to check it.
//
// A file that another process has open is store.ErrLocked, after a second; one that is newer is store.ErrVersion; one of
// another kind is ErrForeign; in all of these cases it is as it was. One that cannot be written is opened to be read. A
// damaged one is moved aside, to path.damaged-TIME, and what can be read of it is in the new file at path.
func Open(path string) (*File, error) { return open(path, bbolt.Options{}) }

func open(path string, o bbolt.Options) (*File, error) {
	o.NoFreelistSync, o.FreelistType, o.NoStatistics = true, bbolt.FreelistMapType, true
	o.Timeout = lockWait
	if o.OpenFile == nil {
		o.OpenFile = os.OpenFile
	}
	f := &File{report: store.Report{Name: path}}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	err := f.openOrRescue(path, o)
	if _, missing := os.Stat(path); isReadOnly(err) && missing == nil {
		o.ReadOnly, f.report.ReadOnly = true, true
		err = f.openOrRescue(path, o)
	}
	switch {
	case err == nil:
		return f, nil
	case isLocked(err), errors.Is(err, bolterrors.ErrTimeout):
		return nil, fmt.Errorf("%w: %s: stop the other process or name another file", store.ErrLocked, path)
	}
	return nil, advise("open", path, err)
}

// advise adds the path to an error and, where there is any, what to do.
func advise(verb, path string, err error) error {
	if errors.Is(err, store.ErrVersion) {
		return fmt.Errorf("%s %s: %w; run the newer program, or move the file away to start empty", verb, path, err)
	}
	return fmt.Errorf("%s %s: %w", verb, path, err)
}

func (f *File) openOrRescue(path string, o bbolt.Options) error {
	db, held, err := openChecked(path, o)
	if errors.Is(err, errStructure) {
		return f.rescue(held, path, o)
	}
	f.db = db
	return err
}

// openChecked opens a file with bbolt once its lock is taken and its pages are sound. With errStructure it returns the
// file, still locked, for a rescue.
func openChecked(path string, o bbolt.Options) (db *bbolt.DB, held *os.File, err error) {
	defer func() {
		if err != nil && held != nil && !errors.Is(err, errStructure) {
			held.Close()
		}
	}()
	defer guard(&err, errStructure)
	flag := os.O_RDWR | os.O_CREATE
	if o.ReadOnly {
		flag = os.O_RDONLY
	}
	if held, err = openLocked(path, flag, o.OpenFile); err != nil {
		return nil, nil, err
	}
	info, err := held.Stat()
	if err == nil && info.Size() > 0 {
		err = check(held, info.Size())
	}
	if err != nil {
		return nil, held, err
	}
	o.OpenFile = func(string, int, os.FileMode) (*os.File, error) { return held, nil }
	if db, err = bbolt.Open(path, 0o600, &o); err != nil || o.ReadOnly {
		return db, held, err
	}
	return db, held, ensureBuckets(db)
}

// openLocked opens and locks the file that is at path when it returns: one that was moved aside while this process
// waited for the lock is opened again.
func openLocked(path string, flag int, open func(string, int, os.FileMode) (*os.File, error)) (*os.File, error) {
	for {
		f, err := open(path, flag, 0o600)
		if err != nil {
			return nil, err
		}
		if err := lock(f, flag == os.O_RDONLY); err != nil {
			f.Close()
			return nil, err
		}
		mine, err1 := f.Stat()
		named, err2 := os.Stat(path)
		if err1 == nil && err2 == nil && os.SameFile(mine, named) {
			return f, nil
		}
		f.Close()
		if err := errors.Join(err1, err2); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
	}
}

// guard turns a panic, and a fault of the memory map in this goroutine, into an error that wraps kind.
func guard(err *error, kind error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("%w: %v", kind, p)
	}
}

func bucketOf(k store.Kind) []byte { return []byte{byte(k)} }

// ensureBuckets writes only to a new file: one that turns out to be of a newer version must stay as it is.
func ensureBuckets(db *bbolt.DB) error {
	var made bool
	if err := db.View(func(tx *bbolt.Tx) error { made = tx.Bucket(bucketOf(kindGraves)) != nil; return nil }); made || err != nil {
		return err
	}
	return db.Update(makeBuckets)
}

func makeBuckets(tx *bbolt.Tx) error {
	for _, k := range append(store.Kinds(), kindGraves) {
		if _, err := tx.CreateBucketIfNotExists(bucketOf(k)); err != nil {
			return err
		}
	}
	return nil
}

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
		f.broken, f.report.ReadOnly, err = err, true, nil
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
	case f.report.ReadOnly:
		return fmt.Errorf("write %s: %w", f.report.Name, store.ErrReadOnly)
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	err := f.update(func(tx *bbolt.Tx) error { return f.writeBatch(tx, b) })
	if errors.Is(err, errPanic) {
		f.broken = err
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", f.report.Name, err)
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
		if err := tx.Bucket(bucketOf(r.Kind)).Delete(keyOf(r.ID)); err != nil {
			return err
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

func putFrame(tx *bbolt.Tx, fr frame) error {
	b := tx.Bucket(bucketOf(fr.kind))
	if b == nil {
		return fmt.Errorf("write record of kind %d: %w", fr.kind, store.ErrDamaged)
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
