// Package policytest has helpers for the tests of all policies: calls as scripts and at random, and checks after them.
package policytest

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"reprise/policy"
)

// WantVictim fails unless the victim of e is id, or none where ok is false.
func WantVictim(t *testing.T, e policy.Evictor, id policy.ID, ok bool) {
	t.Helper()
	if got, gotOK := e.Victim(); got != id || gotOK != ok {
		t.Fatalf("victim %d, %v; want %d, %v", got, gotOK, id, ok)
	}
}

// Drain is the state string of an evictor: its residents in the order of their eviction. It empties it, and stops
// at one that keeps naming entries that are gone.
func Drain(e policy.Evictor) string {
	var ids []policy.ID
	for id, ok := e.Victim(); ok && len(ids) < 5000; id, ok = e.Victim() {
		ids = append(ids, id)
		e.Remove(id, policy.Evicted)
	}
	return fmt.Sprint(ids)
}

// OpKind is a call of an evictor.
type OpKind byte

// The calls.
const (
	OpInsert OpKind = iota
	OpHit
	OpRemove
	OpArrive
	OpLink
	opKinds
)

// Op is one call of a script; topic and parent are used where the call has them.
type Op struct {
	Kind   OpKind
	ID     policy.ID
	Topic  policy.TopicID
	Parent policy.ID
}

// Apply makes the call; an evictor that has no such method ignores it.
func (o Op) Apply(e policy.Evictor, at policy.Tick) {
	switch o.Kind {
	case OpInsert:
		e.Insert(policy.Item{ID: o.ID, Topic: o.Topic, Parent: o.Parent}, at)
	case OpHit:
		e.Hit(o.ID, at)
	case OpRemove:
		e.Remove(o.ID, policy.Purged)
	case OpArrive:
		if a, ok := e.(policy.Arriver); ok {
			a.Arrive(o.Topic, at)
		}
	case OpLink:
		if l, ok := e.(policy.Linker); ok {
			l.Link(o.ID, o.Parent)
		}
	}
}

// Read makes every call of e that only returns something, for the entries and the topic of o.
func Read(e policy.Evictor, o Op, at policy.Tick) {
	for _, id := range []policy.ID{o.ID, o.Parent} {
		if x, ok := e.(policy.Expirer); ok {
			x.Expired(id, at)
		}
		if l, ok := e.(policy.Linker); ok {
			l.Importance(id)
		}
		if p, ok := e.(policy.Persistent); ok {
			p.ExportEntry(id)
			p.ExportTopic(o.Topic)
		}
	}
	if p, ok := e.(policy.Panel); ok {
		p.Stats()
		p.Snapshot()
	}
	if f, ok := e.(policy.Forecaster); ok {
		Forecast(f, 3)
		f.Why(o.ID)
	}
}

// Forecast is what f says that it would evict next, most entries at most.
func Forecast(f policy.Forecaster, most int) []policy.ID {
	to := policy.NewForecast(most)
	for from, calls := 0, 0; calls == 0 || from != 0; calls++ {
		from = f.Forecast(to, from)
	}
	return to.Next()
}

// RandomOps never uses an ID twice for Insert; the other calls name recent IDs, alive or not.
func RandomOps(r *rand.Rand, n int) []Op {
	ops := make([]Op, n)
	next := policy.ID(1)
	recent := func() policy.ID { return policy.ID(max(1, int64(next)-1-int64(r.IntN(40)))) }
	for i := range ops {
		o := Op{Kind: OpKind(r.IntN(int(opKinds))), ID: recent(), Topic: policy.TopicID(r.IntN(7)), Parent: recent()}
		if o.Kind == OpInsert {
			o.ID = next
			next++
		}
		ops[i] = o
	}
	return ops
}

// PlayScript plays one word per request: +5 (insert; +5/2 in topic 2, +5/2<4 with parent 4, each a miss that arrived),
// h5 (hit), -5 (purge), . (evict), 5<4 (link), a2 (a miss of topic 2 without an answer).
func PlayScript(t *testing.T, e policy.Evictor, script string) {
	t.Helper()
	for i, word := range strings.Fields(script) {
		at := policy.Tick{Seq: int64(i + 1)}
		var id, parent policy.ID
		topic := policy.TopicID(1)
		scan := func(format string, into ...any) bool {
			n, err := fmt.Sscanf(word+" ", format+" ", into...)
			return err == nil && n == len(into)
		}
		switch {
		case scan("+%d/%d<%d", &id, &topic, &parent), scan("+%d/%d", &id, &topic), scan("+%d", &id):
			Op{Kind: OpArrive, Topic: topic}.Apply(e, at)
			Op{Kind: OpInsert, ID: id, Topic: topic, Parent: parent}.Apply(e, at)
		case word == ".":
			id, _ := e.Victim()
			e.Remove(id, policy.Evicted)
		case scan("h%d", &id):
			e.Hit(id, at)
		case scan("-%d", &id):
			e.Remove(id, policy.Purged)
		case scan("%d<%d", &id, &parent):
			e.(policy.Linker).Link(id, parent)
		case scan("a%d", &topic):
			e.(policy.Arriver).Arrive(topic, at)
		default:
			t.Fatalf("script %q: cannot read %q", script, word)
		}
	}
}

// Calls of a fuzzed script beyond the evictor's own.
const (
	fuzzEvict       = opKinds + iota
	fuzzPurgeNewest // between the naming of a victim and its eviction
	fuzzPurge       // or another removal of no victim
	fuzzInsert      // again: most calls should be inserts
	fuzzReplace
	fuzzKinds
)

// PlayBytes plays three bytes per call: the call, the age of the entry that it names, and a number for the rest. Keys
// return under new IDs, and may be those of residents. After each call it calls check, unless that is nil.
func PlayBytes(t *testing.T, name string, e policy.Evictor, script []byte, check func()) {
	resident := map[policy.ID]bool{}
	newest := policy.ID(0)
	for i := 0; i+2 < len(script) && i < 900; i += 3 {
		kind, age, number := OpKind(script[i]%byte(fuzzKinds)), policy.ID(script[i+1]), script[i+2]
		id := newest - min(age%32, newest)
		at := policy.Tick{Seq: int64(i), At: float64(i)}
		if script[i] >= 128 {
			at.Seq = int64(script[i]) << (number % 50) // arrivals may jump far ahead and come late
			at.At = float64(at.Seq)
		}
		switch kind {
		case OpInsert, fuzzInsert:
			newest++
			e.Insert(policy.Item{
				ID: newest, Key: uint64(age % 9), Topic: policy.TopicID(number % 5), Parent: id, Category: uint32(number % 3),
				Size: int64(number), Cost: float64(age), Offset: int(age), Prob: float64(number) / 255,
			}, at)
			resident[newest] = true
		case fuzzEvict, fuzzPurgeNewest, fuzzPurge:
			if kind == fuzzPurge {
				remove(e, resident, id, policy.Reason(number%3))
			}
			victim := namesResident(t, name, e, resident)
			if kind == fuzzPurgeNewest && victim != newest {
				remove(e, resident, newest, policy.Purged)
			}
			remove(e, resident, victim, policy.Evicted)
		case fuzzReplace:
			if r, ok := e.(policy.Replacer); ok {
				r.Replace(policy.Item{ID: id, Size: int64(number), Cost: float64(age)}, at)
			}
		default:
			Op{kind, id, policy.TopicID(number % 5), policy.ID(number / 5)}.Apply(e, at)
			if kind == OpRemove {
				delete(resident, id)
			}
		}
		if check != nil {
			check()
		}
	}
	for len(resident) > 0 {
		remove(e, resident, namesResident(t, name, e, resident), policy.Evicted)
	}
	namesResident(t, name, e, resident)
}

// remove removes id from both.
func remove(e policy.Evictor, resident map[policy.ID]bool, id policy.ID, why policy.Reason) {
	e.Remove(id, why)
	delete(resident, id)
}

// namesResident calls Victim twice.
func namesResident(t *testing.T, name string, e policy.Evictor, resident map[policy.ID]bool) policy.ID {
	t.Helper()
	id, ok := e.Victim()
	if again, _ := e.Victim(); ok != (len(resident) > 0) || ok && !resident[id] || again != id {
		t.Fatalf("%s: victim %d, %v, then %d, with residents %v", name, id, ok, again, resident)
	}
	return id
}

// CountMisses plays a trace of identities. One that returns after its eviction is a new entry of the same key.
func CountMisses(e policy.Evictor, capacity int, trace []uint64) (misses int) {
	l := policy.NewLedger(e, policy.Limit{Entries: capacity})
	resident := map[uint64]policy.ID{}
	key := map[policy.ID]uint64{}
	var evicted []policy.ID
	for i, k := range trace {
		at := policy.Tick{Seq: int64(i + 1), At: float64(i + 1)}
		if id, ok := resident[k]; ok && !l.Expired(id, at) {
			l.Hit(id, at)
			continue
		} else if ok {
			l.Remove(id, policy.Expired)
			delete(key, id)
		}
		misses++
		id := policy.ID(misses)
		resident[k], key[id] = id, k
		evicted = l.Insert(policy.Item{ID: id, Key: k}, at, evicted[:0])
		for _, v := range evicted {
			delete(resident, key[v])
			delete(key, v)
		}
	}
	return misses
}

// Popular makes entry 6, of Key 7, with ten hits, among five others.
func Popular(e policy.Evictor) *policy.Ledger {
	l := policy.NewLedger(e, policy.Limit{})
	for id := policy.ID(1); id <= 5; id++ {
		l.Insert(policy.Item{ID: id, Key: uint64(id), Topic: 1, Size: 10, Cost: 5}, policy.Tick{Seq: int64(id)}, nil)
	}
	l.Insert(policy.Item{ID: 6, Key: 7, Topic: 2, Size: 10, Cost: 5}, policy.Tick{Seq: 6}, nil)
	for seq := range int64(10) {
		l.Hit(6, policy.Tick{Seq: 7 + seq})
	}
	return l
}
