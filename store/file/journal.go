package file

import (
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"

	"reprise/store"
)

// journal makes a purge durable when bbolt cannot write it, as on a full disk: bbolt writes every page that it changes to a new place.
// It is a file beside the store's, path.purged, whose space is taken in advance. It holds frames of entry ids, one for each batch, up
// to four zero bytes. Load leaves these entries out, and the next batch that bbolt does write deletes them and empties the journal.
//
// A frame that does not check may hide a purge, so the store's file is then as good as damaged. A kill in the middle of an addition
// can cause it, which takes a full disk at the same time.
type journal struct {
	path  string
	file  *os.File            // nil: not yet open
	ready bool                // its space is taken
	end   int64               // of the frames
	ids   map[uint64]struct{} // of purged entries that bbolt still has
}

const (
	kindPurged     store.Kind = 254 // of a journal's frames; no record of the file has it
	journalMark               = ".purged"
	journalReserve            = 256 << 10 // for some 200,000 entries
)

// readJournal reads the journal of a file.
func readJournal(path string) (j journal, err error) {
	j.path, j.ids = path+journalMark, map[uint64]struct{}{}
	data, err := os.ReadFile(j.path)
	if errors.Is(err, fs.ErrNotExist) {
		return j, nil
	}
	if err == nil {
		err = j.parse(data)
	}
	if errors.Is(err, errShort) || errors.Is(err, store.ErrDamaged) {
		return j, structural("the journal of purges %s does not check", j.path)
	}
	return j, err
}

func (j *journal) parse(data []byte) error {
	for len(data) >= 4 && binary.LittleEndian.Uint32(data) != 0 {
		fr, err := parseFrame(data)
		if err != nil {
			return err
		}
		if err := j.read(&fr); err != nil {
			return err
		}
		data = data[frameHeader+len(fr.body):]
	}
	return nil
}

func (j *journal) read(fr *frame) error {
	if fr.kind != kindPurged {
		return store.ErrDamaged
	}
	j.end += int64(frameHeader + len(fr.body))
	for id, b := uint64(0), fr.body; len(b) > 0; {
		step, n := binary.Uvarint(b)
		if n <= 0 {
			return store.ErrDamaged
		}
		id, b = id+step, b[n:]
		j.ids[id] = struct{}{}
	}
	return nil
}

// has reports whether an entry was purged.
func (j *journal) has(id uint64) bool {
	_, purged := j.ids[id]
	return purged
}

// reserve takes the space for later, once. Without it an addition needs space of its own.
func (j *journal) reserve() {
	if j.ready || j.open() != nil {
		return
	}
	size, err := j.file.Seek(0, io.SeekEnd)
	if err == nil && size < journalReserve {
		_, err = j.file.WriteAt(make([]byte, journalReserve-size), size)
		err = errors.Join(err, j.file.Sync())
	}
	j.ready = err == nil
}

func (j *journal) open() (err error) {
	if j.file == nil {
		j.file, err = os.OpenFile(j.path, os.O_RDWR|os.O_CREATE, 0o600)
	}
	return err
}

// add makes the removal of entries durable.
func (j *journal) add(ids []uint64) error {
	if err := j.open(); err != nil {
		return err
	}
	slices.Sort(ids)
	var body []byte
	last := uint64(0)
	for _, id := range ids {
		body = binary.AppendUvarint(body, id-last)
		last = id
	}
	fr := frame{kind: kindPurged, body: body}
	bytes := append(fr.append(nil), 0, 0, 0, 0) // the end; what follows is of before the journal was emptied
	if _, err := j.file.WriteAt(bytes, j.end); err != nil {
		return err
	}
	if err := j.file.Sync(); err != nil {
		return err
	}
	j.end += int64(len(bytes) - 4)
	for _, id := range ids {
		j.ids[id] = struct{}{}
	}
	return nil
}

// empty forgets the entries, which bbolt has deleted. If it is not written the next Open deletes them again, and finds none.
func (j *journal) empty() {
	if len(j.ids) == 0 {
		return
	}
	if j.ids, j.end = map[uint64]struct{}{}, 0; j.open() == nil {
		_, _ = j.file.WriteAt(make([]byte, 4), 0)
	}
}

func (j *journal) close() {
	if j.file != nil {
		_ = j.file.Close()
	}
}

// batch deletes the entries of the journal too.
func (j *journal) batch(b *store.Batch) *store.Batch {
	if len(j.ids) == 0 {
		return b
	}
	all := &store.Batch{Put: b.Put, Delete: slices.Clone(b.Delete), Evicted: b.Evicted, Purged: true}
	for id := range j.ids {
		all.Delete = append(all.Delete, store.RecordsOf(id)...)
	}
	return all
}
