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
	store   string     // the path of the store's file
	writing sync.Mutex // one at a time writes

	mu     sync.Mutex  // protects the names of the files, and what follows
	purges int         // so far
	is     os.FileInfo // the store's file, to recognise it by
}

// errMoved says that the path of the store names no file, or another one than this process has open. That may be the store of another
// process, which nothing of this one must touch.
var errMoved = errors.New("the file was moved away while it was in use")

// inPlace returns errMoved unless the path still names the store's file.
func (s *sidecar) inPlace() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.inPlaceLocked()
}

func (s *sidecar) inPlaceLocked() error {
	if named, err := os.Stat(s.store); err != nil || !os.SameFile(s.is, named) {
		return errMoved
	}
	return nil
}

// become lets rename put another file in the place of the store's.
func (s *sidecar) become(is os.FileInfo, rename func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := rename()
	if err == nil {
		s.is = is
	}
	return err
}

// ReadSidecar implements store.Sidecar.
func (s *sidecar) ReadSidecar() ([]byte, error) {
	data, err := os.ReadFile(s.store + sidecarMark)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", s.store+sidecarMark, err)
	}
	return data, nil
}

// HasSidecar implements store.Sidecar.
func (s *sidecar) HasSidecar() bool {
	_, err := os.Stat(s.store + sidecarMark)
	return err == nil
}

// WriteSidecar implements store.Sidecar. A kill or a full disk leaves the data of before.
func (s *sidecar) WriteSidecar(write func(io.Writer) error) error {
	path := s.store
	s.writing.Lock()
	defer s.writing.Unlock()
	s.mu.Lock()
	purges, err := s.purges, s.inPlaceLocked()
	s.mu.Unlock()
	if err != nil {
		return fmt.Errorf("write %s: %w", path+sidecarMark, err)
	}
	err = writeSynced(path+newSidecarMark, write)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil && purges != s.purges {
		err = store.ErrPurged
	}
	if err == nil {
		err = s.inPlaceLocked()
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

// writeSynced makes a new file that its owner alone can read. What is in its place is removed: it may be a link, or readable by others.
func writeSynced(path string, write func(io.Writer) error) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	to, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	err = write(to)
	if err == nil {
		err = to.Sync()
	}
	return errors.Join(err, to.Close())
}

// remove removes the data, and makes a write that is under way fail.
func (s *sidecar) remove() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.purges++
	if err := os.Remove(s.store + sidecarMark); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
