package file

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"go.etcd.io/bbolt"

	"reprise/store"
)

// rescue reads a file that has lost its structure into a new one in its place, and moves the old one aside. Where the new
// one cannot be written, the records come from the old one and nothing is written at all.
func (f *File) rescue(held *os.File, path string, o bbolt.Options) error {
	info, err := held.Stat()
	if err != nil {
		return errors.Join(err, held.Close())
	}
	w, err := scan(held, info.Size())
	if err == nil && foreign(held, info.Size(), w) {
		err = ErrForeign
	}
	if err != nil {
		return errors.Join(err, held.Close())
	}
	if !o.ReadOnly {
		f.report.ReadOnly = f.rebuild(w, path, o)
	}
	if f.report.ReadOnly != nil {
		f.wreck, f.held = w, held
		return nil
	}
	held.Close()
	f.report.Skipped = w.damaged
	f.db, _, err = openChecked(path, o)
	return err
}

// foreign reports whether nothing speaks for a file being one of ours: no record, no magic, and where it is too short for
// a magic, another beginning than that of a first page (its number, 0, and the flag of a meta page).
func foreign(f io.ReaderAt, size int64, w *wreck) bool {
	if len(w.found) > 0 {
		return false
	}
	if size < pageHeader+metaSize {
		var first [10]byte
		n, _ := f.ReadAt(first[:min(size, int64(len(first)))], 0)
		page := binary.NativeEndian.AppendUint16(make([]byte, 8), 0x04)
		return !bytes.Equal(first[:n], page[:n])
	}
	magic := make([]byte, 4)
	_, err := f.ReadAt(magic, pageHeader)
	return err == nil && binary.NativeEndian.Uint32(magic) != metaMagic
}

// rebuild writes the wreck's records into a new file and puts that in the place of the old one. At every moment there is
// a file at path.
func (f *File) rebuild(w *wreck, path string, o bbolt.Options) error {
	temp := path + ".salvage"
	if err := os.Remove(temp); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := w.writeTo(temp, o); err != nil {
		os.Remove(temp)
		return err
	}
	aside := asideName(path)
	if err := os.Link(path, aside); err != nil { // a file system without links: a rename, and a moment without a file
		if err := os.Rename(path, aside); err != nil {
			os.Remove(temp)
			return err
		}
	}
	f.report.Aside = aside
	return os.Rename(temp, path)
}

// rescueBatch is how many records of a wreck go into one transaction.
const rescueBatch = 1000

func (w *wreck) writeTo(path string, o bbolt.Options) (err error) {
	defer guard(&err, errPanic)
	sync := !o.NoSync
	o.NoSync, o.NoGrowSync = true, true
	db, err := bbolt.Open(path, 0o600, &o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := db.Update(makeBuckets); err != nil {
		return err
	}
	if err := w.copyTo(db); err != nil || !sync {
		return err
	}
	return db.Sync()
}

func (w *wreck) copyTo(db *bbolt.DB) error {
	var batch []frame
	flush := func() error {
		err := db.Update(func(tx *bbolt.Tx) error {
			for _, fr := range batch {
				if err := putFrame(tx, fr); err != nil {
					return err
				}
			}
			return nil
		})
		batch = batch[:0]
		return err
	}
	err := w.each(func(fr frame) error {
		if !known(fr.kind) {
			return nil
		}
		if batch = append(batch, fr); len(batch) < rescueBatch {
			return nil
		}
		return flush()
	})
	if err != nil {
		return fmt.Errorf("salvage records: %w", err)
	}
	return flush()
}

func known(k store.Kind) bool { return k == kindGraves || k > 0 && int(k) <= len(store.Kinds()) }
