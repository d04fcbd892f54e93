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

func entryBatch(id uint64, size int) *store.Batch {
	return &store.Batch{Put: []store.Record{{Kind: store.KindEntry, ID: id, Body: bytes.Repeat([]byte("a"), size)}}}
}

// readOnly opens files as a read-only file system would.
func readOnly(name string, flag int, mode os.FileMode) (*os.File, error) {
	if flag&(os.O_RDWR|os.O_CREATE) != 0 {
		return nil, &os.PathError{Op: "open", Path: name, Err: syscall.EROFS}
	}
	return os.OpenFile(name, flag, mode)
}

// breakMetas makes both meta pages of a file unreadable.
func breakMetas(data []byte) []byte {
	broken := bytes.Clone(data)
	copy(broken[pageHeader:], make([]byte, metaSize))
	copy(broken[4096+pageHeader:], make([]byte, metaSize))
	return broken
}

// TestReadOnly: a file that cannot be written is served, and one that is damaged too is left alone.
func TestReadOnly(t *testing.T) {
	sound, records := original(t)
	for _, test := range []struct {
		title string
		data  []byte
		kept  int
	}{{"sound", sound, len(records)}, {"broken", breakMetas(sound), 0}} {
		path := filepath.Join(t.TempDir(), "r.db")
		os.WriteFile(path, test.data, 0o400)
		f, err := open(path, bbolt.Options{OpenFile: readOnly})
		if err != nil {
			t.Fatalf("%s: %v", test.title, err)
		}
		n := 0
		report, err := f.Load(func(store.Record) error { n++; return nil })
		if err != nil || n != test.kept || !errors.Is(report.ReadOnly, syscall.EROFS) || errors.Is(report.ReadOnly, errStructure) != (n == 0) {
			t.Errorf("%s: %d records, %+v, %v", test.title, n, report, err)
		}
		if err := f.Write(entryBatch(1, 1)); !errors.Is(err, store.ErrReadOnly) {
			t.Errorf("%s: write: %v", test.title, err)
		}
		f.Close()
		if now, _ := os.ReadFile(path); !bytes.Equal(now, test.data) {
			t.Errorf("%s: the file was changed", test.title)
		}
	}
}

// TestCannotBeMoved: a damaged file whose new name would be too long stays where it is, and nothing is written.
func TestCannotBeMoved(t *testing.T) {
	data, _ := original(t)
	data = breakMetas(data)
	path := filepath.Join(t.TempDir(), strings.Repeat("r", 250))
	os.WriteFile(path, data, 0o600)
	f, got := openLoad(t, path)
	if len(got) > 0 || !errors.Is(f.report.ReadOnly, syscall.ENAMETOOLONG) || !errors.Is(f.report.ReadOnly, errStructure) || f.report.Aside != "" {
		t.Errorf("%d records, %+v", len(got), f.report)
	}
	if err := f.Write(entryBatch(1, 1)); !errors.Is(err, store.ErrReadOnly) {
		t.Errorf("write: %v", err)
	}
	f.Close()
	if now, _ := os.ReadFile(path); !bytes.Equal(now, data) {
		t.Error("the file was changed")
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
		err = f.Write(entryBatch(id, 8000))
	}
	if err == nil || f.broken != nil {
		t.Fatalf("after %d batches: %v, %v", id, err, f.broken)
	}
	f.db.MaxSize = 0
	if err := f.Write(entryBatch(id, 8000)); err != nil {
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
	if err := f.Write(entryBatch(1, 10)); err != nil {
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
	if want := map[name]string{{store.KindEntry, 1}: string(entryBatch(1, 10).Put[0].Body)}; !maps.Equal(got, want) {
		t.Errorf("%d records", len(got))
	}
}

func TestBadRecordsAreDeleted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.db")
	f, _ := openLoad(t, path)
	f.Write(entryBatch(1, 10))
	f.db.Update(func(tx *bbolt.Tx) error { return tx.Bucket(bucketOf(store.KindEntry)).Put(keyOf(2), []byte("junk")) })
	f.Close()
	for _, skipped := range []int{1, 0} {
		f, got := openLoad(t, path)
		if f.report.Skipped != skipped || len(got) != 1+1-skipped {
			t.Errorf("%d records, %+v, want %d skipped", len(got), f.report, skipped)
		}
		f.Write(entryBatch(3, 10))
		f.Close()
	}
}
