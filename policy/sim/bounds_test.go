package sim

import (
	"bufio"
	"compress/gzip"
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

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

// TestBoundsOracle holds the bounds to the known answers, which come from an independent implementation.
func TestBoundsOracle(t *testing.T) {
	fresh := map[string]func() Clairvoyant{
		"Belady":        func() Clairvoyant { return NewBelady(false) },
		"Belady-bypass": func() Clairvoyant { return NewBelady(true) },
	}
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

// misses plays ids with the future told.
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

func oracleRows(t *testing.T) [][]string {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "testdata", "oracle", "results.csv"))
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
	f, err := os.Open(filepath.Join("..", "testdata", "oracle", name+".txt.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(z); lines.Scan(); {
		id, err := strconv.ParseUint(lines.Text(), 10, 32)
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
