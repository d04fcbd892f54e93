package container

import "testing"

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
