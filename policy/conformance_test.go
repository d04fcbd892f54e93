package policy

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// TestEvictors runs what every evictor must do through every policy that has a name.
func TestEvictors(t *testing.T) {
	for _, name := range Names() {
		fresh := func() Evictor {
			e, err := New(name, Options{Capacity: 8})
			if err != nil {
				t.Fatal(err)
			}
			return e
		}
		t.Run(name, func(t *testing.T) { conform(t, fresh) })
	}
}

func conform(t *testing.T, fresh func() Evictor) {
	t.Run("empty", func(t *testing.T) {
		e := fresh()
		e.Hit(7, Tick{Seq: 1})
		e.Remove(7)
		wantVictim(t, e, 0, false)
	})
	t.Run("one", func(t *testing.T) {
		e := fresh()
		e.Insert(Item{ID: 7, Topic: 1}, Tick{Seq: 1})
		wantVictim(t, e, 7, true)
		wantVictim(t, e, 7, true) // naming changes nothing
		e.Remove(7)
		wantVictim(t, e, 0, false)
	})
	t.Run("mistakes are ignored", func(t *testing.T) {
		e, same := fresh(), fresh()
		for seq := int64(1); seq <= 6; seq++ {
			for _, x := range []Evictor{e, same} {
				x.Insert(Item{ID: ID(seq), Topic: TopicID(seq % 3)}, Tick{Seq: seq})
			}
			e.Insert(Item{ID: 1, Topic: 9}, Tick{Seq: seq})
			e.Hit(99, Tick{Seq: seq})
			e.Remove(99)
		}
		if got, want := drain(e), drain(same); got != want {
			t.Errorf("victims %s after mistakes, %s without", got, want)
		}
	})
	t.Run("every resident goes once", func(t *testing.T) {
		e := fresh()
		resident := map[ID]bool{}
		r := rand.New(rand.NewPCG(1, 2))
		for i, op := range randomOps(r, 3000) {
			op.apply(e, Tick{Seq: int64(i + 1)})
			switch op.kind {
			case opInsert:
				resident[op.id] = true
			case opRemove:
				delete(resident, op.id)
			}
			if id, ok := e.Victim(); ok != (len(resident) > 0) || ok && !resident[id] {
				t.Fatalf("op %d: victim %d, %v with %d residents", i, id, ok, len(resident))
			}
		}
		for range len(resident) {
			id, _ := e.Victim()
			if !resident[id] {
				t.Fatalf("victim %d is not resident", id)
			}
			e.Remove(id)
			delete(resident, id)
		}
		wantVictim(t, e, 0, false)
	})
	t.Run("same calls, same victims", func(t *testing.T) {
		a, b := fresh(), fresh()
		for i, op := range randomOps(rand.New(rand.NewPCG(3, 4)), 2000) {
			op.apply(a, Tick{Seq: int64(i + 1)})
			op.apply(b, Tick{Seq: int64(i + 1)})
		}
		if got, want := drain(a), drain(b); got != want {
			t.Errorf("victims differ: %s and %s", got, want)
		}
	})
}

func wantVictim(t *testing.T, e Evictor, id ID, ok bool) {
	t.Helper()
	if got, gotOK := e.Victim(); got != id || gotOK != ok {
		t.Fatalf("victim %d, %v; want %d, %v", got, gotOK, id, ok)
	}
}

// drain is the state string of an evictor: its residents in the order of their eviction. It empties it.
func drain(e Evictor) string {
	var ids []ID
	for id, ok := e.Victim(); ok; id, ok = e.Victim() {
		ids = append(ids, id)
		e.Remove(id)
	}
	return fmt.Sprint(ids)
}

type opKind byte

const (
	opInsert opKind = iota
	opHit
	opRemove
	opArrive
	opLink
	opKinds
)

// op is one call of a script; topic and parent are used where the call has them.
type op struct {
	kind   opKind
	id     ID
	topic  TopicID
	parent ID
}

func (o op) apply(e Evictor, at Tick) {
	switch o.kind {
	case opInsert:
		e.Insert(Item{ID: o.id, Topic: o.topic, Parent: o.parent}, at)
	case opHit:
		e.Hit(o.id, at)
	case opRemove:
		e.Remove(o.id)
	case opArrive:
		if a, ok := e.(Arriver); ok {
			a.Arrive(o.topic, at)
		}
	case opLink:
		if l, ok := e.(Linker); ok {
			l.Link(o.id, o.parent)
		}
	}
}

// randomOps never uses an ID twice for Insert; the other calls name recent IDs, alive or not.
func randomOps(r *rand.Rand, n int) []op {
	ops := make([]op, n)
	next := ID(1)
	recent := func() ID { return ID(max(1, int64(next)-1-int64(r.IntN(40)))) }
	for i := range ops {
		o := op{kind: opKind(r.IntN(int(opKinds))), id: recent(), topic: TopicID(r.IntN(7)), parent: recent()}
		if o.kind == opInsert {
			o.id = next
			next++
		}
		ops[i] = o
	}
	return ops
}
