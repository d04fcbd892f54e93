package container

import (
	"fmt"
	"testing"
)

// TestHistory: the string has the identities and their values, the latest first.
func TestHistory(t *testing.T) {
	h := History[string]{Room: 3}
	state := func() (s string) {
		for key, v := range h.All() {
			s += fmt.Sprint(key, v, " ")
		}
		return s
	}
	for _, c := range []struct {
		key     uint64
		v       string
		dropped string
		want    string
	}{{1, "a", "", "1a "}, {2, "b", "", "2b 1a "}, {1, "c", "", "1c 2b "}, {3, "d", "", "3d 1c 2b "}, {4, "e", "b", "4e 3d 1c "}} {
		if oldest, dropped := h.Add(c.key, c.v); oldest != c.dropped || dropped != (c.dropped != "") || state() != c.want {
			t.Errorf("add %d: dropped %q, %v; %s, want %s", c.key, oldest, dropped, state(), c.want)
		}
	}
	if v, ok := h.Take(3); v != "d" || !ok || state() != "4e 1c " {
		t.Errorf("took %q, %v of %s", v, ok, state())
	}
	if _, ok := h.Take(3); ok {
		t.Error("3 is taken twice")
	}
	if h.Trim(1); h.Len() != 1 || state() != "4e " {
		t.Errorf("%d are left: %s", h.Len(), state())
	}
}

func TestGhostsForgetTheOldest(t *testing.T) {
	g := NewGhosts(2)
	for _, key := range []uint64{1, 2, 1, 3} {
		g.Add(key)
	}
	if g.Take(2) || !g.Take(1) || !g.Take(3) || g.Len() != 0 {
		t.Error("2 was the oldest of three in a room for two")
	}
	none := Ghosts{}
	none.Add(1)
	if none.Len() != 0 {
		t.Error("no room holds a ghost")
	}
}
