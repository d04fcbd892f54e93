package sim

import (
	"encoding/csv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"reprise/internal/dataset"
	"reprise/policy"
)

func TestNextUseAndRemaining(t *testing.T) {
	for _, c := range []struct{ ids, next, remaining []uint32 }{
		{[]uint32{}, []uint32{}, []uint32{}},
		{[]uint32{0}, []uint32{1}, []uint32{0}},
		{[]uint32{2, 0, 2, 2, 0, 5}, []uint32{2, 4, 3, 6, 6, 6}, []uint32{2, 1, 1, 0, 0, 0}},
	} {
		if got := NextUse(c.ids); !slices.Equal(got, c.next) {
			t.Errorf("NextUse(%v) = %v, want %v", c.ids, got, c.next)
		}
		if got := Remaining(c.ids); !slices.Equal(got, c.remaining) {
			t.Errorf("Remaining(%v) = %v, want %v", c.ids, got, c.remaining)
		}
	}
}

func belady() Clairvoyant { return NewBelady(false) }
func bypass() Clairvoyant { return NewBelady(true) }
func counts() Clairvoyant { return NewCountOracle() }

func TestBoundsIgnoreMistakes(t *testing.T) {
	for _, e := range []Clairvoyant{belady(), bypass(), counts()} {
		for _, size := range []int64{1, 2} {
			e.Insert(policy.Item{ID: 1, Size: size}, policy.Tick{Seq: size})
		}
		e.Remove(2, policy.Evicted)
		e.Remove(1, policy.Evicted)
		e.Hit(1, policy.Tick{Seq: 3})
		if id, ok := e.Victim(); ok {
			t.Errorf("%T: victim %d after its eviction", e, id)
		}
	}
}

func TestBoundsReuseTheirMemory(t *testing.T) {
	b := NewBelady(true)
	for id := policy.ID(1); id <= 1000; id++ {
		b.Insert(policy.Item{ID: id}, policy.Tick{})
		b.Remove(max(id, 10)-9, policy.Evicted)
	}
	if n := len(b.ranks.pos); n > 20 {
		t.Errorf("%d slots for 10 residents", n)
	}
}

// TestBoundsAgainstAScan plays random requests and purges, and compares each victim with a scan of all residents.
func TestBoundsAgainstAScan(t *testing.T) {
	type model struct {
		name  string
		e     Clairvoyant
		worse func(a, b []int64) bool // {next, remaining, last use}
		apart bool
	}
	further := func(a, b []int64) bool { return a[0] > b[0] }
	for _, m := range []model{
		{"belady", belady(), further, true},
		{"bypass", bypass(), further, false},
		{"counts", counts(), func(a, b []int64) bool { return a[1] < b[1] || a[1] == b[1] && a[2] < b[2] }, false},
	} {
		r := rand.New(rand.NewPCG(1, 2))
		known, last := map[policy.ID][]int64{}, policy.ID(0)
		for seq := int64(1); seq <= 5000; seq++ {
			at := policy.Tick{Seq: seq}
			id := policy.ID(max(1, seq-r.Int64N(60)))
			future := []int64{seq*100 + r.Int64N(1_000_000)*100 + seq%100, r.Int64N(9), seq}
			m.e.Foresee(future[0], future[1])
			switch _, ok := known[id]; {
			case ok && r.IntN(4) == 0:
				m.e.Remove(id, policy.Evicted)
				delete(known, id)
			case ok:
				m.e.Hit(id, at)
				known[id], last = future, 0
			default:
				m.e.Insert(policy.Item{ID: id}, at)
				known[id], last = future, id
			}
			want := policy.ID(0)
			for id, f := range known {
				if (id != last || !m.apart || len(known) == 1) && (want == 0 || m.worse(f, known[want])) {
					want = id
				}
			}
			got, ok := m.e.Victim()
			if ok != (len(known) > 0) || got != want {
				t.Fatalf("%s, request %d: victim %d, %v, want %d", m.name, seq, got, ok, want)
			}
			if len(known) > 50 {
				m.e.Remove(got, policy.Evicted)
				delete(known, got)
			}
		}
	}
}

func oracleRows(t *testing.T) [][]string {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "..", "..", "policy", "testdata", "oracle", "results.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// oracleTrace reads a trace of small numbers.
func oracleTrace(t *testing.T, name string) (ids []uint32) {
	t.Helper()
	for line, err := range dataset.Lines(filepath.Join("..", "..", "..", "policy", "testdata", "oracle", name+".txt.gz")) {
		if err != nil {
			t.Fatal(err)
		}
		id, err := strconv.ParseUint(string(line), 10, 32)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, uint32(id))
	}
	return ids
}
