package store_test

import (
	"fmt"
	"time"

	"reprise/policy"
	"reprise/policy/registry"
	"reprise/store"
	"reprise/store/storetest"
)

// A store of two entries, whose backing survives it. Each change returns its events: the third answer makes one of the others leave.
func Example() {
	disk := &storetest.Memory{} // file.Open has one that outlives the process
	open := func() *store.Store {
		evictor, err := registry.New("lru", policy.Options{Capacity: 2})
		if err != nil {
			panic(err)
		}
		s, err := store.Open(store.Options{Evictor: evictor, Limit: policy.Limit{Entries: 2}, Backing: disk.Reopen()})
		if err != nil {
			panic(err)
		}
		return s
	}
	s := open()
	for i, question := range []string{"one?", "two?", "three?"} {
		e := &store.Entry{Key: store.Key{byte(i + 1)}, Prompt: question, Answer: []byte("because"), Expires: time.Now().Add(time.Hour)}
		for _, ev := range s.Put(e, s.Tick()) {
			fmt.Println(ev.Kind, ev.ID)
		}
	}
	if err := s.Close(); err != nil {
		panic(err)
	}
	s = open()
	defer s.Close()
	if e, alias, ok := s.Lookup(store.Key{3}); ok {
		s.Hit(e.ID, 0, s.Tick())
		answer, err := e.Recording()
		fmt.Println(e.Prompt, string(answer), alias, err)
	}
	// Output:
	// insert 1
	// insert 2
	// insert 3
	// evict 1
	// three? because false <nil>
}
