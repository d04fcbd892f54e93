package file

import (
	"bytes"
	"testing"

	"reprise/store"
)

func FuzzFrame(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte(frameMagic))
	f.Add((&frame{kind: store.KindEntry, salt: 1, gen: 2, id: 3, body: []byte("body")}).append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		fr, err := parseFrame(b)
		if err != nil {
			return
		}
		if again := fr.append(nil); !bytes.Equal(again, b[:len(again)]) && b[8] == frameVersion {
			t.Errorf("%x read as %+v", b, fr)
		}
	})
}

// FuzzOpen changes a few bytes of a sound file and cuts it: whatever is served was once written, and the next start
// finds it again.
func FuzzOpen(f *testing.F) {
	data, records, dead := original(f)
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
		w, err := scan(bytes.NewReader(bad[:size]), int64(size))
		if err != nil || foreign(bytes.NewReader(bad[:size]), int64(size), w) {
			return // nothing is left that tells it from somebody else's file
		}
		survive(t, bad[:size], records, dead)
	})
}
