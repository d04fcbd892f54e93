package main

import (
	"fmt"
	"strings"
	"testing"

	"reprise/cmd/reprise/internal/config"
	"reprise/policy"
	"reprise/policy/registry"
	"reprise/store"
)

// TestFit: the capacity of a shared store follows the memory of the keeper where its prompts take more than is left for them.
func TestFit(t *testing.T) {
	evictor, err := registry.New("lru", policy.Options{Capacity: 100})
	if err != nil {
		t.Fatal(err)
	}
	kept, err := store.Open(store.Options{Evictor: evictor, Outside: true})
	if err != nil {
		t.Fatal(err)
	}
	defer kept.Close()
	for i := range 100 {
		kept.Put(&store.Entry{Key: store.Key{byte(i)}, Prompt: strings.Repeat(fmt.Sprint(i%10), 10_000), Answer: make([]byte, 100_000)}, kept.Tick())
	}
	limit := policy.Limit{Entries: 1000, Bytes: 1 << 30}
	each := kept.Bytes() / 100
	for name, c := range map[string]struct{ memory, near, entries int64 }{
		"no limit":                {0, 0, 1000},
		"enough":                  {each * 200, 0, 1000},
		"half of it":              {each * 100, 0, 50},
		"half, and a near-cache":  {each * 100, each * 10, 40},
		"less than one entry":     {each, 0, 1},
		"answers are not counted": {each * 202, 0, 1000},
	} {
		s := &sharing{kept: kept}
		got := s.fit(&config.Config{MemoryLimit: c.memory, Shared: config.Shared{NearBytes: c.near}})(limit)
		if n := int64(got.Entries); n > c.entries || n < max(c.entries-1, 1) || got.Bytes != limit.Bytes {
			t.Errorf("%s: %d entries, want %d", name, n, c.entries)
		}
	}
}
