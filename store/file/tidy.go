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
// takes it. So after a purge, and once after each Open, every free page is overwritten with zeros (scrub.go), in steps between the batches
// that come after it. It costs no space and is safe at any moment: a free page belongs to no tree but that of the meta before, which is
// never used.
//
// Copies of the file that were set aside are removed by a purge: what they hold of it cannot be found.

// tidying is the state of that work.
type tidying struct {
	purged    bool      // a purge has left bytes to be overwritten: Close does it
	scrubbing bool      // there may be free pages with bytes
	next      int       // the page at which the next step of it begins
	again     time.Time // after a fault: when to try again
	asides    error     // why copies that were set aside could not be removed; nil: none are left
	removal   time.Time // when to try that again, which must not hold up the rest
	failed    error     // of the compaction by Open, until Tidy has reported it
	released  time.Time // the last release

	total, free atomic.Int64 // bytes of the file; what of it holds no record
}

const (
	tidyPause    = 5 * time.Second // between a fault and the next attempt
	releaseEvery = 2 * time.Second
)

// Tidy implements store.Tidier.
func (f *File) Tidy() (more bool, err error) {
	if f.db == nil || f.broken != nil || f.report.ReadOnly != nil {
		return false, nil
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	f.journal.reserve()
	if now := time.Now(); now.Sub(f.tidy.released) > releaseEvery {
		f.tidy.released = now
		_ = release(f.db) // else the memory is only higher
	}
	more, err = f.tidyOne(time.Now())
	if err != nil {
		return false, fmt.Errorf("tidy %s: %w", f.report.Name, cause(f.report.Name, err))
	}
	return more, nil
}

func (f *File) tidyOne(now time.Time) (more bool, err error) {
	t, wait := &f.tidy, now.Before(f.tidy.again)
	switch {
	case t.failed != nil:
		err, t.failed = t.failed, nil
		return false, fmt.Errorf("make it shorter: %w", err)
	case t.asides != nil && !now.Before(t.removal):
		t.removeAsides(f.report.Name)
		t.removal = now.Add(tidyPause)
		return t.asides == nil, t.asides
	case wait:
	case len(f.journal.ids) > 0:
		err = f.commit(&store.Batch{Purged: true})
	case len(f.evicted.urgent) > 0 || f.evicted.sweepDue():
		err = f.sweep()
	case t.scrubbing:
		err = f.guarded(f.scrub)
	default:
		return false, nil
	}
	if err != nil {
		t.again = now.Add(tidyPause)
	}
	return err == nil && !wait, err
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
	if t := &f.tidy; b.Purged {
		t.purged, t.scrubbing, t.next = true, true, 0
		t.removeAsides(f.report.Name)
	}
	f.measure()
}

// removeAsides removes the damaged copies of the file at path. Tidy tries again where one cannot be removed, and reports why.
func (t *tidying) removeAsides(path string) {
	dir, base := filepath.Split(path)
	all, err := os.ReadDir(cmp.Or(dir, "."))
	for _, e := range all {
		if e.Type().IsRegular() && isAsideOf(base, e.Name()) {
			err = errors.Join(err, os.Remove(filepath.Join(dir, e.Name())))
		}
	}
	t.asides = err
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
