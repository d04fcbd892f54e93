package blocks

import "testing"

func TestByTime(t *testing.T) {
	all := []Request{{At: 3, Prompt: 1}, {At: 1, Prompt: 2}, {At: 3, Prompt: 3, After: 1}, {At: 2, Prompt: 4, After: 2}}
	want := []Request{{At: 1, Prompt: 2}, {At: 2, Prompt: 4, After: 1}, {At: 3, Prompt: 1}, {At: 3, Prompt: 3, After: 3}}
	for i, r := range ByTime(all) {
		if r.At != want[i].At || r.Prompt != want[i].Prompt || r.After != want[i].After {
			t.Errorf("request %d: %+v, want %+v", i+1, r, want[i])
		}
	}
	if all[0].At != 3 || len(ByTime(nil)) != 0 {
		t.Error("the requests are changed")
	}
}

func TestQuantile(t *testing.T) {
	for _, c := range []struct {
		sorted  []int
		q, want float64
	}{{nil, .5, 0}, {[]int{7}, 0, 7}, {[]int{1, 2, 3, 4}, .5, 2}, {[]int{1, 2, 3, 4}, .51, 3}, {[]int{1, 2, 3, 4}, 1, 4}} {
		if got := Quantile(c.sorted, c.q); float64(got) != c.want {
			t.Errorf("quantile %v of %v: %v, want %v", c.q, c.sorted, got, c.want)
		}
	}
}
