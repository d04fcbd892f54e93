// Package storetest checks implementations of store.Backing.
package storetest

import (
	"bytes"
	"cmp"
	"errors"
	"maps"
	"slices"
	"sync"

	"reprise/store"
)

// ErrClosed is returned by a Memory that was closed.
var ErrClosed = errors.New("backing is closed")

type name struct {
	kind store.Kind
	id   uint64
}

// Memory is a Backing in a map: the reference for the others, and a place to inject faults. Its zero value is empty.
// Reopen makes it usable again after Close, as a restart would.
type Memory struct {
	mu      sync.Mutex // protects the rest
	records map[name][]byte
	closed  bool
	fault   error
	writes  int
}

var _ store.Backing = (*Memory)(nil)

// Fail makes every Write from now on return err; nil ends that.
func (m *Memory) Fail(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fault = err
}

// Writes counts the calls of Write, failed ones too.
func (m *Memory) Writes() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.writes
}

// Reopen undoes Close and returns m.
func (m *Memory) Reopen() *Memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = false
	return m
}

// Clone is an independent backing with the same records, as a kill at this moment would leave it.
func (m *Memory) Clone() *Memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	return &Memory{records: maps.Clone(m.records)}
}

// Count is the number of records of a kind.
func (m *Memory) Count(k store.Kind) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := 0
	for at := range m.records {
		if at.kind == k {
			n++
		}
	}
	return n
}

// Load implements store.Backing.
func (m *Memory) Load(fn func(store.Record) error) (store.Report, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := store.Report{Name: "memory"}
	if m.closed {
		return r, ErrClosed
	}
	all := slices.SortedFunc(maps.Keys(m.records), func(a, b name) int { return cmp.Compare(a.kind, b.kind) })
	for _, at := range all {
		if err := fn(store.Record{Kind: at.kind, ID: at.id, Body: m.records[at]}); err != nil {
			return r, err
		}
		r.Kept++
	}
	return r, nil
}

// Write implements store.Backing.
func (m *Memory) Write(b *store.Batch) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.writes++
	if m.closed {
		return ErrClosed
	}
	if m.fault != nil {
		return m.fault
	}
	if m.records == nil {
		m.records = map[name][]byte{}
	}
	for r := range b.Deletions() {
		delete(m.records, name{r.Kind, r.ID})
	}
	for _, r := range b.Put {
		m.records[name{r.Kind, r.ID}] = bytes.Clone(r.Body)
	}
	return nil
}

// Close implements store.Backing.
func (m *Memory) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	return nil
}

// Keeps is a store.Keeper.
type Keeps func() bool

// Keeper implements store.Keeper.
func (k Keeps) Keeper() bool { return k() }

// Spaces is a store.Former.
type Spaces func(space string) (name string, dim int)

// Former implements store.Former.
func (s Spaces) Former(space string) (name string, dim int) { return s(space) }
