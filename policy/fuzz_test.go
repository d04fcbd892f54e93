package policy

import "testing"

// FuzzEvictors plays three bytes per call through every policy and checks what they may never break.
func FuzzEvictors(f *testing.F) {
	f.Add([]byte("\x00\x01\x00\x00\x02\x01\x01\x01\x00\x04\x02\x01\x02\x01\x00"))
	f.Add([]byte("\x03\x00\x02\x00\x05\x12\x00\x06\x15\x01\x05\x00\x02\x06\x00\x00\x07\x02"))
	f.Add([]byte("\x00\x01\x01\x00\x01\x02\x00\x01\x03\x01\x02\x00\x05\x00\x00\x00\x01\x02\x06\x00\x00\x07\x01\x00\x00\x01\x02\x05\x00\x00"))
	f.Fuzz(func(t *testing.T, script []byte) {
		for _, name := range Names() {
			for _, o := range []Options{{Capacity: 1}, {Capacity: 4, Bytes: true, Seed: 3}} {
				e, err := New(name, o)
				if err != nil {
					t.Fatal(err)
				}
				playBytes(t, name, e, script)
			}
		}
		for _, o := range append(probes(), RACOptions{Alpha: 0.3, Lambda: 4, Ghosts: 2}) {
			playBytes(t, "rac", NewRAC(o), script)
		}
	})
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

// playBytes reads a call, the age of the entry that it names, and a number for the rest. Keys return under new IDs, and
// may be those of residents.
func playBytes(t *testing.T, name string, e Evictor, script []byte) {
	resident := map[ID]bool{}
	newest := ID(0)
	for i := 0; i+2 < len(script) && i < 900; i += 3 {
		kind, age, number := opKind(script[i]%byte(fuzzKinds)), ID(script[i+1]), script[i+2]
		id := newest - min(age%32, newest)
		at := Tick{Seq: int64(i), At: float64(i)}
		if script[i] >= 128 {
			at.Seq = int64(script[i]) << (number % 50) // arrivals may jump far ahead and come late
			at.At = float64(at.Seq)
		}
		switch kind {
		case opInsert, fuzzInsert:
			newest++
			e.Insert(Item{
				ID: newest, Key: uint64(age % 9), Topic: TopicID(number % 5), Parent: id, Category: uint32(number % 3),
				Size: int64(number), Cost: float64(age), Offset: int(age), Prob: float64(number) / 255,
			}, at)
			resident[newest] = true
		case fuzzEvict, fuzzPurgeNewest, fuzzPurge:
			if kind == fuzzPurge {
				remove(e, resident, id, Reason(number%3))
			}
			victim := namesResident(t, name, e, resident)
			if kind == fuzzPurgeNewest && victim != newest {
				remove(e, resident, newest, Purged)
			}
			remove(e, resident, victim, Evicted)
		case fuzzReplace:
			if r, ok := e.(Replacer); ok {
				r.Replace(Item{ID: id, Size: int64(number), Cost: float64(age)}, at)
			}
		default:
			op{kind, id, TopicID(number % 5), ID(number / 5)}.apply(e, at)
			if kind == opRemove {
				delete(resident, id)
			}
		}
		if r, ok := e.(*RAC); ok {
			checkRAC(t, r)
		}
	}
	for len(resident) > 0 {
		remove(e, resident, namesResident(t, name, e, resident), Evicted)
	}
	namesResident(t, name, e, resident)
}

func remove(e Evictor, resident map[ID]bool, id ID, why Reason) {
	e.Remove(id, why)
	delete(resident, id)
}

// namesResident asks for a victim twice.
func namesResident(t *testing.T, name string, e Evictor, resident map[ID]bool) ID {
	t.Helper()
	id, ok := e.Victim()
	if again, _ := e.Victim(); ok != (len(resident) > 0) || ok && !resident[id] || again != id {
		t.Fatalf("%s: victim %d, %v, then %d, with residents %v", name, id, ok, again, resident)
	}
	return id
}
