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

// name names a record.
type name struct {
	kind store.Kind
	id   uint64
}

// rewritten begins a record that original writes again with each batch: a damaged file may give an earlier version of it.
const rewritten = "learned by batch "

// original writes a small file with some history and returns its bytes and its records. Its last batch deletes an entry.
func original(t testing.TB) (data []byte, records map[name]string) {
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
		learned := rewritten + fmt.Sprint(i) + strings.Repeat("y", 1500)
		b.Put = append(b.Put, store.Record{Kind: store.KindLearned, Body: []byte(learned)})
		records[name{store.KindLearned, 0}] = learned
		if i%5 == 4 {
			old := i - 3
			for _, k := range []store.Kind{store.KindEntry, store.KindVector, store.KindState} {
				b.Delete = append(b.Delete, store.Record{Kind: k, ID: old})
				delete(records, name{k, old})
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
	return data, records
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

// checkServed fails unless every record served is as it was written, and no entry was deleted. The vector and the state of
// a deleted one may come back: they belong to no entry.
func checkServed(t testing.TB, got, records map[name]string) {
	t.Helper()
	for at, body := range got {
		earlier := at.kind == store.KindLearned && strings.HasPrefix(body, rewritten)
		if want, ok := records[at]; !ok {
			if at.kind == store.KindEntry || at.id >= 40 {
				t.Errorf("record %v was deleted or never written", at)
			}
		} else if body != want && !earlier {
			t.Errorf("record %v has a wrong body", at)
		}
	}
}

// survive opens damaged bytes. It fails unless what is served passes checkServed, a batch can be written, and the next start
// finds the same.
func survive(t testing.TB, data []byte, records map[name]string) *File {
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
	checkServed(t, got, records)
	if f.report.Aside != "" {
		if moved, _ := os.ReadFile(f.report.Aside); len(got) > 0 || !bytes.Equal(moved, data) {
			t.Errorf("the file was set aside, but %d records were served, or it was changed", len(got))
		}
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
	return f
}

// surviveReported does the same, and fails if records are lost and the report is silent.
func surviveReported(t testing.TB, data []byte, records map[name]string) {
	t.Helper()
	f := survive(t, data, records)
	if f.report.Kept < len(records) && f.report.Skipped == 0 && f.report.Aside == "" {
		t.Errorf("%d records of %d and no damage reported: %+v", f.report.Kept, len(records), f.report)
	}
}

// memoryDir is a place where making a file durable costs nothing, or "": there are hundreds of files to come.
func memoryDir() string {
	if info, err := os.Stat("/dev/shm"); err == nil && info.IsDir() {
		return "/dev/shm"
	}
	return ""
}

// damaged is a file that a test damages again and again.
type damaged struct {
	path    string
	data    []byte
	records map[name]string
}

func newDamaged(t *testing.T) *damaged {
	data, records := original(t)
	dir, err := os.MkdirTemp(memoryDir(), "reprise")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	d := &damaged{filepath.Join(dir, "r.db"), data, records}
	d.restore(t)
	return d
}

func (d *damaged) restore(t *testing.T) {
	if err := os.WriteFile(d.path, d.data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// open puts bytes at a place of the file, opens and loads it, checks what is served, and undoes the damage.
func (d *damaged) open(t *testing.T, at int, change []byte) (r store.Report, lost int) {
	t.Helper()
	poke := func(b []byte) {
		f, err := os.OpenFile(d.path, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := f.WriteAt(b, int64(at)); err != nil {
			t.Fatal(err)
		}
	}
	poke(change)
	f, got := openLoad(t, d.path)
	checkServed(t, got, d.records)
	f.Close()
	if f.report.Aside == "" {
		poke(d.data[at : at+len(change)])
	} else {
		os.Remove(f.report.Aside)
		d.restore(t)
	}
	if t.Failed() {
		t.Fatalf("with %x at %d", change, at)
	}
	return f.report, len(d.records) - len(got)
}

// TestFlippedBytes flips one byte after the other: all of the page headers and of the first elements, and a sample of the
// rest. Then one record is skipped at most, or the file is set aside. A page number is an exception: a former version of a
// page that it leads to lacks the records written since.
func TestFlippedBytes(t *testing.T) {
	d := newDamaged(t)
	number := map[int]bool{}
	for _, at := range d.pointers(t) {
		for i := range 8 {
			number[at+i] = true
		}
	}
	skipped, aside, flips := 0, 0, 0
	for at := 0; at < len(d.data); at++ {
		if at%4096 >= 64 && at%31 > 0 {
			continue
		}
		r, lost := d.open(t, at, []byte{d.data[at] ^ 1<<(at%8)})
		if r.Aside == "" && !number[at] && (lost > 1 || lost > r.Skipped) {
			t.Fatalf("byte %d flipped: %d records lost, %+v", at, lost, r)
		}
		flips++
		skipped += r.Skipped
		if r.Aside != "" {
			aside++
		}
	}
	t.Logf("%d flips: %d records skipped, %d files set aside", flips, skipped, aside)
}

// TestDamagedMeta damages each meta page after a purge. Without the later one bbolt would go back to the batch before.
func TestDamagedMeta(t *testing.T) {
	d := newDamaged(t)
	for page := range 2 {
		for at := pageHeader; at < pageHeader+metaSize; at++ {
			if r, _ := d.open(t, page*4096+at, []byte{d.data[page*4096+at] ^ 0x10}); r.Aside == "" {
				t.Errorf("byte %d of meta page %d: the file is still in use", at, page)
			}
		}
		for _, change := range [][]byte{make([]byte, 4096), bytes.Repeat([]byte{0xff}, 4096), d.data[(1-page)*4096 : (2-page)*4096]} {
			if r, _ := d.open(t, page*4096, change); r.Aside == "" {
				t.Errorf("meta page %d is overwritten and the file is still in use", page)
			}
		}
	}
}

// TestStalePages puts every page of the file under every page number of the tree: among the pages are former versions with
// purged entries.
func TestStalePages(t *testing.T) {
	d := newDamaged(t)
	stale := 0
	for _, at := range d.pointers(t) {
		for page := range uint64(len(d.data) / 4096) {
			r, _ := d.open(t, at, binary.NativeEndian.AppendUint64(nil, page))
			stale += r.Skipped
		}
	}
	if stale == 0 {
		t.Error("no purged entry was found in a former page: the test shows nothing")
	}
}

// pointers returns where the page numbers of the tree are.
func (d *damaged) pointers(t *testing.T) []int {
	m, err := findMeta(bytes.NewReader(d.data))
	if err != nil {
		t.Fatal(err)
	}
	return pointers(d.data, int(m.root))
}

// pointers returns where the page numbers below a page are.
func pointers(data []byte, page int) (all []int) {
	p := data[page*4096:]
	leaf := binary.NativeEndian.Uint16(p[8:]) == leafPage
	for i := range int(binary.NativeEndian.Uint16(p[10:])) {
		at := pageHeader + i*elemSize
		e, _ := parseElement(p, at, leaf)
		switch {
		case !leaf:
			all = append(append(all, page*4096+at+8), pointers(data, int(e.page))...)
		case e.bucket && binary.NativeEndian.Uint64(e.value) > 0:
			root := cap(data) - cap(e.value)
			all = append(append(all, root), pointers(data, int(binary.NativeEndian.Uint64(e.value)))...)
		}
	}
	return all
}

func TestTruncation(t *testing.T) {
	data, records := original(t)
	for at := 1; at < len(data); at += 1024 {
		for _, size := range []int{at, at - at%4096} {
			if size == 0 {
				continue
			}
			if surviveReported(t, data[:size], records); t.Failed() {
				t.Fatalf("cut at %d of %d", size, len(data))
			}
		}
	}
}

// TestPagesOverwritten breaks whole pages, as a disk does.
func TestPagesOverwritten(t *testing.T) {
	data, records := original(t)
	rng := rand.New(rand.NewPCG(5, 6))
	for page := 0; page < len(data)/4096; page++ {
		bad := bytes.Clone(data)
		for i := range 4096 {
			bad[page*4096+i] = byte(rng.Uint32())
		}
		surviveReported(t, bad, records)
		if t.Failed() {
			t.Fatalf("with page %d overwritten", page)
		}
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

// TestForeignDatabase: a file of another program that uses bbolt is left as it is.
func TestForeignDatabase(t *testing.T) {
	path := filepath.Join(t.TempDir(), "other.db")
	db, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	db.Update(func(tx *bbolt.Tx) error {
		b, err := tx.CreateBucket([]byte("users"))
		if err == nil {
			_, err = b.CreateBucket([]byte("by name"))
		}
		return errors.Join(err, b.Put([]byte("1"), []byte("Ann")))
	})
	db.Close()
	before, _ := os.ReadFile(path)
	if _, err := Open(path); !errors.Is(err, ErrForeign) {
		t.Errorf("open: %v", err)
	}
	if now, _ := os.ReadFile(path); !bytes.Equal(now, before) {
		t.Error("the file was changed")
	}
}

// TestDamagedTombstones: without them a purge could be undone later, so the file is set aside.
func TestDamagedTombstones(t *testing.T) {
	data, records := original(t)
	frames := 0
	for at := 0; at < len(data); at++ {
		f, err := parseFrame(data[at:])
		if err != nil || f.kind != kindTombstones {
			continue
		}
		frames++
		bad := bytes.Clone(data)
		bad[at+frameHeader+100] ^= 1
		if survive(t, bad, records).report.Aside != "" {
			return
		}
	}
	t.Errorf("none of %d tombstone records, former ones too, is missed", frames)
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
	f, err := Open(path)
	if err == nil {
		_, err = f.Load(func(store.Record) error { return nil })
		f.Close()
	}
	if !errors.Is(err, store.ErrVersion) || !strings.Contains(err.Error(), path) {
		t.Errorf("opening a newer file: %v", err)
	}
	if after, _ := os.ReadFile(path); !bytes.Equal(after, before) {
		t.Error("the newer file was changed")
	}
}

// reseal gives a frame the checksum that fits.
func reseal(b []byte) {
	fresh := frameSum(b)
	binary.LittleEndian.PutUint32(b[4:], fresh)
}
