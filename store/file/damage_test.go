package file

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.etcd.io/bbolt"

	"reprise/store"
)

// learnt begins what original writes anew with each batch: a damaged file may give an earlier version of it.
const learnt = "learned by batch "

// original writes a small file with some history and returns its bytes, its records, and every body that any of them
// ever had.
func original(t testing.TB) (data []byte, records map[name]string, dead []name) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "r.db")
	f, _ := openLoad(t, path)
	rng := rand.New(rand.NewPCG(3, 4))
	records = map[name]string{}
	for i := range uint64(40) {
		var b store.Batch
		for _, k := range []store.Kind{store.KindEntry, store.KindVector, store.KindState} {
			body := fmt.Sprintf("%d of %d ", k, i) + strings.Repeat("x", rng.IntN(1500))
			b.Put = append(b.Put, store.Record{Kind: k, ID: i, Body: []byte(body)})
			records[name{k, i}] = body
		}
		lesson := learnt + fmt.Sprint(i) + strings.Repeat("y", 1500)
		b.Put = append(b.Put, store.Record{Kind: store.KindLearned, Body: []byte(lesson)})
		records[name{store.KindLearned, 0}] = lesson
		if i%5 == 4 {
			old := i - 3
			for _, k := range []store.Kind{store.KindEntry, store.KindVector, store.KindState} {
				b.Delete = append(b.Delete, store.Record{Kind: k, ID: old})
				delete(records, name{k, old})
				dead = append(dead, name{k, old})
			}
		}
		if err := f.Write(&b); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data, records, dead
}

// openLoad opens a file and loads it.
func openLoad(t testing.TB, path string) (*File, map[name]string) {
	t.Helper()
	f, err := open(path, bbolt.Options{NoSync: true, NoGrowSync: true})
	if err != nil {
		t.Fatal(err)
	}
	got := map[name]string{}
	if _, err := f.Load(func(r store.Record) error {
		got[name{r.Kind, r.ID}] = string(r.Body)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return f, got
}

// survive opens damaged bytes, and fails unless everything served is as it was once written, a batch can be written,
// and what was served is still there at the next start.
func survive(t testing.TB, data []byte, records map[name]string, dead []name) (*File, map[name]string) {
	t.Helper()
	dir, err := os.MkdirTemp(memoryDir(), "reprise")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "r.db")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	f, got := openLoad(t, path)
	for at, body := range got {
		earlier := at.kind == store.KindLearned && strings.HasPrefix(body, learnt)
		if want, ok := records[at]; ok && body != want && !earlier {
			t.Errorf("record %v has a wrong body", at)
		} else if !ok && !contains(dead, at) {
			t.Errorf("record %v was never written", at)
		}
	}
	if lost := len(records) - len(got); lost > 0 && f.report.Skipped == 0 && f.report.Aside == "" {
		t.Errorf("%d records lost and nothing said: %+v", lost, f.report)
	}
	if err := f.Write(&store.Batch{Put: []store.Record{{Kind: store.KindTopic, ID: 9, Body: []byte("new")}}}); err != nil {
		t.Errorf("write after damage: %v", err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	again, kept := openLoad(t, path)
	defer again.Close()
	got[name{store.KindTopic, 9}] = "new"
	if !maps.Equal(kept, got) || again.report.Skipped > 0 {
		t.Errorf("next start: %d records of %d, %+v", len(kept), len(got), again.report)
	}
	delete(got, name{store.KindTopic, 9})
	return f, got
}

// memoryDir is a place where making a file durable costs nothing, or "": there are hundreds of files to come.
func memoryDir() string {
	if info, err := os.Stat("/dev/shm"); err == nil && info.IsDir() {
		return "/dev/shm"
	}
	return ""
}

func contains(names []name, n name) bool {
	for _, x := range names {
		if x == n {
			return true
		}
	}
	return false
}

func TestFlippedBytes(t *testing.T) {
	data, records, dead := original(t)
	kept := 0
	for i := range 200 {
		at := i * len(data) / 200
		bad := bytes.Clone(data)
		bad[at] ^= 1 << (i % 8)
		bad[min(at+i%3, len(bad)-1)] ^= 0x55
		_, got := survive(t, bad, records, dead)
		kept += len(got)
		if t.Failed() {
			t.Fatalf("with byte %d flipped", at)
		}
	}
	if share := float64(kept) / float64(200*len(records)); share < 0.97 {
		t.Errorf("%.1f %% of the records survive a flipped byte, want 97", 100*share)
	}
}

func TestTruncation(t *testing.T) {
	data, records, dead := original(t)
	for i := range 200 {
		at := 1 + i*len(data)/200
		survive(t, data[:at], records, dead)
		if t.Failed() {
			t.Fatalf("cut at %d of %d", at, len(data))
		}
	}
}

// TestPagesOverwritten breaks whole pages, as a disk does.
func TestPagesOverwritten(t *testing.T) {
	data, records, dead := original(t)
	rng := rand.New(rand.NewPCG(5, 6))
	for page := 0; page < len(data)/4096; page++ {
		bad := bytes.Clone(data)
		for i := range 4096 {
			bad[page*4096+i] = byte(rng.Uint32())
		}
		survive(t, bad, records, dead)
		if t.Failed() {
			t.Fatalf("with page %d overwritten", page)
		}
	}
}

// TestDeletedStaysDeleted: with the tree gone, the pages of deleted records are still in the file.
func TestDeletedStaysDeleted(t *testing.T) {
	data, records, dead := original(t)
	for _, page := range []int{0, 1} {
		copy(data[page*4096:], make([]byte, 16+64))
	}
	binary.NativeEndian.PutUint32(data[pageHeader:], metaMagic)
	f, got := survive(t, data, records, nil)
	if !maps.Equal(got, records) {
		t.Errorf("%d records salvaged, want %d", len(got), len(records))
	}
	if f.report.Aside == "" || f.report.Kept < len(records) {
		t.Errorf("report %+v", f.report)
	}
	if w, _ := scan(bytes.NewReader(data), int64(len(data))); len(w.found[w.salt()]) <= len(records)+1 {
		t.Fatalf("no page of the %d deleted records is left in this file: the test shows nothing", len(dead))
	}
}

// TestForgedFrame: a frame inside a text is not taken for a record, not even when the record around it is broken.
func TestForgedFrame(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.db")
	f, _ := openLoad(t, path)
	forged := (&frame{kind: store.KindEntry, salt: 77, gen: 1 << 40, id: 1, body: []byte("forged")}).append(nil)
	f.Write(&store.Batch{Put: []store.Record{
		{Kind: store.KindFormat, Body: []byte("space")},
		{Kind: store.KindEntry, ID: 1, Body: []byte("true")},
		{Kind: store.KindEntry, ID: 2, Body: append(bytes.Repeat([]byte("y"), 100), forged...)},
	}})
	f.Close()
	data, _ := os.ReadFile(path)
	data[bytes.Index(data, []byte("yyyyyyyy"))] ^= 1
	copy(data[:16+64], make([]byte, 16+64))
	copy(data[4096:4096+16+64], make([]byte, 16+64))
	os.WriteFile(path, data, 0o600)
	g, got := openLoad(t, path)
	defer g.Close()
	if got[name{store.KindEntry, 1}] != "true" || len(got) != 2 {
		t.Errorf("salvaged %v", got)
	}
}

func TestForeignFile(t *testing.T) {
	for _, lines := range []int{1, 12, 1000} {
		path := filepath.Join(t.TempDir(), "notes.txt")
		text := []byte(strings.Repeat("my notes\n", lines))
		os.WriteFile(path, text, 0o600)
		if _, err := Open(path); !errors.Is(err, ErrForeign) {
			t.Errorf("%d lines: open: %v", lines, err)
		}
		if now, _ := os.ReadFile(path); !bytes.Equal(now, text) {
			t.Errorf("%d lines: the file was touched", lines)
		}
	}
}

// TestOlderFile: a file that was made before a kind of record was known takes it.
func TestOlderFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.db")
	f, _ := openLoad(t, path)
	old := store.Record{Kind: store.KindEntry, ID: 1, Body: []byte("a")}
	f.Write(&store.Batch{Put: []store.Record{old}})
	f.db.Update(func(tx *bbolt.Tx) error { return tx.DeleteBucket(bucketOf(store.KindLearned)) })
	f.Close()
	f, got := openLoad(t, path)
	if got[name{store.KindEntry, 1}] != "a" || f.report.Skipped > 0 {
		t.Fatalf("%v, %+v", got, f.report)
	}
	later := store.Record{Kind: store.KindLearned, Body: []byte("b")}
	if err := f.Write(&store.Batch{Delete: []store.Record{later}}); err != nil {
		t.Error(err)
	}
	if err := f.Write(&store.Batch{Put: []store.Record{later}}); err != nil {
		t.Error(err)
	}
	if err := f.Write(&store.Batch{Put: []store.Record{{Kind: 200, ID: 1}}}); !errors.Is(err, store.ErrDamaged) {
		t.Errorf("a record of no kind is taken: %v", err)
	}
	f.Close()
	f, got = openLoad(t, path)
	defer f.Close()
	if got[name{store.KindLearned, 0}] != "b" || len(got) != 2 {
		t.Errorf("%v", got)
	}
}

func TestNewerVersion(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.db")
	f, _ := openLoad(t, path)
	f.Write(&store.Batch{Put: []store.Record{{Kind: store.KindEntry, ID: 1, Body: []byte("a")}}})
	newer := (&frame{kind: store.KindEntry, id: 2, body: []byte("b")}).append(nil)
	newer[8] = frameVersion + 1
	reseal(newer)
	f.db.Update(func(tx *bbolt.Tx) error { return tx.Bucket(bucketOf(store.KindEntry)).Put(keyOf(2), newer) })
	f.Close()
	before, _ := os.ReadFile(path)
	for _, damage := range []int{-1, 4096 * 2} { // the tree is sound, and it is not
		data := bytes.Clone(before)
		if damage > 0 {
			copy(data[:16+64], make([]byte, 16+64))
			copy(data[4096:4096+16+64], make([]byte, 16+64))
		}
		os.WriteFile(path, data, 0o600)
		f, err := Open(path)
		if err == nil {
			_, err = f.Load(func(store.Record) error { return nil })
			f.Close()
		}
		if !errors.Is(err, store.ErrVersion) || !strings.Contains(err.Error(), path) {
			t.Errorf("opening a newer file: %v", err)
		}
		if after, _ := os.ReadFile(path); !bytes.Equal(after, data) {
			t.Error("the newer file was changed")
		}
	}
}

// reseal gives a frame the checksum that fits.
func reseal(b []byte) {
	fresh := frameSum(b)
	binary.LittleEndian.PutUint32(b[4:], fresh)
}
