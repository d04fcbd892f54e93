package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"reprise/cmd/internal/cli"
	"reprise/cmd/reprise/internal/config"
	"reprise/store"
	"reprise/store/file"
)

const (
	leastSpace = 64 << 20         // free bytes below which a disk counts as full
	readLimit  = 20 * time.Second // for a store file
)

// storeFile is the file of the store, and what the checks have found of it.
type storeFile struct {
	x     *exam
	path  string
	found file.Inspection
	err   error // of the inspection
	full  error // why a file beside it cannot be written, where its disk is full

	closed bool // other users' rights to it were taken away; of the check private alone
}

// store plans the checks of the place where answers are kept.
func (x *exam) store(values *check) {
	f := &storeFile{x: x, path: x.cfg.Store.File()}
	writable := x.plan.add("store.writable", f.writable, values)
	version := x.plan.add("store.version", f.version, writable)
	version.limit = readLimit
	x.plan.add("store.damage", f.damage, version)
	x.plan.add("store.private", f.private, version)
	x.plan.add("store.space", f.space, version)
	x.plan.add("store.unwritten", f.unwritten, values)
}

// unused says why there is no file.
func (f *storeFile) unused() string {
	if f.x.cfg.Store.Shared() != "" {
		return "answers are kept in Redis"
	}
	return "REPRISE_STORE=memory keeps answers in memory alone"
}

// writable writes and removes a small file beside the store, and opens the store without a change of it.
func (f *storeFile) writable(context.Context) finding {
	if f.path == "" {
		return skipped("%s", f.unused())
	}
	dir := filepath.Dir(f.path)
	const repair = "Give the user of the proxy the right to write there, or name another place in REPRISE_STORE."
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		missing := failure("Make the folder, or name another place in REPRISE_STORE.", "the folder %s does not exist", dir)
		missing.fix = func() (string, error) { return "made the folder " + dir, os.MkdirAll(dir, 0o700) }
		return missing
	}
	if i, err := os.Stat(f.path); err == nil && !i.Mode().IsRegular() {
		return failure("Name a file in REPRISE_STORE.", "%s is no regular file (%v)", f.path, i.Mode().Type())
	}
	if store, err := os.OpenFile(f.path, os.O_WRONLY, 0); err == nil {
		store.Close()
	} else if !errors.Is(err, fs.ErrNotExist) {
		return failure(repair, "%v", err)
	}
	t, err := os.CreateTemp(dir, filepath.Base(f.path)+".doctor-*")
	if err == nil {
		_, err = t.Write(make([]byte, 4<<10))
		err = errors.Join(err, t.Close(), os.Remove(t.Name()))
	}
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		f.full, err = err, nil // for another check
	}
	if err != nil {
		return failure(repair, "a file beside %s cannot be written: %v", f.path, err)
	}
	return ok("%s", f.path)
}

// version reads the file.
func (f *storeFile) version(ctx context.Context) finding {
	f.found, f.err = file.Inspect(ctx, f.path)
	switch {
	case errors.Is(f.err, store.ErrVersion):
		return failure("Run the newer program, or move the file away: the cache then starts empty.", "%s: %v", f.path, f.err)
	case errors.Is(f.err, file.ErrForeign):
		return failure("Name another place in REPRISE_STORE.", "%s: %v", f.path, f.err)
	case !f.found.Exists:
		return ok("the file is made at the start")
	case errors.Is(f.err, context.DeadlineExceeded):
		return ok("of this program or an earlier one; %s are not read to the end", cli.Bytes(f.found.Size))
	}
	return ok("of this program or an earlier one")
}

// damage reports what the inspection has found, or what a running instance found when it opened the file.
func (f *storeFile) damage(context.Context) finding {
	const repair = "Check the disk. The proxy goes on without what is damaged: a move of the file makes it start empty."
	i := f.found
	switch {
	case errors.Is(f.err, store.ErrDamaged):
		return failure(repair, "%s: %v; the next start moves it aside and begins empty", f.path, f.err)
	case errors.Is(f.err, context.DeadlineExceeded):
		return skipped("%s could not be read within %v", cli.Bytes(i.Size), readLimit)
	case f.err != nil:
		return failure("Give the user of the proxy the right to read it.", "%s: %v", f.path, f.err)
	case i.Damaged > 0:
		return warning(repair, "%s: %d of %d records do not check and are left out", f.path, i.Damaged, i.Damaged+i.Records)
	case !i.Exists:
		return ok("nothing is stored yet")
	case i.InUse:
		return f.damageAtStart(repair)
	}
	return ok("%s check%s", plural(i.Records, "record"), aside(i.Aside))
}

func (f *storeFile) damageAtStart(repair string) finding {
	m := f.x.instance().metrics
	if m["reprise_store_set_aside"] > 0 {
		return warning(repair, "when the running instance opened %s, its structure was damaged: it was moved aside", f.path)
	}
	if n := int(m["reprise_store_skipped_records"]); n > 0 {
		return warning(repair, "when the running instance opened %s, %s did not check", f.path, plural(n, "record"))
	}
	return ok("in use; it checked when it was opened")
}

// aside mentions earlier damaged files.
func aside(files []string) string {
	if len(files) == 0 {
		return ""
	}
	return fmt.Sprintf("; %s beside it", plural(len(files), "earlier damaged file"))
}

// private checks that no other user can read the file. Its group may be one that a container runtime has chosen.
func (f *storeFile) private(context.Context) finding {
	path, mode := f.found.Path, f.found.Mode.Perm()
	if !f.found.Exists || mode&0o007 == 0 || f.closed {
		return ok("no other user can read it")
	}
	open := warning("chmod o-rwx "+path, "every user of this machine may read %s (mode %#o)", path, mode)
	if f.found.Size == 0 {
		return open // an empty file may be another's
	}
	open.fix = func() (string, error) {
		i, err := os.Stat(path)
		if err == nil {
			err = os.Chmod(path, i.Mode().Perm()&^0o007)
		}
		f.closed = err == nil
		return "took the rights of other users away from " + path, err
	}
	return open
}

// space compares what is free with what the store may still take.
func (f *storeFile) space(context.Context) finding {
	const repair = "Make room, or lower REPRISE_CAPACITY_BYTES."
	if f.full != nil {
		return failure(repair, "the disk of %s is full: %v", f.path, f.full)
	}
	bytes, err := f.x.machine.Free(filepath.Dir(f.path))
	if err != nil {
		return skipped("the free space is not known: %v", err)
	}
	free, grows := int64(min(bytes, 1<<62)), max(f.x.cfg.CapacityBytes-f.found.Size, 0)
	switch {
	case free < leastSpace:
		return failure(repair, "the disk of %s has %s left", f.path, cli.Bytes(free))
	case free < grows:
		return warning(repair, "the disk of %s has %s left, and up to %s more may be stored", f.path, cli.Bytes(free), cli.Bytes(grows))
	}
	return ok("%s free", cli.Bytes(free))
}

// unwritten asks the running instance how old the oldest change is that its file lacks.
func (f *storeFile) unwritten(context.Context) finding {
	const late = 5.0 // seconds; writes begin every half second
	if f.path == "" {
		return skipped("%s", f.unused())
	}
	i := f.x.instance()
	if !i.running || i.metrics == nil {
		return skipped("%s", i.missing())
	}
	age := i.metrics["reprise_store_unwritten_seconds"]
	const repair = "The log of the proxy has the cause: a full disk, or a file that cannot be written."
	switch {
	case i.metrics["reprise_store_read_only"] > 0:
		return failure(repair, "the running instance cannot write its file")
	case age >= config.MaxUnwritten.Seconds():
		return failure(repair, "the oldest change that the file lacks is %.0f s old: new answers are not kept", age)
	case age > late:
		return warning(repair, "the oldest change that the file lacks is %.0f s old", age)
	}
	return ok("the oldest change is %.1f s old", age)
}
