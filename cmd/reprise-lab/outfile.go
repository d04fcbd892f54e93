package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// outFile is a file that is being made, beside the one that it will replace. A nil one is not wanted.
type outFile struct {
	what string // for errors: "model"
	path string // "": temp is a pipe or a device, which is written as it is
	temp *os.File
	done bool
}

// createOut opens the file before the work, so that a wrong name does not cost minutes.
func createOut(what, path string) (*outFile, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("write %s: %s is no regular file", what, path)
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // so that a link stays one
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		if at := (*fs.PathError)(nil); errors.As(err, &at) {
			err = at.Err // without the name of the temporary file
		}
		return nil, fmt.Errorf("write %s %s: %w", what, path, err)
	}
	return &outFile{what: what, path: path, temp: f}, nil
}

// commit writes the content and gives the file its name.
func (f *outFile) commit(write func(io.Writer) error) error {
	err := write(f.temp)
	if err == nil && f.path != "" {
		err = errors.Join(f.temp.Chmod(0o644), f.temp.Sync())
	}
	if err = errors.Join(err, f.temp.Close()); err == nil && f.path != "" {
		err = os.Rename(f.temp.Name(), f.path)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", f.what, err)
	}
	f.done = true
	return nil
}

// discard removes the file unless it was committed.
func (f *outFile) discard() {
	if f != nil && !f.done {
		if err := f.temp.Close(); f.path != "" && (err == nil || errors.Is(err, fs.ErrClosed)) {
			os.Remove(f.temp.Name())
		}
	}
}
