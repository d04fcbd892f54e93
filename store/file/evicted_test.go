package file

import (
	"maps"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"go.etcd.io/bbolt"

	"reprise/store"
)

func evicted(from, to uint64) *store.Batch {
	b := &store.Batch{}
	for id := from; id < to; id++ {
		b.Evicted = append(b.Evicted, id)
	}
	return b
}

// inTree counts the records of a kind that bbolt has.
func inTree(t testing.TB, f *File, k store.Kind) (n int) {
	t.Helper()
	if err := f.db.View(func(tx *bbolt.Tx) error { n = tx.Bucket(bucketOf(k)).Stats().KeyN; return nil }); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestEvictionsAreSwept: an evicted entry is gone for Load at once. Its records stay until a third of all entries is evicted; then they
// go together. A large one goes at once.
func TestEvictionsAreSwept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.db")
	f, _ := openLoad(t, path)
	write(t, f, written(0, 300, 500), written(300, 303, 20_000), evicted(0, 90))
	tidyUp(t, f)
	if n := inTree(t, f, store.KindEntry); n != 303 || f.evicted.left != 90 || f.evicted.all != 303 {
		t.Errorf("%d entries in the tree, %d of %d evicted; want all 303, and 90 of them", n, f.evicted.left, f.evicted.all)
	}
	write(t, f, evicted(300, 302))
	if n := inTree(t, f, store.KindEntry); n != 301 {
		t.Errorf("%d entries in the tree after two large ones were evicted, want 301", n)
	}
	f.Close()
	f, got := openLoad(t, path)
	if len(got) != 211 || f.report.Skipped > 0 || f.evicted.left != 90 || f.evicted.all != 301 {
		t.Fatalf("%d records after a restart, %+v, %d of %d evicted", len(got), f.report, f.evicted.left, f.evicted.all)
	}
	write(t, f, evicted(280, 300))
	tidyUp(t, f)
	if n := inTree(t, f, store.KindEntry); n != 191 || f.evicted.left != 0 || f.evicted.all != 191 {
		t.Errorf("%d entries in the tree, %d of %d evicted; want 191 after a sweep", n, f.evicted.left, f.evicted.all)
	}
	f.Close()
}

// TestPurgeSweeps: a purge makes what was evicted before unreadable too, by Tidy, by Close, or by the next start after a kill.
func TestPurgeSweeps(t *testing.T) {
	for _, how := range []string{"tidy", "close", "kill"} {
		t.Run(how, func(t *testing.T) {
			dir := t.TempDir()
			f, _ := openLoad(t, filepath.Join(dir, "r.db"))
			write(t, f, written(0, 100, 3000), evicted(0, 30))
			stay := &store.Batch{}
			for id := uint64(5000); id < 5200; id++ {
				stay.Put = append(stay.Put, store.Record{Kind: store.KindEntry, ID: id, Body: []byte("stays")})
			}
			write(t, f, stay, purged(30, 100))
			switch how {
			case "kill":
				next := t.TempDir()
				copyFolder(t, dir, next)
				f.Close()
				dir = next
				f, _ = openLoad(t, filepath.Join(dir, "r.db"))
				tidyUp(t, f)
			case "tidy":
				tidyUp(t, f)
			}
			if how != "close" {
				if n := readable(t, dir, canary); n > 0 {
					t.Errorf("readable %d times", n)
				}
			}
			f.Close()
			if n := readable(t, dir, canary); n > 0 {
				t.Errorf("readable %d times when it is closed", n)
			}
			g, got := openLoad(t, filepath.Join(dir, "r.db"))
			defer g.Close()
			if len(got) != 200 || g.report.Skipped > 0 || g.evicted.left != 0 {
				t.Errorf("%d records, %+v, %d evicted", len(got), g.report, g.evicted.left)
			}
		})
	}
}

// TestEvictionsAsModel compares the file with maps under random batches, sweeps, restarts and kills.
func TestEvictionsAsModel(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	dir := t.TempDir()
	f, _ := openLoad(t, filepath.Join(dir, "r.db"))
	want, next := map[name]string{}, uint64(4000)
	for i := range 400 {
		var b store.Batch
		for range rng.IntN(30) {
			for _, k := range []store.Kind{store.KindEntry, store.KindState} {
				body := string(make([]byte, rng.IntN(3000)))
				b.Put = append(b.Put, store.Record{Kind: k, ID: next, Body: []byte(body)})
				want[name{k, next}] = body
			}
			next++
		}
		write(t, f, &b)
		if b = (store.Batch{Purged: rng.IntN(10) == 0}); b.Purged {
			b.Delete = store.RecordsOf(4000 + rng.Uint64N(next-3999))
		}
		for at := range want {
			if rng.IntN(12) == 0 && at.kind == store.KindEntry && !b.Purged {
				b.Evicted = append(b.Evicted, at.id)
			}
		}
		write(t, f, &b)
		for r := range b.Deletions() {
			delete(want, name{r.Kind, r.ID})
		}
		if _, err := f.Tidy(); err != nil {
			t.Fatal(err)
		}
		if live := len(want) / 2; f.evicted.all-f.evicted.left != live {
			t.Fatalf("batch %d: %d entries less %d evicted, want %d", i, f.evicted.all, f.evicted.left, live)
		}
		if i%20 > 0 {
			continue
		}
		to := t.TempDir()
		copyFolder(t, dir, to)
		f.Close()
		dir = to
		g, got := openLoad(t, filepath.Join(dir, "r.db"))
		if f = g; !maps.Equal(got, want) || f.report.Skipped > 0 || f.report.Aside != "" {
			t.Fatalf("batch %d: %d records, want %d; %+v", i, len(got), len(want), f.report)
		}
		tidyUp(t, f)
		if f.evicted.sweepDue() {
			t.Errorf("batch %d: %d of %d entries are evicted and not swept", i, f.evicted.left, f.evicted.all)
		}
	}
	f.Close()
}
