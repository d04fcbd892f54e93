package align

import (
	"fmt"
	"testing"
	"time"

	"reprise/proxy/observe"
)

// BenchmarkObserve is the cost of a request whose prompt has some bytes, by what is wrong with it.
func BenchmarkObserve(b *testing.B) {
	now := time.Date(2026, 11, 22, 9, 30, 0, 0, time.UTC)
	tools := []string{toolText("alpha", 1, 2, 3, 4), toolText("beta", 1, 2, 3, 4), toolText("gamma", 1, 2, 3, 4), toolText("delta", 1, 2, 3, 4)}
	lists := make([]string, 24)
	for i := range lists {
		a, c := i%4, i/4%3+1
		tools[0], tools[a] = tools[a], tools[0]
		tools[1], tools[c] = tools[c], tools[1]
		lists[i] = toolListText(tools...)
	}
	for _, c := range []struct {
		name string
		make func(i int) []Segment
	}{
		{"4KB/aligned", func(i int) []Segment { return request("", stable, question(i)) }},
		{"4KB/time", func(i int) []Segment {
			return request("", "It is "+now.Add(time.Duration(i)*time.Second).Format(time.RFC3339)+"\n"+stable, question(i))
		}},
		{"4KB/two times", func(i int) []Segment {
			s := now.Add(time.Duration(i) * time.Second).Format(time.RFC3339)
			return request("", "It is "+s+"\n"+stable[:2000]+s+stable[2000:], question(i))
		}},
		{"4KB/tools in another order", func(i int) []Segment { return request(lists[i%24], fmt.Sprint(i)+stable[:1500], question(i)) }},
		{"4KB/other texts", func(i int) []Segment { return request("", fmt.Sprint(i, stable[i%50*70:], stable), question(i))[:1] }},
		{"600B/other questions", func(i int) []Segment {
			return request("", "", fmt.Sprint(question(i), " ", stable[i*13%2000:][:500]))
		}},
		{"64KB/aligned", func(i int) []Segment {
			talk := make([]string, 2*(i%8)+16)
			for k := range talk {
				talk[k] = fmt.Sprint(i/8, k, stable)
			}
			return request("", stable, talk...)
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			w := NewWatch(Options{})
			all := make([][]Segment, 512)
			for i := range all {
				all[i] = c.make(i)
				w.observe(observe.Stamp{}, shop, all[i])
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				w.observe(observe.Stamp{}, shop, all[i%len(all)])
			}
		})
	}
}

// TestObserveAllocates: nothing, once an application has been seen.
func TestObserveAllocates(t *testing.T) {
	w := NewWatch(Options{})
	all := make([][]Segment, 200)
	for i := range all {
		all[i] = request(toolListText(toolText("a", i%4, 5, 6), toolText("b", 5, i%4+7)), fmt.Sprintf("Call %d\n%s", i, stable), question(i))
		w.observe(observe.Stamp{}, shop, all[i])
	}
	i := 0
	if n := testing.AllocsPerRun(1000, func() { i++; w.observe(observe.Stamp{}, shop, all[i%len(all)]) }); n > 0 {
		t.Errorf("a request costs %v allocations", n)
	}
}
