package file

import (
	"bytes"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"reprise/store"
)

func FuzzFrame(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte(frameMagic))
	f.Add((&frame{kind: store.KindEntry, id: 3, body: []byte("body")}).append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		fr, err := parseFrame(b)
		if err != nil {
			return
		}
		again := fr.append(nil)
		want := bytes.Clone(b[:len(again)])
		clear(want[10:26]) // reserved
		reseal(want)
		if !bytes.Equal(again, want) && b[8] == frameVersion {
			t.Errorf("%x read as %+v", b, fr)
		}
	})
}

// FuzzOpen changes a few bytes of a sound file and cuts it: whatever is served was written and not deleted, and the next
// start finds it again.
func FuzzOpen(f *testing.F) {
	data, records := original(f)
	f.Add(uint32(0), []byte{1}, uint32(len(data)))
	f.Add(uint32(16), []byte{0, 0, 0, 0}, uint32(len(data)))
	f.Add(uint32(4096*3+12), []byte{255, 255, 255, 255}, uint32(len(data)))
	f.Add(uint32(9000), []byte("x"), uint32(20000))
	f.Fuzz(func(t *testing.T, at uint32, change []byte, size uint32) {
		bad := bytes.Clone(data)
		start := int(at) % len(bad)
		for i, c := range change {
			if start+i < len(bad) {
				bad[start+i] ^= c
			}
		}
		size = max(size%uint32(len(bad)+1), 1)
		if !ours(bytes.NewReader(bad[:size]), int64(size)) {
			return // no page shows that it was not another program's file
		}
		survive(t, bad[:size], records)
	})
}

// FuzzJournal: no journal makes the program fail, and what is read of one is what a journal with these entries says.
func FuzzJournal(f *testing.F) {
	j := journal{path: filepath.Join(f.TempDir(), "j"), ids: map[uint64]struct{}{}}
	for _, ids := range [][]uint64{{1, 2, 3}, {math.MaxUint64}, {}} {
		if err := j.add(ids); err != nil {
			f.Fatal(err)
		}
	}
	j.close()
	data, err := os.ReadFile(j.path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add(data[:len(data)-6])
	f.Fuzz(func(t *testing.T, data []byte) {
		j := journal{path: filepath.Join(t.TempDir(), "j"+journalMark), ids: map[uint64]struct{}{}}
		if j.parse(data) != nil {
			return
		}
		again := journal{path: j.path, ids: map[uint64]struct{}{}}
		if err := again.add(slices.Collect(maps.Keys(j.ids))); err != nil {
			t.Fatal(err)
		}
		again.close()
		back, err := readJournal(strings.TrimSuffix(j.path, journalMark))
		if err != nil || !maps.Equal(back.ids, j.ids) {
			t.Errorf("%v, %v, want %v", back.ids, err, j.ids)
		}
	})
}
