package canon

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestSortNames sorts the names of objects of many sizes, with prefixes of many lengths in common, as the standard
// library sorts them.
func TestSortNames(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, 2, 15, 16, 17, 40, 3000} {
		for _, prefix := range []int{0, 1, 7, 8, 9, 60, 64, 70, 200} {
			names := map[string]bool{}
			for range n {
				s := strings.Repeat("p", prefix) + fmt.Sprint(rng.IntN(5000)) + strings.Repeat("\x00é", rng.IntN(6))
				names[s[rng.IntN(prefix+1):]] = true
			}
			checkSorted(t, names)
		}
	}
}

func checkSorted(t *testing.T, names map[string]bool) {
	t.Helper()
	var want, members []string
	for s := range names {
		want = append(want, s)
		members = append(members, strings.ReplaceAll(fmt.Sprintf("%q:1", s), `\x00`, `\u0000`))
	}
	slices.Sort(want)
	var d scanner
	if err := d.scan([]byte("{" + strings.Join(members, ",") + "}")); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range d.members(0) {
		got = append(got, string(d.text(m)))
	}
	if !slices.Equal(got, want) {
		t.Fatalf("%d names are not in order", len(want))
	}
}
