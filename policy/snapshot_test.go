package policy

import (
	"math"
	"testing"
)

// TestSnapshotReader reads what was appended, and zeros from the first damage on.
func TestSnapshotReader(t *testing.T) {
	whole := AppendFloats(AppendText([]byte{7}, []byte("haz")), 2.5, -1)
	for _, c := range []struct {
		name    string
		b       []byte
		damaged bool
		done    bool
	}{
		{"whole", whole, false, true}, {"more", append(whole[:len(whole):len(whole)], 0), false, false},
		{"cut in a number", whole[:len(whole)-1], true, false}, {"cut in a text", whole[:6], true, false}, {"empty", nil, true, false},
		{"no number", AppendFloats(AppendText([]byte{7}, []byte("haz")), 2.5, math.NaN()), true, false},
	} {
		r := ReadSnapshot(c.b)
		b, text, x, y := r.Byte(), string(r.Text()), r.Float(), r.Float()
		if r.Damaged() != c.damaged || r.Done() != c.done {
			t.Errorf("%s: damaged %v, done %v", c.name, r.Damaged(), r.Done())
		}
		if !c.damaged && (b != 7 || text != "haz" || x != 2.5 || y != -1) || c.damaged && y != 0 {
			t.Errorf("%s: %d %q %v %v", c.name, b, text, x, y)
		}
	}
}
