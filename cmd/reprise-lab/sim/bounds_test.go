package sim

import (
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
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

// TestBoundsOracle compares the bounds with answers of an independent implementation.
func TestBoundsOracle(t *testing.T) {
	fresh := map[string]func() Clairvoyant{"Belady": belady, "Belady-bypass": bypass}
	for _, row := range oracleRows(t) {
		trace, algorithm := row[0], row[1]
		if fresh[algorithm] == nil {
			continue
		}
		capacity, _ := strconv.Atoi(row[2])
		want, _ := strconv.Atoi(row[4])
		t.Run(fmt.Sprintf("%s/%s/%d", trace, algorithm, capacity), func(t *testing.T) {
			if got := misses(fresh[algorithm](), capacity, oracleTrace(t, trace)); got != want {
				t.Errorf("%d misses, want %d", got, want)
			}
		})
	}
}

// misses plays ids with Foresee.
func misses(e Clairvoyant, capacity int, ids []uint32) (n int) {
	l := policy.NewLedger(e, policy.Limit{Entries: capacity})
	next, remaining := NextUse(ids), Remaining(ids)
	resident := make([]policy.ID, distinct(ids))
	var evicted []policy.ID
	inserted := []uint32{0} // by ID
	for i, id := range ids {
		at := policy.Tick{Seq: int64(i + 1)}
		e.Foresee(int64(next[i]), int64(remaining[i]))
		if resident[id] != 0 {
			l.Hit(resident[id], at)
			continue
		}
		n++
		resident[id] = policy.ID(n)
		inserted = append(inserted, id)
		evicted = l.Insert(policy.Item{ID: policy.ID(n)}, at, evicted[:0])
		for _, v := range evicted {
			resident[inserted[v]] = 0
		}
	}
	return n
}

// TestBoundsOrder plays scripts: "2@9*1" inserts ID 2 whose next use is at 9 with 1 request left, and hits it where it is
// resident.
func TestBoundsOrder(t *testing.T) {
	for _, c := range []struct {
		name, script, want string
		fresh              func() Clairvoyant
	}{
		{"furthest first", "1@9 2@5 3@7 4@6", "[1 3 2 4]", belady}, // 4 is staged to the end
		{"a hit has a new next use", "1@9 2@5 3@7 1@6 4@8", "[3 1 2 4]", belady},
		{"the newest too with bypass", "1@9 2@5 3@7 4@8", "[1 4 3 2]", bypass},
		{"never again: the largest first", "1@9/3 2@9/5 3@9/4 4@8/9", "[2 3 1 4]", bypass},
		{"never again and equal: the first", "2@9 1@9 3@9", "[1 2 3]", bypass},
		{"fewest left first, the newest included", "1*2 2*1 3*3 4*0", "[4 2 1 3]", counts},
		{"ties by last use", "1*1 2*2 3*1 2*1", "[1 3 2]", counts},
		{"purges", "1@9 2@5 -1 3@7 -3 4@8 5@1 -2", "[4 5]", belady},
		{"an unknown one", "1@9 -7 2@5 -7", "[1 2]", bypass},
	} {
		e := c.fresh()
		play(t, e, c.script)
		var got []policy.ID
		for id, ok := e.Victim(); ok; id, ok = e.Victim() {
			got = append(got, id)
			e.Remove(id, policy.Evicted)
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%s: %q: %v, want %s", c.name, c.script, got, c.want)
		}
	}
}

func belady() Clairvoyant { return NewBelady(false) }
func bypass() Clairvoyant { return NewBelady(true) }
func counts() Clairvoyant { return NewCountOracle() }

func play(t *testing.T, e Clairvoyant, script string) {
	t.Helper()
	for seq, word := range strings.Fields(script) {
		var id, next, remaining, size int64
		read := func(format string, into ...any) bool {
			n, err := fmt.Sscanf(word+" ", format+" ", into...)
			return err == nil && n == len(into)
		}
		if read("-%d", &id) {
			e.Remove(policy.ID(id), policy.Evicted)
			continue
		}
		if !read("%d@%d/%d", &id, &next, &size) && !read("%d@%d", &id, &next) && !read("%d*%d", &id, &remaining) {
			t.Fatalf("script %q: cannot read %q", script, word)
		}
		e.Foresee(next, remaining)
		e.Hit(policy.ID(id), policy.Tick{Seq: int64(seq)})
		e.Foresee(next, remaining)
		e.Insert(policy.Item{ID: policy.ID(id), Size: size}, policy.Tick{Seq: int64(seq)})
	}
}

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

// TestCountOracleIsBetween: its misses are between those of Belady and the best of the policies without foresight.
func TestCountOracleIsBetween(t *testing.T) {
	ids := oracleTrace(t, "zipf075")
	for _, capacity := range []int{100, 1000} {
		least, most := misses(bypass(), capacity, ids), len(ids)
		for _, row := range oracleRows(t) {
			if row[0] == "zipf075" && row[2] == strconv.Itoa(capacity) && !strings.HasPrefix(row[1], "Belady") {
				n, _ := strconv.Atoi(row[4])
				most = min(most, n)
			}
		}
		if n := misses(counts(), capacity, ids); n <= least || n >= most {
			t.Errorf("capacity %d: %d misses, want between %d and %d", capacity, n, least, most)
		} else {
			t.Logf("capacity %d: %d misses, between %d and %d", capacity, n, least, most)
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

// BenchmarkBelady prints the cost of a request at 1,000 residents of 10,000 identities, the Ledger's included.
func BenchmarkBelady(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(r, 1.1, 10, 9999)
	ids := make([]uint32, 1_000_000)
	for i := range ids {
		ids[i] = uint32(zipf.Uint64())
	}
	for b.Loop() {
		misses(NewBelady(false), 1000, ids)
	}
	b.ReportMetric(float64(b.N)*float64(len(ids))/b.Elapsed().Seconds()/1e6, "Mreq/s")
	b.ReportMetric(0, "ns/op")
}
