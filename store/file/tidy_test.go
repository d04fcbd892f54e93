package file

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.etcd.io/bbolt"

	"reprise/store"
)

const canary = "canary in a coal mine"

// written is a batch of entries whose bodies hold the canary.
func written(from, to uint64, size int) *store.Batch {
	b := &store.Batch{}
	for id := from; id < to; id++ {
		body := fmt.Sprint(canary, id, strings.Repeat("x", size))
		b.Put = append(b.Put, store.Record{Kind: store.KindEntry, ID: id, Body: []byte(body)})
	}
	return b
}

func purged(from, to uint64) *store.Batch {
	b := &store.Batch{Purged: true}
	for id := from; id < to; id++ {
		b.Delete = append(b.Delete, store.Record{Kind: store.KindEntry, ID: id})
	}
	return b
}

func write(t testing.TB, f *File, batches ...*store.Batch) {
	t.Helper()
	for _, b := range batches {
		if err := f.Write(b); err != nil {
			t.Fatal(err)
		}
	}
}

// tidyUp calls Tidy until there is nothing to do.
func tidyUp(t testing.TB, f *File) (steps int) {
	t.Helper()
	for {
		more, err := f.Tidy()
		if err != nil {
			t.Fatal(err)
		}
		if !more {
			return steps
		}
		steps++
	}
}

// readable counts a text in all files of a folder.
func readable(t testing.TB, dir, text string) (n int) {
	t.Helper()
	all, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		n += bytes.Count(data, []byte(text))
	}
	return n
}

// TestScrub: what was purged cannot be read in the file: not what an older batch left of it, not what a failed one left behind the last
// page, nor in a copy that was set aside. The other records stay.
func TestScrub(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "r.db")
	f, _ := openLoad(t, path)
	defer f.Close()
	asides := []string{path + ".damaged-20260102T030405", path + ".damaged-20260102T030405.2"}
	others := []string{path + ".damaged-notes", path + "2.damaged-20260102T030405"}
	for _, name := range append(asides, others...) {
		os.WriteFile(name, []byte("copy"), 0o600)
	}
	write(t, f, written(1, 200, 100), written(1, 200, 3000), written(200, 300, 9000))
	info, _ := f.held.Stat()
	f.held.WriteAt([]byte(canary), info.Size()-4096)
	write(t, f, purged(1, 300))
	for _, name := range asides {
		if _, err := os.Stat(name); err == nil {
			t.Errorf("%s is still there", name)
		}
	}
	for _, name := range others {
		if _, err := os.Stat(name); err != nil {
			t.Errorf("a file of another name was removed: %v", err)
		}
	}
	write(t, f, &store.Batch{Put: []store.Record{{Kind: store.KindEntry, ID: 999, Body: []byte("stays")}}})
	before := readable(t, dir, canary)
	steps := tidyUp(t, f)
	if n := readable(t, dir, canary); n > 0 || before == 0 {
		t.Errorf("readable %d times, %d before %d steps", n, before, steps)
	}
	f.Close()
	g, got := openLoad(t, path)
	defer g.Close()
	if len(got) != 1 || g.report.Aside != "" {
		t.Errorf("%d records, %+v", len(got), g.report)
	}
}

// TestScrubAtClose: what was purged is unreadable when the file is closed, without a call of Tidy, and after a kill by the next start.
func TestScrubAtClose(t *testing.T) {
	for _, killed := range []bool{false, true} {
		dir := t.TempDir()
		path := filepath.Join(dir, "r.db")
		f, _ := openLoad(t, path)
		write(t, f, written(1, 50, 3000), purged(1, 50))
		if killed {
			next := t.TempDir()
			copyFolder(t, dir, next)
			f.Close()
			dir, path = next, filepath.Join(next, "r.db")
			g, _ := openLoad(t, path)
			defer g.Close()
			tidyUp(t, g)
		} else {
			f.Close()
		}
		if n := readable(t, dir, canary); n > 0 {
			t.Errorf("killed %v: readable %d times", killed, n)
		}
	}
}

func copyFolder(t testing.TB, from, to string) {
	t.Helper()
	all, err := os.ReadDir(from)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		data, err := os.ReadFile(filepath.Join(from, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(to, e.Name()), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestCompact: a file that is mostly free becomes small when it is opened, through a link too, keeps its mode and its lock, and has the
// same records. The unfinished copy of a kill goes, and so do the indexes that earlier versions kept beside the file.
func TestCompact(t *testing.T) {
	dir := t.TempDir()
	path, real := filepath.Join(dir, "r.db"), filepath.Join(dir, "real", "r.db")
	if err := os.MkdirAll(filepath.Dir(real), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join("real", "r.db"), path); err != nil {
		t.Skip("no links here: ", err)
	}
	f, _ := openLoad(t, path)
	f.held.Chmod(0o640)
	write(t, f, written(1, 1000, 20_000), &store.Batch{Put: []store.Record{{Kind: store.KindSecret, Body: []byte("secret")}}})
	write(t, f, purged(1, 990))
	want := recordsOf(t, f)
	f.Close()
	before, _ := f.Space()
	for _, left := range []string{compactMark, ".graph"} {
		os.WriteFile(real+left, []byte("left behind"), 0o600)
	}
	for range 2 {
		var got map[name]string
		if f, got = openLoad(t, path); !maps.Equal(got, want) || f.tidy.failed != nil {
			t.Errorf("%d records, want %d: %v", len(got), len(want), f.tidy.failed)
		}
		after, _ := f.Space()
		info, _ := os.Stat(path)
		if canReplace && after > before/4 || info.Size() != after || info.Mode().Perm() != 0o640 {
			t.Errorf("%d bytes of %d, mode %v", info.Size(), before, info.Mode())
		}
		if _, err := Open(path); !errors.Is(err, store.ErrLocked) {
			t.Errorf("another process can open the file: %v", err)
		}
		write(t, f, written(990, 991, 20_000))
		if f.Close(); readable(t, filepath.Dir(real), "left behind") > 0 {
			t.Error("what was left beside the file is still there")
		}
	}
	if link, err := os.Readlink(path); err != nil || link != filepath.Join("real", "r.db") {
		t.Errorf("the link is gone: %v", err)
	}
}

func recordsOf(t testing.TB, f *File) map[name]string {
	t.Helper()
	got := map[name]string{}
	if _, err := f.Load(func(r store.Record) error { got[name{r.Kind, r.ID}] = string(r.Body); return nil }); err != nil {
		t.Fatal(err)
	}
	return got
}

// TestLinkedStore: what lies beside a store whose path is a link lies beside the file that the link names, from the first start on. A
// journal is found by either path; a damaged file leaves the link as it is, and the next purge removes its copy.
func TestLinkedStore(t *testing.T) {
	dir := t.TempDir()
	data := filepath.Join(dir, "data")
	link, target := filepath.Join(dir, "r.db"), filepath.Join(data, "target.db")
	os.Mkdir(data, 0o700)
	if err := os.Symlink(filepath.Join("data", "target.db"), link); err != nil {
		t.Skip("this system makes no links: ", err)
	}
	f, _ := openLoad(t, link)
	write(t, f, written(1, 50, 100))
	f.db.Close()
	write(t, f, purged(1, 50))
	for _, path := range []string{target, link} {
		g, got := openLoad(t, path)
		if len(got) > 0 {
			t.Errorf("%d purged records are back by %s", len(got), path)
		}
		write(t, g, written(60, 70, 100))
		g.Close()
		if path == target {
			os.WriteFile(target, bytes.Repeat([]byte("x"), 4096), 0o600)
			damaged, _ := os.OpenFile(target, os.O_RDWR, 0)
			damaged.WriteAt(make([]byte, 8), 0)
			damaged.WriteAt([]byte{metaPage, 0}, 8)
			damaged.Close()
		}
	}
	f, _ = openLoad(t, link)
	defer f.Close()
	write(t, f, purged(60, 70))
	if to, err := os.Readlink(link); err != nil || !strings.HasSuffix(to, "target.db") {
		t.Errorf("the link is now %q, %v", to, err)
	}
	for _, folder := range []string{dir, data} {
		all, _ := filepath.Glob(filepath.Join(folder, "*.damaged-*"))
		if len(all) > 0 {
			t.Errorf("left after the purge: %v", all)
		}
	}
}

// TestMovedAway: a store that is moved away while it is in use leaves alone what takes its place: a purge does not write to its journal.
func TestMovedAway(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.db")
	f, _ := openLoad(t, path)
	defer f.Close()
	write(t, f, written(1, 200, 3000), purged(1, 190))
	os.Rename(path, path+".old")
	other, _ := openLoad(t, path)
	write(t, other, written(1, 50, 100))
	want := recordsOf(t, other)
	tidyUp(t, f)
	f.db.Close()
	if err := f.Write(purged(190, 200)); err == nil {
		t.Error("a purge that nothing has written is confirmed")
	}
	other.Close()
	other, got := openLoad(t, path)
	defer other.Close()
	if !maps.Equal(got, want) || other.report.Aside != "" || len(other.journal.ids) > 0 {
		t.Errorf("%d records, want %d; %v in the journal", len(got), len(want), other.journal.ids)
	}
}

// TestCompactWithoutRoom: a file for whose copy there is no room is opened as it is, and the fault is reported once.
func TestCompactWithoutRoom(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "r.db")
	f, _ := openLoad(t, path)
	write(t, f, written(1, 1000, 20_000), purged(1, 980))
	want := recordsOf(t, f)
	f.Close()
	f, err := open(path, bbolt.Options{MaxSize: 64 << 10})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for range 2 {
		if _, err := f.Tidy(); (err != nil) != (canReplace && want != nil) {
			t.Errorf("fault %v", err)
		}
		if got := recordsOf(t, f); want != nil && !maps.Equal(got, want) {
			t.Errorf("%d records, want %d", len(got), len(want))
		}
		want = nil
	}
	if _, err := os.Stat(path + compactMark); err == nil {
		t.Error("the unfinished copy is still there")
	}
}

// TestTidyWithoutRemoval: where copies that were set aside cannot be looked for, what was purged from the file becomes unreadable all the same.
func TestTidyWithoutRemoval(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "here")
	os.Mkdir(dir, 0o700)
	f, _ := openLoad(t, filepath.Join(dir, "r.db"))
	defer f.Close()
	write(t, f, written(0, 60, 3000), evicted(0, 10))
	if err := os.Rename(dir, dir+".moved"); err != nil {
		t.Skip(err)
	}
	write(t, f, purged(10, 60))
	faults := 0
	for range 200 {
		if _, err := f.Tidy(); err != nil {
			faults++
		}
	}
	data, err := os.ReadFile(filepath.Join(dir+".moved", "r.db"))
	if n := bytes.Count(data, []byte(canary)); n > 0 || faults == 0 || err != nil {
		t.Errorf("readable %d times after %d faults, %v", n, faults, err)
	}
}

// TestPurgeOfAFullDisk: a purge of a file that has no room left is durable. bbolt finds free pages for it, or the journal has it.
func TestPurgeOfAFullDisk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.db")
	f, err := open(path, bbolt.Options{MaxSize: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	recordsOf(t, f)
	f.journal.reserve()
	for id := uint64(1); f.Write(written(id, id+1, 8000)) == nil; id++ {
	}
	write(t, f, purged(1, 1000))
	f.Close()
	g, got := openLoad(t, path)
	defer g.Close()
	if len(got) > 0 {
		t.Errorf("%d records", len(got))
	}
}

// TestPurgeWithoutBbolt: a purge is durable where bbolt cannot write at all, and so is the next one; other batches are refused. The next
// start leaves the entries out, deletes them, and empties the journal.
func TestPurgeWithoutBbolt(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "r.db")
	f, _ := openLoad(t, path)
	write(t, f, written(1, 100, 100))
	f.journal.reserve()
	f.held.Close() // no write of bbolt succeeds
	write(t, f, purged(1, 20), purged(30, 40))
	notPurged := purged(50, 60)
	notPurged.Purged = false
	for _, b := range []*store.Batch{notPurged, written(200, 201, 1)} {
		if err := f.Write(b); err == nil || f.broken != nil {
			t.Fatalf("a batch that is lost was accepted, or bbolt has stopped: %v", f.broken)
		}
	}
	if more, err := f.Tidy(); more || err == nil {
		t.Errorf("tidy without a disk: %v, %v", more, err)
	}
	f.Close()
	for round := range 3 {
		g, got := openLoad(t, path)
		if len(got) != 99-29 || g.report.Skipped > 0 || g.report.Aside != "" {
			t.Errorf("round %d: %d records, %+v", round, len(got), g.report)
		}
		for at := range got {
			if at.id < 20 || at.id >= 30 && at.id < 40 {
				t.Errorf("entry %d is back", at.id)
			}
		}
		if journaled := len(g.journal.ids); round < 2 && journaled != 29 || round == 2 && journaled > 0 {
			t.Errorf("round %d: %d entries are in the journal", round, journaled)
		}
		if round == 1 {
			tidyUp(t, g)
			if n := readable(t, dir, canary+"10x"); n > 0 || len(g.journal.ids) > 0 {
				t.Errorf("readable %d times, %d entries are in the journal", n, len(g.journal.ids))
			}
		}
		g.Close()
	}
}

// TestJournal: purges go to the journal in the order in which they come, survive a kill, and are refused where it cannot be written. One
// that does not check makes the file as good as damaged.
func TestJournal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.db")
	j, err := readJournal(path)
	if err != nil {
		t.Fatal(err)
	}
	j.reserve()
	for _, ids := range [][]uint64{{7, 3, 1 << 40}, {5}, nil, {1}} {
		if err := j.add(ids); err != nil {
			t.Fatal(err)
		}
	}
	wants := func(ids ...uint64) {
		t.Helper()
		k, err := readJournal(path)
		if err != nil || len(k.ids) != len(ids) {
			t.Errorf("%v, %v", k.ids, err)
		}
		for _, id := range ids {
			if !k.has(id) {
				t.Errorf("%d is missing", id)
			}
		}
	}
	wants(7, 3, 1<<40, 5, 1)
	j.empty()
	wants()
	j.add([]uint64{9})
	wants(9)
	j.add([]uint64{10})
	wants(9, 10)
	data, _ := os.ReadFile(path + journalMark)
	if len(data) != journalReserve {
		t.Errorf("%d bytes", len(data))
	}
	for at := range int(j.end) {
		broken := bytes.Clone(data)
		broken[at] ^= 0x10
		os.WriteFile(path+journalMark, broken, 0o600)
		if k, err := readJournal(path); !errors.Is(err, errStructure) && (err != nil || !k.has(9) || !k.has(10)) {
			t.Errorf("byte %d is damaged: %v, %v", at, k.ids, err)
		}
	}
	j.close()
	j.file.Close()
	if err := j.add([]uint64{11}); err == nil {
		t.Error("a journal that cannot be written accepts a purge")
	}
}

// TestDamagedJournal: with a journal that does not check the cache starts empty.
func TestDamagedJournal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.db")
	f, _ := openLoad(t, path)
	write(t, f, written(1, 10, 10))
	f.Close()
	os.WriteFile(path+journalMark, []byte("no journal at all"), 0o600)
	for range 2 {
		f, got := openLoad(t, path)
		if len(got) > 0 {
			t.Errorf("%d records", len(got))
		}
		f.Close()
	}
	if n := readable(t, filepath.Dir(path), canary); n != 9 {
		t.Errorf("the file that was set aside has %d of 9 entries", n)
	}
}
