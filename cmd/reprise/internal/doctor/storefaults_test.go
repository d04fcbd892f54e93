package doctor

import (
	"bytes"
	"encoding/binary"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"reprise/store"
	"reprise/store/file"
)

var storeFaults = []fault{
	{"a folder that is missing", "error store.writable", "does not exist", func(p *patient) { p.set("STORE", "file:"+p.t.TempDir()+"/none/r.db") }},
	{"a device in place of a file", "error store.writable", "is no regular file (Dc", func(p *patient) { p.set("STORE", "file:/dev/null") }},
	{"a place that cannot be written", "error store.writable", "cannot be written", func(p *patient) { p.set("STORE", "file:/proc/r.db") }},
	{"a disk that is full", "error store.space", "has 0.0 KiB left", func(p *patient) { p.machine.Free = func(string) (uint64, error) { return 0, nil } }},
	{"a disk with less than the capacity", "warning store.space", "may be stored", func(p *patient) {
		p.machine.Free = func(string) (uint64, error) { return 100 << 20, nil }
	}},
	{"a file that every user can read", "warning store.private", "every user of this machine", func(p *patient) { os.Chmod(p.stored(nil), 0o644) }},
	{"a damaged record", "warning store.damage", "records do not check", func(p *patient) {
		p.stored(func(b []byte) []byte { return bytes.Replace(b, []byte("the answer"), []byte("the antwer"), 1) })
	}},
	{"a file that was cut", "error store.damage", "moves it aside", func(p *patient) { p.stored(func(b []byte) []byte { return b[:len(b)/2] }) }},
	{"a file of a newer version", "error store.version", "data of a newer version", func(p *patient) {
		p.stored(newerFormat)
	}},
	{"a file of another program", "error store.version", "not a file of this program", func(p *patient) { p.set("STORE", "file:"+p.write("notes.txt", "my notes\n")) }},
}

// newerFormat raises the version of the page format in both meta pages of a file.
func newerFormat(b []byte) []byte {
	const header, version, sum, pageSize = 16, 4, 56, 8 << 10
	for _, page := range [][]byte{b, b[pageSize:]} {
		meta := page[header:]
		meta[version]++
		h := fnv.New64a()
		h.Write(meta[:sum])
		binary.NativeEndian.PutUint64(meta[sum:], h.Sum64())
	}
	return b
}

// stored makes a store file with an answer, changes its bytes, and returns its path.
func (p *patient) stored(change func([]byte) []byte) (path string) {
	p.t.Helper()
	if err := p.open().Close(); err != nil {
		p.t.Fatal(err)
	}
	path = p.store()
	b, err := os.ReadFile(path)
	if err != nil {
		p.t.Fatal(err)
	}
	if change != nil {
		b = change(b)
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		p.t.Fatal(err)
	}
	return path
}

// store is the path of the store file.
func (p *patient) store() string { return strings.TrimPrefix(p.env["REPRISE_STORE"], "file:") }

// open makes a store file with an answer, and keeps it open.
func (p *patient) open() *file.File {
	p.t.Helper()
	f, err := file.Open(p.store())
	if err != nil {
		p.t.Fatal(err)
	}
	if _, err = f.Load(func(store.Record) error { return nil }); err == nil {
		err = f.Write(&store.Batch{Put: []store.Record{{Kind: store.KindEntry, ID: 1, Body: []byte("the answer")}}})
	}
	if err != nil {
		p.t.Fatal(err)
	}
	return f
}

// TestFix: what is safe is changed, and only when it is asked for.
func TestFix(t *testing.T) {
	p := newPatient(t)
	dir := filepath.Join(t.TempDir(), "a", "b")
	p.set("STORE", "file:"+dir+"/r.db")
	p.examine()
	if _, err := os.Stat(dir); err == nil {
		t.Fatal("a folder was made without --fix")
	}
	r, printed := p.examine("--fix")
	if got := r.complaints(); len(got) > 0 || !strings.Contains(printed, "made the folder "+dir) {
		t.Errorf("%q; %s", got, printed)
	}
	path := p.stored(nil)
	os.Chmod(path, 0o664)
	r, printed = p.examine("--fix")
	if i, err := os.Stat(path); err != nil || i.Mode().Perm() != 0o660 || len(r.complaints()) > 0 {
		t.Errorf("%v, %v; %s", i.Mode(), err, printed)
	}
	other := filepath.Join(t.TempDir(), "other")
	if err := os.WriteFile(other, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	p.set("STORE", "file:"+other)
	r, printed = p.examine("--fix")
	if i, err := os.Stat(other); err != nil || i.Mode().Perm() != 0o644 || !slices.Equal(r.complaints(), []string{"warning store.private"}) {
		t.Errorf("an empty file, which may be another's: %v, %v; %s", i.Mode(), err, printed)
	}
}
