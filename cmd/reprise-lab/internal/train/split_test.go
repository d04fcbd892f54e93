package train

import (
	"fmt"
	"testing"
)

func TestPartOf(t *testing.T) {
	var n [3]int
	moved := 0
	for i := range 10_000 {
		opening := fmt.Sprint("Prompt number ", i)
		part := partOf(1, opening)
		n[part]++
		if partOf(1, "  prompt NUMBER\n"+fmt.Sprint(i)) != part {
			t.Fatalf("%q: case and white space decide", opening)
		}
		if partOf(2, opening) != part {
			moved++
		}
	}
	if n[heldOutPart] < 4800 || n[heldOutPart] > 5200 || n[validationPart] < 880 || n[validationPart] > 1120 {
		t.Errorf("parts %v", n)
	}
	if moved < 4000 {
		t.Errorf("another seed moves %d of 10,000", moved)
	}
}
