// Package toy keeps the records of a store in a file that each batch replaces whole.
package toy

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"maps"
	"os"

	"reprise/store"
)

type name struct {
	Kind store.Kind
	ID   uint64
}

// Toy is a store.Backing in one file.
type Toy struct {
	path    string
	records map[name][]byte
	closed  bool
}

var _ store.Backing = (*Toy)(nil)

// Open reads the file at path, if there is one.
func Open(path string) (*Toy, error) {
	s := &Toy{path: path, records: map[name][]byte{}}
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	defer f.Close()
	if err := gob.NewDecoder(f).Decode(&s.records); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return s, nil
}

// Load implements store.Backing.
func (s *Toy) Load(fn func(store.Record) error) (store.Report, error) {
	r := store.Report{Name: s.path}
	for at, body := range s.records {
		if err := fn(store.Record{Kind: at.Kind, ID: at.ID, Body: body}); err != nil {
			return r, err
		}
		r.Kept++
	}
	return r, nil
}

// Write implements store.Backing.
func (s *Toy) Write(b *store.Batch) error {
	if s.closed {
		return fmt.Errorf("write %s: %w", s.path, os.ErrClosed)
	}
	next := maps.Clone(s.records)
	for r := range b.Deletions() {
		delete(next, name{r.Kind, r.ID})
	}
	for _, r := range b.Put {
		next[name{r.Kind, r.ID}] = bytes.Clone(r.Body)
	}
	if err := s.replace(next); err != nil {
		return fmt.Errorf("write %s: %w", s.path, err)
	}
	s.records = next
	return nil
}

func (s *Toy) replace(records map[name][]byte) error {
	f, err := os.Create(s.path + ".new")
	if err != nil {
		return err
	}
	if err := errors.Join(gob.NewEncoder(f).Encode(records), f.Close()); err != nil {
		return err
	}
	return os.Rename(s.path+".new", s.path)
}

// Close implements store.Backing.
func (s *Toy) Close() error {
	s.closed = true
	return nil
}
