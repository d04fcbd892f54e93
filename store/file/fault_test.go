package file

import (
	"bytes"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"go.etcd.io/bbolt"

	"reprise/store"
)

func put(id uint64, size int) *store.Batch {
	return &store.Batch{Put: []store.Record{{Kind: store.KindEntry, ID: id, Body: bytes.Repeat([]byte("a"), size)}}}
}

// readOnly opens files as a read-only file system would.
func readOnly(name string, flag int, mode os.FileMode) (*os.File, error) {
	if flag&(os.O_RDWR|os.O_CREATE) != 0 {
		return nil, &os.PathError{Op: "open", Path: name, Err: syscall.EROFS}
	}
	return os.OpenFile(name, flag, mode)
}

func TestReadOnly(t *testing.T) {
	sound, _, _ := original(t)
	broken := bytes.Clone(sound)
	copy(broken[:80], make([]byte, 80))
	copy(broken[4096:4096+80], make([]byte, 80))
	for title, data := range map[string][]byte{"sound": sound, "broken": broken} {
		path := filepath.Join(t.TempDir(), "r.db")
		os.WriteFile(path, data, 0o400)
		f, err := open(path, bbolt.Options{OpenFile: readOnly})
		if err != nil {
			t.Fatalf("%s: %v", title, err)
		}
		n := 0
		report, err := f.Load(func(store.Record) error { n++; return nil })
		if err != nil || n < 90 || report.ReadOnly == nil {
			t.Errorf("%s: %d records, %+v, %v", title, n, report, err)
		}
		if err := f.Write(put(1, 1)); !errors.Is(err, store.ErrReadOnly) {
			t.Errorf("%s: write: %v", title, err)
		}
		f.Close()
		if now, _ := os.ReadFile(path); !bytes.Equal(now, data) {
			t.Errorf("%s: the file was changed", title)
		}
	}
}

// TestNoRoomForRescue: a broken file whose records cannot be written anew is served as it is.
func TestNoRoomForRescue(t *testing.T) {
	data, records, _ := original(t)
	copy(data[:80], make([]byte, 80))
	copy(data[4096:4096+80], make([]byte, 80))
	path := filepath.Join(t.TempDir(), "r.db")
	os.WriteFile(path, data, 0o600)
	os.MkdirAll(filepath.Join(path+".salvage", "in the way"), 0o700)
	f, got := openLoad(t, path)
	defer f.Close()
	if !maps.Equal(got, records) || f.report.ReadOnly == nil {
		t.Errorf("%d records of %d, %+v", len(got), len(records), f.report)
	}
}

func TestReadOnlyDirectory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.db")
	_, err := open(path, bbolt.Options{OpenFile: readOnly})
	if !errors.Is(err, syscall.EROFS) || strings.Count(err.Error(), path) != 1 {
		t.Errorf("making a file: %v; want the cause, and the path once", err)
	}
}

// TestFull: a disk that is full refuses batches whole, and takes them when there is room again.
func TestFull(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.db")
	f, err := open(path, bbolt.Options{MaxSize: 256 << 10})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Load(func(store.Record) error { return nil }); err != nil {
		t.Fatal(err)
	}
	id := uint64(0)
	for err == nil && id < 1000 {
		id++
		err = f.Write(put(id, 8000))
	}
	if err == nil || f.broken != nil {
		t.Fatalf("after %d batches: %v, %v", id, err, f.broken)
	}
	f.db.MaxSize = 0
	if err := f.Write(put(id, 8000)); err != nil {
		t.Errorf("write with room again: %v", err)
	}
	f.Close()
	g, got := openLoad(t, path)
	defer g.Close()
	if len(got) != int(id) {
		t.Errorf("%d records, want %d", len(got), id)
	}
}

// TestPanicInside: a panic of bbolt is an error, now and for good, and what was written before is safe.
func TestPanicInside(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.db")
	f, _ := openLoad(t, path)
	if err := f.Write(put(1, 10)); err != nil {
		t.Fatal(err)
	}
	var nothing *store.Batch
	for range 2 {
		if err := f.Write(nothing); !errors.Is(err, errPanic) {
			t.Errorf("write: %v", err)
		}
	}
	f.Close()
	f.db.Close()
	g, got := openLoad(t, path)
	defer g.Close()
	if want := map[name]string{{store.KindEntry, 1}: string(put(1, 10).Put[0].Body)}; !maps.Equal(got, want) {
		t.Errorf("%d records", len(got))
	}
}

func TestBadRecordsAreDeleted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.db")
	f, _ := openLoad(t, path)
	f.Write(put(1, 10))
	f.db.Update(func(tx *bbolt.Tx) error { return tx.Bucket(bucketOf(store.KindEntry)).Put(keyOf(2), []byte("junk")) })
	f.Close()
	for _, skipped := range []int{1, 0} {
		f, got := openLoad(t, path)
		if f.report.Skipped != skipped || len(got) != 1+1-skipped {
			t.Errorf("%d records, %+v, want %d skipped", len(got), f.report, skipped)
		}
		f.Write(put(3, 10))
		f.Close()
	}
}
