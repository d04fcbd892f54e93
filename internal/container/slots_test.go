package container

import (
	"fmt"
	"testing"
)

// TestSlots: the string has the names in a queue, its head first.
func TestSlots(t *testing.T) {
	var s Slots[uint64, string]
	var q, other Queue
	state := func(q *Queue) string {
		names := ""
		for slot := q.Head; slot != 0; slot = s.Cells[slot].Next {
			names += fmt.Sprint(s.Cells[slot].Name)
		}
		walked := ""
		for from := q.Tail; from != 0; { // two at a time
			from = s.Walk(from, 2, func(slot uint32) bool { walked = fmt.Sprint(s.Cells[slot].Name) + walked; return true })
		}
		if walked != names {
			t.Errorf("a walk finds %s in %s", walked, names)
		}
		return names
	}
	want := func(q *Queue, names string) {
		t.Helper()
		if got := state(q); got != names || q.Len != len(names) {
			t.Errorf("%s of %d, want %s", got, q.Len, names)
		}
	}
	for name := range uint64(4) {
		s.PushHead(&q, s.Add(name+1, fmt.Sprint("v", name+1)))
	}
	want(&q, "4321")
	two, _ := s.Find(2)
	if s.ToHead(&q, two); *s.At(two) != "v2" {
		t.Errorf("%q of 2", *s.At(two))
	}
	want(&q, "2431")
	s.Unlink(&q, two)
	s.Free(two)
	want(&q, "431")
	if again := s.Add(9, "v9"); again != two || s.Len() != 4 {
		t.Errorf("slot %d of %d names, want the free one", again, s.Len())
	}
	s.PushHead(&other, two)
	s.Join(&q, &other)
	want(&q, "9431")
	want(&other, "")
	s.Join(&other, &q)
	want(&other, "9431")
	s.Join(&other, &q)
	want(&other, "9431")
	s.Unname(two)
	if _, ok := s.Find(9); ok || s.Len() != 3 {
		t.Errorf("9 is found, of %d names", s.Len())
	}
	if name, ok := s.Name(0); ok || name != 0 {
		t.Errorf("slot 0 is %d", name)
	}
}
