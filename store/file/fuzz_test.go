package file

import (
	"bytes"
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
