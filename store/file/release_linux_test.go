package file

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"go.etcd.io/bbolt"
)

// mapped is the memory that the map of a file takes of this process.
func mapped(t *testing.T, path string) (bytesOf int) {
	t.Helper()
	maps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Skip("no /proc/self/smaps: ", err)
	}
	of := false
	for line := range bytes.Lines(maps) {
		fields := bytes.Fields(line)
		switch {
		case !bytes.HasSuffix(fields[0], []byte(":")):
			of = bytes.HasSuffix(bytes.TrimSpace(line), []byte(path))
		case of && string(fields[0]) == "Rss:":
			kib, _ := strconv.Atoi(string(fields[1]))
			bytesOf += kib << 10
		}
	}
	return bytesOf
}

// TestRelease: reading the whole file takes memory of the process, and Tidy gives it back. What is read and written afterwards is right.
func TestRelease(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.db")
	f, _ := openLoad(t, path)
	write(t, f, written(0, 500, 8000))
	f.Close()
	f, got := openLoad(t, path)
	defer f.Close()
	tidyUp(t, f) // it looks at every page
	before := mapped(t, path)
	f.tidy.released = time.Time{}
	if _, err := f.Tidy(); err != nil {
		t.Fatal(err)
	}
	if after := mapped(t, path); before < 3<<20 || after > before/8 {
		t.Errorf("the map takes %d KiB, %d before", after>>10, before>>10)
	}
	write(t, f, written(500, 510, 8000))
	if err := release(f.db); err != nil {
		t.Fatal(err)
	}
	n := 0
	if err := f.db.View(func(tx *bbolt.Tx) error {
		return tx.Bucket(bucketOf(4)).ForEach(func(k, v []byte) error { n++; return nil })
	}); err != nil || n != len(got)+10 {
		t.Errorf("%d records of %d: %v", n, len(got)+10, err)
	}
}
