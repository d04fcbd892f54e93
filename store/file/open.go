package file

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"reprise/store"
)

// Open opens the file at path, or makes it, readable by its owner alone. The whole of it is read once to check it.
//
// A file that another process has open is store.ErrLocked, after a second; one that is newer is store.ErrVersion; one of
// another kind is ErrForeign; in all of these cases it is left as it was. One that cannot be written is opened to be read.
// A file with a damaged structure is moved to path.damaged-TIME, and a new one is made.
func Open(path string) (*File, error) { return open(path, bbolt.Options{PageSize: pageSize}) }

// pageSize is that of a new file: four entries of a usual size on a page, which is written by one call. With 4 KiB, where one or two
// fit, a new entry took a fifth more time; with 16 KiB a change in one place costs more.
const pageSize = 8 << 10

func open(path string, o bbolt.Options) (*File, error) {
	o.NoFreelistSync, o.FreelistType = true, bbolt.FreelistMapType
	o.Timeout = lockWait
	if o.OpenFile == nil {
		o.OpenFile = os.OpenFile
	}
	path = linked(path)
	f := &File{report: store.Report{Name: path}, options: o}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	err := f.openOrSetAside(path, o)
	if _, missing := os.Stat(path); isReadOnly(err) && missing == nil {
		o.ReadOnly, f.report.ReadOnly = true, err
		err = f.openOrSetAside(path, o)
	}
	switch {
	case err == nil:
		return f, nil
	case isLocked(err), errors.Is(err, bolterrors.ErrTimeout):
		return nil, fmt.Errorf("%w: %s: stop the other process or name another file", store.ErrLocked, path)
	}
	return nil, advise("open", path, err)
}

// linked follows the links that path names, also where the file is still missing. What lies beside a store is thus found by every path
// to it.
func linked(path string) string {
	for range 40 {
		to, err := os.Readlink(path)
		if err != nil {
			break
		}
		if !filepath.IsAbs(to) {
			to = filepath.Dir(path) + string(filepath.Separator) + to
		}
		path = to
	}
	return path
}

// advise adds the path to an error and, where there is any, what to do.
func advise(verb, path string, err error) error {
	if errors.Is(err, store.ErrVersion) {
		return fmt.Errorf("%s %s: %w; run the newer program, or move the file away to start empty", verb, path, err)
	}
	return fmt.Errorf("%s %s: %w", verb, path, cause(path, err))
}

// cause is err without the path, where it begins with it: the caller names the path.
func cause(path string, err error) error {
	if p, ok := err.(*os.PathError); ok && p.Path == path {
		return p.Err
	}
	return err
}

func (f *File) openOrSetAside(path string, o bbolt.Options) error {
	held, err := f.openChecked(path, o)
	if errors.Is(err, errStructure) {
		return f.setAside(held, path, o, err)
	}
	return err
}

// openChecked opens a file with bbolt once its lock is taken and its pages are checked. With errStructure it returns the
// file, still locked.
func (f *File) openChecked(path string, o bbolt.Options) (held *os.File, err error) {
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
		return nil, err
	}
	own := map[store.Kind]tombstones{}
	info, err := held.Stat()
	if err == nil && info.Size() > 0 {
		own, err = check(held, info.Size())
	}
	f.dead = tombstones{}
	maps.Copy(f.dead, own[kindTombstones])
	f.evicted.opened(own[kindEvicted], f.dead)
	if err == nil {
		f.journal, err = readJournal(path)
	}
	if err != nil {
		return held, err
	}
	f.is = info
	o.OpenFile = func(string, int, os.FileMode) (*os.File, error) { return held, nil }
	if f.db, err = bbolt.Open(path, 0o600, &o); err != nil || o.ReadOnly {
		return held, err
	}
	f.held = held
	f.tidy.scrubbing = true // what a kill may have left
	if err := makeBuckets(f.db); err != nil {
		return held, err
	}
	f.measure()
	for _, left := range []string{compactMark, ".graph", ".graph.new"} {
		_ = os.Remove(path + left)
	}
	f.tidy.failed = f.compact()
	return held, nil
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

// makeBuckets writes only to a new file: one that turns out to be of a newer version must stay as it is.
func makeBuckets(db *bbolt.DB) error {
	var made bool
	if err := db.View(func(tx *bbolt.Tx) error { made = tx.Bucket(bucketOf(kindTombstones)) != nil; return nil }); made || err != nil {
		return err
	}
	return db.Update(func(tx *bbolt.Tx) error {
		for _, k := range append(store.Kinds(), kindTombstones) {
			if _, err := tx.CreateBucketIfNotExists(bucketOf(k)); err != nil {
				return err
			}
		}
		return nil
	})
}
