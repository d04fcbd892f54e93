package file

import (
	"bytes"

	"go.etcd.io/bbolt"
)

// What one step of a scrub looks at, and overwrites at most: some milliseconds on a disk.
const (
	scrubLook  = 8192    // pages
	scrubBytes = 2 << 20 // of free pages
	scrubRun   = 64      // pages that are read at once
)

// scrub does one step of overwriting free pages with zeros.
func (f *File) scrub() error {
	t := &f.tidy
	s := scrubber{f: f, page: f.db.Info().PageSize}
	if err := f.db.View(s.step); err != nil {
		return err
	}
	if s.wrote {
		if err := f.held.Sync(); err != nil {
			return err
		}
	}
	if t.next = s.next; s.done {
		t.scrubbing, t.purged = false, false
	}
	return nil
}

// scrubber is one step. No batch is written meanwhile: both are calls of one goroutine.
type scrubber struct {
	f           *File
	page        int
	buf, zeros  []byte
	next        int
	wrote, done bool
}

// step overwrites free pages from tidy.next on. What lies behind the last page in use is free too: a batch that failed may have been
// written there in part.
func (s *scrubber) step(tx *bbolt.Tx) error {
	info, err := s.f.held.Stat()
	if err != nil {
		return err
	}
	inUse, all := int(tx.Size())/s.page, int(info.Size())/s.page
	s.buf, s.zeros = make([]byte, scrubRun*s.page), make([]byte, scrubRun*s.page)
	s.next = max(s.f.tidy.next, 2) // after the metas
	for looked, free := 0, 0; s.next < all && looked < scrubLook && free < scrubBytes; looked++ {
		n, skip := run(tx, s.next, inUse, all)
		if n > 0 {
			if err := s.clear(n); err != nil {
				return err
			}
			free += n * s.page
		}
		s.next += n + skip
	}
	s.done = s.next >= all
	return nil
}

// run returns how many pages from one on are free, or else how many a record or node takes.
func run(tx *bbolt.Tx, from, inUse, all int) (free, used int) {
	for at := from; at < all && at-from < scrubRun; at++ {
		if at >= inUse {
			continue
		}
		p, err := tx.Page(at)
		switch {
		case err == nil && p != nil && p.Type == "free":
		case at > from:
			return at - from, 0
		case err != nil || p == nil:
			return 0, 1
		default:
			return 0, 1 + p.OverflowCount
		}
	}
	return min(all-from, scrubRun), 0
}

// clear overwrites n pages from s.next on, unless they are zero.
func (s *scrubber) clear(n int) error {
	at, zeros := int64(s.next)*int64(s.page), s.zeros[:n*s.page]
	old := s.buf[:n*s.page]
	if _, err := s.f.held.ReadAt(old, at); err != nil {
		return err
	}
	if bytes.Equal(old, zeros) {
		return nil
	}
	s.wrote = true
	_, err := s.f.held.WriteAt(zeros, at)
	return err
}
