package file

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"reprise/store"
)

// TestInspect: what Open would find is found without a change of the file.
func TestInspect(t *testing.T) {
	data, records := original(t)
	damaged, cut := bytes.Clone(data), data[:len(data)/2]
	for at := range damaged { // every version of the record on every page
		if f, err := parseFrame(damaged[at:]); err == nil && f.kind == store.KindEntry && f.id == 2 {
			damaged[at+frameHeader] ^= 1
		}
	}
	newer := bytes.Clone(data)
	for at := range newer {
		if f, err := parseFrame(newer[at:]); err == nil && f.kind == store.KindEntry && f.id == 2 {
			newer[at+8] = frameVersion + 1
			reseal(newer[at:min(at+frameHeader+len(f.body), len(newer))])
		}
	}
	for _, c := range []struct {
		name    string
		data    []byte
		damaged int
		is      error
	}{
		{name: "sound", data: data},
		{name: "empty"},
		{name: "one record", data: damaged, damaged: 1},
		{name: "cut", data: cut, is: store.ErrDamaged},
		{name: "newer", data: newer, is: store.ErrVersion},
		{name: "another file", data: []byte("my notes\n"), is: ErrForeign},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "r.db")
			os.WriteFile(path, c.data, 0o600)
			i, err := Inspect(t.Context(), path)
			if !errors.Is(err, c.is) || (err != nil) != (c.is != nil) || i.Damaged != c.damaged || !i.Exists || i.InUse {
				t.Errorf("%+v, %v", i, err)
			}
			if c.name == "sound" && i.Records < len(records) {
				t.Errorf("%d records of %d", i.Records, len(records))
			}
			if now, _ := os.ReadFile(path); !bytes.Equal(now, c.data) {
				t.Error("the file was changed")
			}
			if around, _ := os.ReadDir(filepath.Dir(path)); len(around) != 1 {
				t.Errorf("%d files are beside it", len(around)-1)
			}
		})
	}
	if i, err := Inspect(t.Context(), filepath.Join(t.TempDir(), "none.db")); i.Exists || err != nil {
		t.Errorf("missing: %+v, %v", i, err)
	}
}

// TestInspectBesideItsOwner: the process that has the file open goes on, and one that opens it later needs not wait.
func TestInspectBesideItsOwner(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.db")
	f, _ := openLoad(t, path)
	if i, err := Inspect(t.Context(), path); !i.InUse || err != nil {
		t.Errorf("%+v, %v", i, err)
	}
	if err := f.Write(&store.Batch{Put: []store.Record{{Kind: store.KindEntry, ID: 1, Body: []byte("a")}}}); err != nil {
		t.Error(err)
	}
	f.Close()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Inspect(ended, path); !errors.Is(err, context.Canceled) {
		t.Errorf("out of time: %v", err)
	}
	if i, err := Inspect(t.Context(), path); i.InUse || err != nil {
		t.Errorf("afterwards: %+v, %v", i, err)
	}
	f, got := openLoad(t, path)
	defer f.Close()
	if len(got) != 1 {
		t.Errorf("%v", got)
	}
}
