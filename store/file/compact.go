package file

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"go.etcd.io/bbolt"

	"reprise/store"
)

// A compaction copies the records to a new file in steps. Every batch that is written meanwhile is written to both files, so the order
// of the two does not matter: what a batch changes behind the place that the copy has reached is copied again as it is then. At the
// end the new file is made durable and renamed over the old one. It is locked from its first byte on, so no other process can open
// it before or after. A kill leaves the old file whole, or the new one; Open removes an unfinished copy.
type compaction struct {
	db      *bbolt.DB
	held    *os.File
	path    string
	buckets [][]byte // not yet copied; the first is being copied
	after   []byte   // the last key of it that was copied
	copied  int64    // bytes of the records that were copied
	purged  bool     // a purge came meanwhile: the new file has bytes of it in its free pages
}

const (
	compactAbove   = 4 << 20 // free bytes below which a file stays as it is
	compactBytes   = 1 << 20 // of records that one step copies,
	compactRecords = 1024    // and how many
	compactMark    = ".compacting"
)

// wasteful reports whether more than half of the file is free, and another compaction may change that: bbolt makes a file up to twice
// as long as its pages need, so half of it can be free right after one.
func (t *tidying) wasteful() bool {
	total, free := t.total.Load(), t.free.Load()
	changed := total > t.settled.total || total-free < t.settled.used/2
	return canReplace && free >= t.above && free > total/2 && changed
}

// compact begins a compaction or does one step of it.
func (f *File) compact() error {
	c := f.tidy.copy
	if c == nil {
		return f.beginCompaction()
	}
	err := f.db.View(func(from *bbolt.Tx) error {
		return c.db.Update(func(to *bbolt.Tx) error { return c.copyRecords(from, to, f.tidy.step) })
	})
	if err == nil {
		err = c.db.Sync() // now, rather than all at the end, which would hold the batches for seconds
	}
	if err != nil || len(c.buckets) > 0 {
		return err
	}
	return f.replace()
}

func (f *File) beginCompaction() error {
	if err := f.inPlace(); err != nil {
		return err
	}
	path, err := compactPath(f.report.Name)
	if err != nil {
		return err
	}
	info, err := f.held.Stat()
	if err != nil {
		return err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	c := &compaction{path: path}
	f.tidy.copy = c
	if c.held, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, info.Mode().Perm()); err != nil {
		return err
	}
	if err := lock(c.held, false); err != nil {
		return err
	}
	o := f.options
	o.NoSync, o.NoGrowSync = true, true // each step makes it durable once
	o.OpenFile = func(string, int, os.FileMode) (*os.File, error) { return c.held, nil }
	if c.db, err = bbolt.Open(path, 0o600, &o); err != nil {
		return err
	}
	return f.db.View(func(tx *bbolt.Tx) error {
		return tx.ForEach(func(name []byte, _ *bbolt.Bucket) error {
			c.buckets = append(c.buckets, bytes.Clone(name))
			return nil
		})
	})
}

// compactPath is the path of the new file, beside the file itself where the path of the store is a link to it.
func compactPath(name string) (string, error) {
	path, err := filepath.EvalSymlinks(name)
	return path + compactMark, err
}

// copyRecords copies some records.
func (c *compaction) copyRecords(from, to *bbolt.Tx, atMost int) error {
	name := c.buckets[0]
	b, err := to.CreateBucketIfNotExists(name)
	if err != nil {
		return err
	}
	b.FillPercent = 0.9 // as in put
	cursor := from.Bucket(name).Cursor()
	k, v := cursor.Seek(c.after)
	if k != nil && c.after != nil && bytes.Equal(k, c.after) {
		k, v = cursor.Next()
	}
	for n, size := 0, 0; k != nil && n < compactRecords && size < atMost; n++ {
		if v == nil {
			return fmt.Errorf("copy records: bucket %q is in bucket %q: %w", k, name, store.ErrDamaged)
		}
		if err := b.Put(k, v); err != nil {
			return err
		}
		size += len(k) + len(v)
		c.copied += int64(len(k) + len(v))
		c.after = bytes.Clone(k)
		k, v = cursor.Next()
	}
	if k == nil {
		c.buckets, c.after = c.buckets[1:], nil
	}
	return nil
}

// also writes a batch to the new file of a compaction that is under way. A fault ends the compaction.
func (f *File) also(b *store.Batch, dead []store.Record) {
	c := f.tidy.copy
	if c == nil || c.db == nil {
		return
	}
	err := func() (err error) {
		defer guard(&err, errPanic)
		return c.db.Update(func(tx *bbolt.Tx) error { return f.batches.write(tx, b, dead) })
	}()
	if err != nil {
		f.abandon()
		f.tidy.copyFrom = time.Now().Add(copyPause)
	}
}

// replace puts the new file in the place of the old one.
func (f *File) replace() error {
	c, t := f.tidy.copy, &f.tidy
	if err := errors.Join(c.db.Sync(), f.inPlace()); err != nil {
		return err
	}
	path, err := compactPath(f.report.Name)
	if err != nil {
		return err
	}
	is, err := c.held.Stat()
	if err != nil {
		return err
	}
	if err := f.become(is, func() error { return os.Rename(c.path, path[:len(path)-len(compactMark)]) }); err != nil {
		return err
	}
	old := f.db
	f.db, f.held, t.copy = c.db, c.held, nil
	f.db.NoSync, f.db.NoGrowSync = f.options.NoSync, f.options.NoGrowSync
	t.scrubbing, t.purged, t.next = c.purged, c.purged, 0
	f.measure()
	t.settled.total = t.total.Load()
	// What was copied and deleted since is free pages of the new file: they are worth another compaction.
	t.settled.used = max(t.settled.total-t.free.Load(), c.copied)
	return errors.Join(syncDir(filepath.Dir(path)), old.Close())
}

// abandon ends a compaction without a result.
func (f *File) abandon() {
	c := f.tidy.copy
	if c == nil {
		return
	}
	f.tidy.copy = nil
	switch {
	case c.db != nil:
		_ = c.db.Close()
	case c.held != nil:
		_ = c.held.Close()
	}
	_ = os.Remove(c.path) // Open tries again
}
