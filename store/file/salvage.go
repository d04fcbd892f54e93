package file

import (
	"bytes"
	"errors"
	"io"

	"reprise/store"
)

// name is what a record is called.
type name struct {
	kind store.Kind
	id   uint64
}

// place is where the latest frame of a record lies.
type place struct {
	gen uint64
	at  int64
	len int64
}

// wreck is a file that has lost its structure, and the frames found in it.
type wreck struct {
	r       io.ReaderAt
	size    int64
	found   map[uint64]map[name]place // by salt
	frames  map[uint64]int
	damaged int

	chunk   []byte // of the file, from chunkAt on
	chunkAt int64
}

// scan finds every intact frame. Pages that bbolt has freed still hold former versions and deleted records: of versions
// the latest counts, and what was deleted is told by the graves. It returns store.ErrVersion for a newer file.
func scan(r io.ReaderAt, size int64) (*wreck, error) {
	w := &wreck{r: r, size: size, found: map[uint64]map[name]place{}, frames: map[uint64]int{}, chunk: make([]byte, 0, 256<<10)}
	for at := int64(0); at < size; {
		next := w.seek(at)
		if next >= size {
			break
		}
		n, err := w.take(next)
		if errors.Is(err, store.ErrVersion) {
			return nil, err
		}
		if err != nil {
			w.damaged++
			n = 1
		}
		at = next + n
	}
	return w, nil
}

// seek returns where the next magic stands from at on, or the size. A part of the file that cannot be read is passed
// over.
func (w *wreck) seek(at int64) int64 {
	for at < w.size {
		b := w.window(at)
		if i := bytes.Index(b, []byte(frameMagic)); i >= 0 {
			return at + int64(i)
		}
		if len(b) < len(frameMagic) {
			at += sector
		} else {
			at += int64(len(b) - len(frameMagic) + 1)
		}
	}
	return w.size
}

// sector is what a disk fails to read at the least.
const sector = 512

// window returns what follows at, at least a magic's length short of the end of the file; nothing where it cannot be
// read.
func (w *wreck) window(at int64) []byte {
	if at >= w.chunkAt && at+int64(len(frameMagic)) <= w.chunkAt+int64(len(w.chunk)) {
		return w.chunk[at-w.chunkAt:]
	}
	w.chunk = w.chunk[:cap(w.chunk)]
	n, err := w.r.ReadAt(w.chunk, at)
	if err != nil && !errors.Is(err, io.EOF) {
		n, _ = w.r.ReadAt(w.chunk[:sector], at)
	}
	w.chunk, w.chunkAt = w.chunk[:n], at
	return w.chunk
}

// take reads the frame at a place and returns its length.
func (w *wreck) take(at int64) (int64, error) {
	f, err := w.read(at)
	if err != nil {
		return 0, err
	}
	records := w.found[f.salt]
	if records == nil {
		records = map[name]place{}
		w.found[f.salt] = records
	}
	w.frames[f.salt]++
	n := int64(frameHeader + len(f.body))
	if old, ok := records[name{f.kind, f.id}]; !ok || f.gen >= old.gen {
		records[name{f.kind, f.id}] = place{f.gen, at, n}
	}
	return n, nil
}

func (w *wreck) read(at int64) (frame, error) {
	head := make([]byte, frameHeader)
	if _, err := w.r.ReadAt(head, at); err != nil {
		return frame{}, errShort
	}
	n, err := frameLen(head)
	if err != nil {
		return frame{}, err
	}
	if at+n > w.size {
		return frame{}, errShort
	}
	b := make([]byte, n)
	if _, err := w.r.ReadAt(b, at); err != nil {
		return frame{}, errShort
	}
	return parseFrame(b)
}

// salt is the one that most frames carry.
func (w *wreck) salt() uint64 {
	var best uint64
	for s, n := range w.frames {
		if n > w.frames[best] || n == w.frames[best] && s < best {
			best = s
		}
	}
	return best
}

// each hands over the latest frame of every record that was not deleted.
func (w *wreck) each(fn func(frame) error) error {
	records := w.found[w.salt()]
	dead := graves{}
	for at, p := range records {
		if f, err := w.read(p.at); at.kind == kindGraves && err == nil {
			dead[at.id] = f.body
		}
	}
	for at, p := range records {
		if ofEntry(at.kind) && dead.has(at.id) {
			continue
		}
		f, err := w.read(p.at)
		if err != nil {
			w.damaged++
			continue
		}
		if err := fn(f); err != nil {
			return err
		}
	}
	return nil
}
