package file

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"

	"reprise/store"
)

var _ store.Sidecar = (*File)(nil)

const (
	sidecarMark    = ".graph"
	newSidecarMark = ".graph.new"
)

// sidecar is a file beside the store's, path.graph, and its successor while that is written.
type sidecar struct {
	writing sync.Mutex // one at a time writes

	mu     sync.Mutex // protects the name of the file, and what follows
	purges int        // so far
}

// ReadSidecar implements store.Sidecar.
func (f *File) ReadSidecar() ([]byte, error) {
	data, err := os.ReadFile(f.report.Name + sidecarMark)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", f.report.Name+sidecarMark, err)
	}
	return data, nil
}

// WriteSidecar implements store.Sidecar. A kill or a full disk leaves the data of before.
func (f *File) WriteSidecar(write func(io.Writer) error) error {
	s, path := &f.sidecar, f.report.Name
	s.writing.Lock()
	defer s.writing.Unlock()
	s.mu.Lock()
	purges := s.purges
	s.mu.Unlock()
	err := writeSynced(path+newSidecarMark, write)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil && purges != s.purges {
		err = store.ErrPurged
	}
	if err == nil {
		err = os.Rename(path+newSidecarMark, path+sidecarMark)
	}
	if err != nil {
		_ = os.Remove(path + newSidecarMark)
		return fmt.Errorf("write %s: %w", path+sidecarMark, err)
	}
	return nil
}

// writeSynced makes a file that its owner alone can read.
func writeSynced(path string, write func(io.Writer) error) error {
	to, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	err = write(to)
	if err == nil {
		err = to.Sync()
	}
	return errors.Join(err, to.Close())
}

// remove removes the data of the store at path, and makes a write that is under way fail.
func (s *sidecar) remove(path string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.purges++
	if err := os.Remove(path + sidecarMark); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
