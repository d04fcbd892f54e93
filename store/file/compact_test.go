package file

import (
	"path/filepath"
	"testing"
)

// TestWasteful: a file in which half is free right after a compaction, because bbolt doubles its length, is not compacted again for
// nothing, and is compacted when a purge has emptied it.
func TestWasteful(t *testing.T) {
	const mib = 1 << 20
	for _, c := range []struct {
		what                     string
		total, free              int64
		settledTotal, settledUse int64
		want                     bool
	}{
		{"more than half is free", 16 * mib, 9 * mib, 0, 0, true},
		{"half is free", 16 * mib, 8 * mib, 0, 0, false},
		{"little is free", 4 * mib, 3 * mib, 0, 0, false},
		{"right after a compaction", 16 * mib, 8*mib + 100<<10, 16 * mib, 8*mib - 100<<10, false},
		{"a little was deleted since", 16 * mib, 10 * mib, 16 * mib, 8*mib - 100<<10, false},
		{"nearly all was deleted since", 16 * mib, 16*mib - 200<<10, 16 * mib, 8*mib - 100<<10, true},
		{"the file has grown since", 32 * mib, 17 * mib, 16 * mib, 8 * mib, true},
	} {
		tidy := tidying{above: compactAbove}
		tidy.total.Store(c.total)
		tidy.free.Store(c.free)
		tidy.settled.total, tidy.settled.used = c.settledTotal, c.settledUse
		if got := tidy.wasteful(); got != (c.want && canReplace) {
			t.Errorf("%s: %v", c.what, got)
		}
	}
}

// TestCompactTwice: a purge that comes while a compaction is under way leaves free pages in the new file too, and they do not stay.
func TestCompactTwice(t *testing.T) {
	f, _ := openLoad(t, filepath.Join(t.TempDir(), "r.db"))
	defer f.Close()
	f.tidy.above, f.tidy.step = 64<<10, 64<<10
	write(t, f, written(1, 400, 20_000), purged(1, 250))
	for f.tidy.copy == nil || f.tidy.copy.copied < 2<<20 {
		if more, err := f.Tidy(); err != nil || !more {
			t.Fatal("no compaction: ", more, err)
		}
	}
	write(t, f, purged(250, 399))
	tidyUp(t, f)
	if total, _ := f.Space(); total > 256<<10 {
		t.Errorf("the file of one record has %d KiB", total>>10)
	}
}
