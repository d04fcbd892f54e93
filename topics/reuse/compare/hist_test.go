package compare

import (
	"fmt"
	"testing"
)

func TestHist(t *testing.T) {
	h := map[string]*[2]int{}
	for _, r := range rowsOf(t) {
		g := Answers(r.Pair, nil)
		k := fmt.Sprintf("%-10s %.2f", g.Why, float64(int(g.Closeness*20))/20)
		if h[k] == nil {
			h[k] = &[2]int{}
		}
		if r.same {
			h[k][0]++
		} else {
			h[k][1]++
		}
	}
	for k, v := range h {
		if k[:6] == "closen" || k[:4] == "word" || k[:5] == "asked" || k[:5] == "items" {
			fmt.Println(k, *v)
		}
	}
}
