package trace

import (
	"bytes"
	"math"
	"reflect"
	"slices"
	"testing"

	"reprise/cmd/reprise-lab/sim"
	"reprise/internal/traffic"
)

// TestRecordOf: a request that is written and read again is equal, to the last bit of its numbers.
func TestRecordOf(t *testing.T) {
	for _, q := range []sim.Request{
		{ID: 1},
		{ID: math.MaxUint64, Topic: 1 << 53, Conversation: 1<<53 + 1, Parent: 1 << 63, Scope: 9, At: 0.1, Turn: 3, Size: 1 << 39, Cost: 1e-7},
		{ID: 5, Content: &sim.Content{Text: "a\u2028\"b"}},
		{ID: Identity("x"), Content: &sim.Content{Vector: []float32{0.6, -0.8}}},
	} {
		var log bytes.Buffer
		if err := traffic.NewWriter(&log).Append(RecordOf(q)); err != nil {
			t.Fatal(err)
		}
		r, err := traffic.Decode(log.Bytes())
		if err != nil {
			t.Fatalf("%s: %v", log.Bytes(), err)
		}
		if got, err := RequestOf(&r); err != nil || !reflect.DeepEqual(got, q) {
			t.Errorf("%s reads as %+v, %v; want %+v", log.Bytes(), got, err, q)
		}
	}
}

// TestUnitsStayAsTheyAre: a vector of length 1 up to rounding is not scaled, so that a log does not change when it is read and
// written.
func TestUnitsStayAsTheyAre(t *testing.T) {
	for length, stays := range map[float32]bool{1 - 5e-7: true, 1 + 5e-7: true, 1 + 1e-5: false} {
		v := []float32{0.6 * length, -0.8 * length}
		if got, ok := unit(v); !ok || slices.Equal(got, v) != stays {
			t.Errorf("%v became %v", v, got)
		}
	}
}

func TestIdentity(t *testing.T) {
	for name, want := range map[string]uint64{"": 0, "1": 1, "5": 5, "9223372036854775807": math.MaxInt64, "18446744073709551615": math.MaxUint64} {
		if got := Identity(name); got != want {
			t.Errorf("%q is %d", name, got)
		}
	}
	var all []uint64
	for _, name := range []string{"0", "05", "+5", "5.0", "18446744073709551616", "18446744073709551619", "99999999999999999999", " 5", "five", "FIVE"} {
		n := Identity(name)
		if n&hashed == 0 {
			t.Errorf("%s is the number %d", name, n)
		}
		all = append(all, n)
	}
	slices.Sort(all)
	if n := len(slices.Compact(all)); n != 10 {
		t.Errorf("%d identities of 10 names", n)
	}
}
