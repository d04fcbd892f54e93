package policy

import (
	"fmt"
	"testing"
)

// popular makes an entry of Key 7 with ten hits, among a few others.
func popular(t *testing.T, name string, o Options) (Evictor, *Ledger) {
	t.Helper()
	e, err := New(name, o)
	if err != nil {
		t.Fatal(err)
	}
	l := NewLedger(e, Limit{})
	for id := ID(1); id <= 5; id++ {
		l.Insert(Item{ID: id, Key: uint64(id), Topic: 1, Size: 10, Cost: 5}, Tick{Seq: int64(id)}, nil)
	}
	l.Insert(Item{ID: 6, Key: 7, Topic: 2, Size: 10, Cost: 5}, Tick{Seq: 6}, nil)
	for seq := range int64(10) {
		l.Hit(6, Tick{Seq: 7 + seq})
	}
	return e, l
}

var identities = []string{"rac", "rac-no-tp", "rac-paper", "haz", "rac+", "rac+:sample=2", "rac+:panel=study"}

// TestImportanceOutlivesReplacementAndExpiry: an answer that is refreshed, or comes back after its time was over, is as
// important as before. After a purge it starts anew.
func TestImportanceOutlivesReplacementAndExpiry(t *testing.T) {
	for _, name := range identities {
		for _, o := range []Options{{Capacity: 8}, {Capacity: 8, Bytes: true}} {
			t.Run(fmt.Sprintf("%s/%+v", name, o), func(t *testing.T) {
				e, l := popular(t, name, o)
				importance := func(id ID) float64 { return e.(Linker).Importance(id) }
				before := importance(6)
				if before < 11 {
					t.Fatalf("importance %v after ten hits, want 11", before)
				}
				l.Replace(Item{ID: 6, Key: 7, Topic: 2, Size: 30, Cost: 9}, Tick{Seq: 20}, nil)
				if got := importance(6); got < before || l.Bytes() != 80 {
					t.Errorf("importance %v after a replacement, was %v; %d bytes", got, before, l.Bytes())
				}
				l.Remove(6, Expired)
				if got := importance(6); got != 0 || l.Has(6) {
					t.Errorf("importance %v of what has expired", got)
				}
				back := Item{ID: 8, Key: 7, Topic: 2, Size: 10, Cost: 5}
				l.Insert(back, Tick{Seq: 21}, nil)
				if got := importance(8); got < before {
					t.Errorf("importance %v after an expiry, was %v", got, before)
				}
				l.Remove(8, Purged)
				back.ID = 9
				l.Insert(back, Tick{Seq: 22}, nil)
				if got := importance(9); got > 2 {
					t.Errorf("importance %v after a purge, want that of a new entry", got)
				}
			})
		}
	}
}

// TestReplacementKeepsImportance: of every policy that knows one.
func TestReplacementKeepsImportance(t *testing.T) {
	for _, name := range Names() {
		e, l := popular(t, name, Options{Capacity: 8})
		linker, ok := e.(Linker)
		if !ok {
			continue
		}
		linker.Link(6, 2)
		entry, parent := linker.Importance(6), linker.Importance(2)
		l.Replace(Item{ID: 6, Key: 7, Topic: 2, Size: 1}, Tick{Seq: 20}, nil)
		if linker.Importance(6) < entry || linker.Importance(2) < parent {
			t.Errorf("%s: importance %v and %v of the parent, were %v and %v", name, linker.Importance(6), linker.Importance(2), entry, parent)
		}
	}
}

// TestReplacementChangesTheWorth: the victim is another one when an answer has become large.
func TestReplacementChangesTheWorth(t *testing.T) {
	for _, name := range []string{"gdsf", "lhd", "haz", "rac:admission=paper,norm=visits", "rac:lambda=0"} {
		e, err := New(name, Options{Capacity: 4, Bytes: true})
		if err != nil {
			t.Fatal(err)
		}
		for id := ID(1); id <= 4; id++ {
			e.Insert(Item{ID: id, Topic: 1, Size: 100, Cost: 10}, Tick{Seq: 1})
		}
		e.(Replacer).Replace(Item{ID: 3, Topic: 1, Size: 1e6, Cost: 10}, Tick{Seq: 2})
		wantVictim(t, e, 3, true)
	}
}

// TestExpiryIsNoEvidence: what expired and returns continues where it stopped, and moves nothing that adapts.
func TestExpiryIsNoEvidence(t *testing.T) {
	a := newARC(capacity{told: 3, n: 3})
	playScript(t, a, "+1 +2 h1 +3")
	a.p = 1
	a.Remove(1, Expired)
	a.Insert(Item{ID: 4, Key: 1}, Tick{Seq: 5})
	if a.link(); a.p != 1 || a.t2.n != 1 || a.b1.len()+a.b2.len() != 0 {
		t.Errorf("ARC: p %v, %d in t2, %d ghosts", a.p, a.t2.n, a.b1.len()+a.b2.len())
	}
	c := newCacheus(8, 1)
	playScript(t, c, "+1 +2 +3")
	room := c.lru.room
	c.Remove(1, Expired)
	c.Insert(Item{ID: 4, Key: 1}, Tick{Seq: 4})
	c.begin()
	if slot, _ := c.slab.find(4); c.lru.room != room || c.lfu.key(slot) != 2 || c.weights != [2]float64{0.5, 0.5} {
		t.Errorf("Cacheus: room %d, was %d, count %v, weights %v", c.lru.room, room, c.lfu.key(slot), c.weights)
	}
	g := newGDSF(worthHits)
	playScript(t, g, "+1 +2 +3")
	if g.Remove(1, Expired); g.floor != 0 {
		t.Errorf("GDSF: floor %v", g.floor)
	}
	p, _ := popular(t, "rac+", Options{Capacity: 4})
	hits := func() (sum float64) {
		for _, x := range p.(*RACPlus).experts {
			sum += x.hits
		}
		return sum
	}
	before := hits()
	p.Remove(6, Expired)
	p.Insert(Item{ID: 8, Key: 7, Topic: 2}, Tick{Seq: 21})
	if got := hits(); got != before {
		t.Errorf("rac+: the return of what expired is %v hits of experts", got-before)
	}
}

// TestExpiryKeepsThePlace: what had earned a place in the long list has it again when it returns.
func TestExpiryKeepsThePlace(t *testing.T) {
	place := map[string]func(Evictor) bool{
		"2q": func(e Evictor) bool { return e.(*TwoQ).lru.n == 1 },
		"s3fifo": func(e Evictor) bool {
			s := e.(*S3FIFO)
			return s.slab.cells[s.staged].val.main
		},
		"lirs": func(e Evictor) bool { return e.(*LIRS).staged.returned },
	}
	for name, script := range map[string]string{
		"2q":     "+1 +2 +3 +4 .",
		"s3fifo": "+1 h1 h1 +2 +3 +4 .",
		"lirs":   "+2 +1 +3 h1",
	} {
		e, err := New(name, Options{Capacity: 4})
		if err != nil {
			t.Fatal(err)
		}
		playScript(t, e, script)
		if name == "2q" { // only a return leads to its long list
			e.Insert(Item{ID: 11, Key: 1}, Tick{Seq: 20})
			e.Insert(Item{ID: 12}, Tick{Seq: 21})
			e.Remove(11, Expired)
		} else {
			e.Remove(1, Expired)
		}
		e.Insert(Item{ID: 20, Key: 1}, Tick{Seq: 22})
		if q, ok := e.(*TwoQ); ok {
			q.link()
		}
		if !place[name](e) {
			t.Errorf("%s: what expired is a newcomer", name)
		}
	}
}

func TestReasonsHaveNames(t *testing.T) {
	if got := fmt.Sprint(Evicted, Expired, Purged, Reason(9)); got != "evicted expired purged reason 9" {
		t.Error(got)
	}
}
