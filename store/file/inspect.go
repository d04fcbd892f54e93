package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"reprise/store"
)

// Inspection is what Inspect finds.
type Inspection struct {
	Path    string // with links followed
	Exists  bool
	Mode    fs.FileMode
	Size    int64    // bytes
	InUse   bool     // another process has it open: only its version was looked at
	Records int      // that check
	Damaged int      // records that do not check
	Aside   []string // earlier damaged files beside it
}

// Inspect reads the file at path as Open does, and changes nothing. It keeps no lock, so that a process which starts meanwhile does not wait
// for it; where the file changes while it is read, it is in use. The error is store.ErrVersion, ErrForeign, store.ErrDamaged where the
// structure is damaged, the cause where it cannot be read, or that of ctx: the whole file is read.
func Inspect(ctx context.Context, path string) (i Inspection, err error) {
	i.Path = linked(path)
	i.Aside, _ = filepath.Glob(i.Path + asideMark + "*") // of a bad pattern there are none
	f, err := os.Open(i.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return i, nil
	}
	if err != nil {
		return i, cause(i.Path, err)
	}
	defer f.Close()
	before, err := f.Stat()
	if err != nil {
		return i, err
	}
	i.Exists, i.Mode, i.Size = true, before.Mode(), before.Size()
	if i.InUse = inUse(f); i.InUse {
		return i, versionOf(f)
	}
	err = i.read(ctx, f)
	if ctx.Err() != nil {
		return i, ctx.Err()
	}
	if after, gone := f.Stat(); gone != nil || after.Size() != before.Size() || !after.ModTime().Equal(before.ModTime()) || inUse(f) {
		i.InUse, i.Records, i.Damaged = true, 0, 0 // the pages were read while another process wrote them
		return i, versionOf(f)
	}
	return i, err
}

// versionOf returns store.ErrVersion for a file whose pages are of a newer format. Other errors may be those of a write under way.
func versionOf(f *os.File) error {
	if _, err := findMeta(f); errors.Is(err, store.ErrVersion) {
		return err
	}
	return nil
}

// read checks every page and every record.
func (i *Inspection) read(ctx context.Context, f *os.File) (err error) {
	defer guard(&err, errStructure)
	var newer error
	count := func(k store.Kind, key, value []byte) {
		switch _, err := readRecord(k, key, value); {
		case err == nil:
			i.Records++
		case errors.Is(err, store.ErrVersion):
			newer = err
		default:
			i.Damaged++
		}
	}
	if i.Size > 0 {
		_, err = checkAll(until{f, ctx}, i.Size, count)
	}
	if err == nil {
		_, err = readJournal(i.Path)
	}
	switch {
	case err == nil:
		return newer
	case errors.Is(err, errStructure) && ours(f, i.Size):
		return fmt.Errorf("%w: %w", store.ErrDamaged, err)
	case errors.Is(err, errStructure):
		return ErrForeign
	}
	return err
}

// until reads a file until a context ends.
type until struct {
	f   *os.File
	ctx context.Context
}

// ReadAt implements io.ReaderAt.
func (u until) ReadAt(p []byte, at int64) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.f.ReadAt(p, at)
}
