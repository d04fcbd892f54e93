package file

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	"go.etcd.io/bbolt"

	"reprise/store"
)

var _ store.Tidier = (*File)(nil)

// What deleted records leave behind. bbolt changes no page in place: a page that a batch has freed keeps its bytes until a later batch
// takes it, and the file never becomes shorter. So two things follow a batch, in steps between the batches that come after it:
//
//   - After a purge, and once after each Open, every free page is overwritten with zeros (scrub.go). It costs no space and is safe at
//     any moment: a free page belongs to no tree but that of the meta before, which is never used.
//   - When more than half of the file is free, the records are copied to a new one that takes its place (compact.go).
//
// Copies of the file that were set aside are removed by a purge: what they hold of it cannot be found.

// tidying is the state of that work.
type tidying struct {
	purged    bool      // a purge has left bytes to be overwritten: Close does it
	scrubbing bool      // there may be free pages with bytes
	next      int       // the page at which the next step of it begins
	asides    bool      // copies that were set aside, or the sidecar, are to be removed
	again     time.Time // after a fault in one of the others: when to try again
	removal   time.Time // after a fault in the removal of asides, which must not hold up the rest

	copy     *compaction                 // under way; nil: none
	copyFrom time.Time                   // after a fault: when to try again
	settled  struct{ total, used int64 } // bytes of the file after the last one
	above    int64                       // compactAbove
	step     int                         // compactBytes

	released time.Time // the last release

	total, free atomic.Int64 // bytes of the file; what of it holds no record
}

// After a fault the next attempt is made no earlier than after this time.
const (
	tidyPause = 5 * time.Second
	copyPause = 10 * time.Minute

	releaseEvery = 2 * time.Second
)

// Tidy implements store.Tidier.
func (f *File) Tidy() (more bool, err error) {
	if f.db == nil || f.broken != nil || f.report.ReadOnly != nil {
		return false, nil
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	f.journal.reserve()
	t, now := &f.tidy, time.Now()
	if now.Sub(t.released) > releaseEvery {
		t.released = now
		_ = release(f.db) // else the memory is only higher
	}
	wait := now.Before(t.again)
	switch {
	case len(f.journal.ids) > 0 && !wait:
		err = f.commit(&store.Batch{Purged: true})
	case t.asides && !now.Before(t.removal):
		if err = t.removeCopies(&f.sidecar); err != nil {
			t.removal = now.Add(tidyPause)
			return false, fmt.Errorf("tidy %s: %w", f.report.Name, err)
		}
	case (len(f.urgent) > 0 || f.sweepDue()) && !wait:
		err = f.sweep()
	case t.scrubbing && !wait:
		err = f.guarded(f.scrub)
	case t.copy != nil || now.After(t.copyFrom) && t.wasteful() && len(f.bad) == 0:
		if err = f.guarded(f.compact); err != nil {
			t.copyFrom = now.Add(copyPause)
			f.abandon()
		}
	default:
		f.batches.frames = nil // no batch for a while
		return false, nil
	}
	if err != nil {
		t.again = now.Add(tidyPause)
		return false, fmt.Errorf("tidy %s: %w", f.report.Name, cause(f.report.Name, err))
	}
	return true, nil
}

// guarded runs a part of Tidy. After a panic in bbolt nothing more is done with the file.
func (f *File) guarded(run func() error) error {
	err := func() (err error) {
		defer guard(&err, errPanic)
		return run()
	}()
	if errors.Is(err, errPanic) {
		f.broken = err
	}
	return err
}

// committed notes what a batch has left behind.
func (f *File) committed(b *store.Batch) {
	t := &f.tidy
	if b.Purged {
		t.purged, t.scrubbing, t.next, t.asides = true, true, 0, true
		if t.copy != nil {
			t.copy.purged = true
		}
		_ = t.removeCopies(&f.sidecar) // otherwise Tidy tries again, and reports why
	}
	f.measure()
}

// removeCopies removes the damaged copies of the file, and the sidecar.
func (t *tidying) removeCopies(s *sidecar) error {
	err := errors.Join(s.remove(), removeAsides(s.store))
	t.asides = err != nil
	return err
}

// removeAsides removes the damaged copies of the file at path.
func removeAsides(path string) error {
	dir, base := filepath.Split(path)
	all, err := os.ReadDir(cmp.Or(dir, "."))
	if err != nil {
		return err
	}
	for _, e := range all {
		if e.Type().IsRegular() && isAsideOf(base, e.Name()) {
			err = errors.Join(err, os.Remove(filepath.Join(dir, e.Name())))
		}
	}
	return err
}

// isAsideOf reports whether asideName made name.
func isAsideOf(base, name string) bool {
	rest, ok := strings.CutPrefix(name, base+asideMark)
	stamp, number, _ := strings.Cut(rest, ".")
	_, err := time.Parse(asideTime, stamp)
	return ok && err == nil && strings.Trim(number, "0123456789") == ""
}

// Space implements store.Tidier.
func (f *File) Space() (total, dead int64) { return f.tidy.total.Load(), f.tidy.free.Load() }

// measure counts the bytes of the file, and those of them that hold no record.
func (f *File) measure() {
	info, err := f.held.Stat()
	if err != nil {
		return
	}
	var pages int64
	_ = f.db.View(func(tx *bbolt.Tx) error { pages = tx.Size() / int64(f.db.Info().PageSize); return nil })
	st := f.db.Stats()
	used := (pages - int64(st.FreePageN+st.PendingPageN)) * int64(f.db.Info().PageSize)
	f.tidy.total.Store(info.Size())
	f.tidy.free.Store(max(info.Size()-used, 0))
}
