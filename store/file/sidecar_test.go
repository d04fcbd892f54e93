package file

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"go.etcd.io/bbolt"

	"reprise/store"
)

func text(s string) func(io.Writer) error {
	return func(w io.Writer) error { _, err := io.WriteString(w, s); return err }
}

func readSidecar(t *testing.T, f *File) string {
	t.Helper()
	data, err := f.ReadSidecar()
	if err != nil {
		t.Error(err)
	}
	return string(data)
}

// TestSidecar: the data survives a restart, and a write that fails leaves the data of before.
func TestSidecar(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.db")
	f, _ := openLoad(t, path)
	if got := readSidecar(t, f); got != "" || f.HasSidecar() {
		t.Errorf("a new store has the sidecar %q", got)
	}
	for _, s := range []string{"first, longer", "second"} {
		if err := f.WriteSidecar(text(s)); err != nil {
			t.Fatal(err)
		}
	}
	full := errors.New("the disk is full")
	if err := f.WriteSidecar(func(w io.Writer) error { text("half")(w); return full }); !errors.Is(err, full) {
		t.Errorf("a failed write: %v", err)
	}
	f.Close()
	os.WriteFile(path+newSidecarMark, []byte("killed in a write"), 0o600)
	f, _ = openLoad(t, path)
	defer f.Close()
	if got := readSidecar(t, f); got != "second" || !f.HasSidecar() {
		t.Errorf("sidecar %q, want the last that was written whole", got)
	}
	if info, err := os.Stat(path + sidecarMark); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v: readable by others", info, err)
	}
	if n := readable(t, filepath.Dir(path), "killed in a write"); n > 0 {
		t.Error("what a killed write left is still there")
	}
}

// TestPurgeRemovesSidecar: it is gone when the batch of a purge is written, and one that is being written is not kept.
func TestPurgeRemovesSidecar(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.db")
	f, _ := openLoad(t, path)
	defer f.Close()
	write(t, f, written(1, 5, 100))
	for _, whole := range []bool{true, false} {
		if err := f.WriteSidecar(text("sketches")); err != nil {
			t.Fatal(err)
		}
		err := f.WriteSidecar(func(w io.Writer) error {
			if !whole {
				write(t, f, purged(1, 2))
			}
			return text("sketches")(w)
		})
		if whole {
			write(t, f, purged(1, 2))
		}
		if whole != (err == nil) || !whole && !errors.Is(err, store.ErrPurged) {
			t.Errorf("whole before the purge %v: %v", whole, err)
		}
		if n := readable(t, filepath.Dir(path), "sketches"); n > 0 || readSidecar(t, f) != "" {
			t.Errorf("whole before the purge %v: still readable in %d files", whole, n)
		}
	}
	if err := f.WriteSidecar(text("sketches")); err != nil || readSidecar(t, f) != "sketches" {
		t.Errorf("a write after the purge: %v", err)
	}
	write(t, f, written(6, 8, 100))
	if readSidecar(t, f) != "sketches" {
		t.Error("a batch without a purge removes the sidecar")
	}
}

// TestSidecarOfAFileThatWasMoved: where the store's file is moved away before a write or within it, the sidecar of what takes its place stays.
func TestSidecarOfAFileThatWasMoved(t *testing.T) {
	for _, within := range []bool{false, true} {
		path := filepath.Join(t.TempDir(), "r.db")
		f, _ := openLoad(t, path)
		defer f.Close()
		move := func() {
			os.Rename(path, path+".old")
			other, _ := openLoad(t, path)
			defer other.Close()
			if err := other.WriteSidecar(text("of the other store")); err != nil {
				t.Fatal(err)
			}
		}
		if !within {
			move()
		}
		err := f.WriteSidecar(func(w io.Writer) error {
			if within {
				move()
			}
			return text("of the file that was moved")(w)
		})
		if got := readSidecar(t, f); !errors.Is(err, errMoved) || got != "of the other store" {
			t.Errorf("within the write %v: %v, and the sidecar %q", within, err, got)
		}
	}
}

// TestSidecarAfterACompaction: the file that a compaction put in the place of the store's is the store's.
func TestSidecarAfterACompaction(t *testing.T) {
	f, _ := openLoad(t, filepath.Join(t.TempDir(), "r.db"))
	defer f.Close()
	f.tidy.above = 1 << 16
	write(t, f, written(1, 200, 3000), purged(1, 190))
	before := f.is
	for more := true; more; {
		more, _ = f.Tidy()
	}
	if os.SameFile(before, f.is) {
		t.Fatal("no compaction, so that the test proves nothing")
	}
	if err := f.WriteSidecar(text("sketches")); err != nil || readSidecar(t, f) != "sketches" {
		t.Errorf("sidecar %q, %v", readSidecar(t, f), err)
	}
}

// TestPurgeOnAFullDiskRemovesSidecar: bbolt cannot write the purge, the journal has it, and the sidecar goes.
func TestPurgeOnAFullDiskRemovesSidecar(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.db")
	f, _ := openLoad(t, path)
	write(t, f, written(1, 5, 100))
	if err := f.WriteSidecar(text("sketches")); err != nil {
		t.Fatal(err)
	}
	f.journal.reserve()
	f.db.Close() // bbolt writes nothing more
	if err := f.Write(purged(1, 2)); err != nil || readSidecar(t, f) != "" {
		t.Errorf("purge by the journal: %v, sidecar %q", err, readSidecar(t, f))
	}
	f.journal.close()
}

// TestPurgeRemovesSidecarFirst: a kill may end a purge at any moment after the disk has it, so the sidecar is gone before bbolt commits.
func TestPurgeRemovesSidecarFirst(t *testing.T) {
	f, _ := openLoad(t, filepath.Join(t.TempDir(), "r.db"))
	defer f.Close()
	write(t, f, written(1, 5, 100))
	if err := f.WriteSidecar(text("sketches")); err != nil {
		t.Fatal(err)
	}
	f.journal.path = filepath.Join(t.TempDir(), "missing", "journal")
	b := purged(1, 2)
	b.Put = []store.Record{{Kind: 99}} // neither bbolt nor the journal writes this
	if err := f.Write(b); err == nil || readSidecar(t, f) != "" {
		t.Errorf("a purge that is not written: %v, sidecar %q", err, readSidecar(t, f))
	}
}

// TestSidecarReplacesLinks: what lies where a sidecar is written is neither followed nor keeps its mode.
func TestSidecarReplacesLinks(t *testing.T) {
	path, other := filepath.Join(t.TempDir(), "r.db"), filepath.Join(t.TempDir(), "other")
	f, _ := openLoad(t, path)
	defer f.Close()
	os.WriteFile(other, []byte("of another program"), 0o644)
	if err := os.Symlink(other, path+newSidecarMark); err != nil {
		t.Skip(err)
	}
	if err := f.WriteSidecar(text("sketches")); err != nil || readSidecar(t, f) != "sketches" {
		t.Errorf("sidecar %q, %v", readSidecar(t, f), err)
	}
	if got, _ := os.ReadFile(other); string(got) != "of another program" {
		t.Errorf("the link was followed: %q", got)
	}
	if info, err := os.Lstat(path + sidecarMark); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v: not a file of the owner alone", info, err)
	}
}

// TestDamagedFileLosesSidecar: the sidecar of a file that is set aside is not that of the new one.
func TestDamagedFileLosesSidecar(t *testing.T) {
	data, _ := original(t)
	path := filepath.Join(t.TempDir(), "r.db")
	os.WriteFile(path, breakMetas(data), 0o600)
	os.WriteFile(path+sidecarMark, []byte("canary"), 0o600)
	f, err := open(path, bbolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got := readSidecar(t, f); f.report.Aside == "" || got != "" {
		t.Errorf("%+v: sidecar %q", f.report, got)
	}
}

// TestTidyWithoutRemoval: where a sidecar cannot be removed, what was purged from the file becomes unreadable all the same.
func TestTidyWithoutRemoval(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.db")
	f, _ := openLoad(t, path)
	defer f.Close()
	if err := os.MkdirAll(filepath.Join(path+sidecarMark, "in use"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, f, written(0, 60, 3000), evicted(0, 10), purged(10, 60))
	faults := 0
	for range 200 {
		if _, err := f.Tidy(); err != nil {
			faults++
		}
	}
	data, err := os.ReadFile(path)
	if n := bytes.Count(data, []byte(canary)); n > 0 || faults == 0 || err != nil {
		t.Errorf("readable %d times after %d faults, %v", n, faults, err)
	}
}
