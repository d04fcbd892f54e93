package file

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"go.etcd.io/bbolt"
)

const (
	compactAbove = 4 << 20 // free bytes below which a file stays as it is
	compactBytes = 1 << 20 // of records in one transaction of the copy
	compactMark  = ".compacting"
)

// compact copies the records of a file that is mostly free to a new one, which takes its place. It is a part of Open: nothing is written
// meanwhile. The copy is locked from its first byte on, so that no other process can open it before or after it gets the name. A kill
// leaves the old file or the new one whole; the next Open removes an unfinished copy. After an error the old file stays in use.
func (f *File) compact() (err error) {
	total, free := f.Space()
	if !canReplace || free < compactAbove || free <= total/2 {
		return nil
	}
	path := f.report.Name
	held, err := lockedCopy(f.held, path+compactMark)
	if err != nil {
		return err
	}
	db, err := f.copyTo(held)
	is, failed := held.Stat()
	if err = errors.Join(err, failed); err == nil {
		err = os.Rename(path+compactMark, path)
	}
	if err != nil {
		_ = os.Remove(path + compactMark)
		if db != nil {
			return errors.Join(err, db.Close())
		}
		_ = held.Close() // bbolt may have closed it
		return err
	}
	old := f.db
	f.db, f.held, f.is = db, held, is
	f.measure()
	return errors.Join(syncDir(filepath.Dir(path)), old.Close())
}

// lockedCopy makes an empty file with the mode of another one.
func lockedCopy(of *os.File, path string) (*os.File, error) {
	info, err := of.Stat()
	if err != nil {
		return nil, err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	held, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, info.Mode().Perm())
	if err != nil {
		return nil, err
	}
	if err := lock(held, false); err != nil {
		return nil, errors.Join(err, held.Close())
	}
	return held, nil
}

// copyTo makes a durable copy of all records in an empty file.
func (f *File) copyTo(held *os.File) (db *bbolt.DB, err error) {
	defer guard(&err, errPanic)
	o := f.options
	o.NoSync, o.NoGrowSync = true, true // it is made durable once, at the end
	o.OpenFile = func(string, int, os.FileMode) (*os.File, error) { return held, nil }
	if db, err = bbolt.Open(held.Name(), 0o600, &o); err != nil {
		return nil, err
	}
	if err := bbolt.Compact(db, f.db, compactBytes); err != nil {
		return db, err
	}
	db.NoSync, db.NoGrowSync = f.options.NoSync, f.options.NoGrowSync
	return db, db.Sync()
}
