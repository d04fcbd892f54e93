package workload

import (
	"math"
	"testing"

	"reprise/cmd/reprise-lab/sim"
)

func trace(t *testing.T, spec string, seed uint64) []sim.Request {
	t.Helper()
	s, err := Generate(spec, seed)
	if err != nil {
		t.Fatal(err)
	}
	return s.All
}

// TestPublishedTrace requires the check values of the generator's publication: seed 1, its defaults, and long .9. The 1,248th
// session is cut at the end of the trace, so that 1,247 are whole.
func TestPublishedTrace(t *testing.T) {
	all := trace(t, "syn", 1)
	if got, want := measured(all, 1000), (reuse{unique: 5324, reuses: 4676, long: 2352}); got != want {
		t.Errorf("syn: %+v, want %+v", got, want)
	}
	if got := all[len(all)-1].Conversation; got != 1248 {
		t.Errorf("the last session is number %d, want 1248", got)
	}
	if got := measured(trace(t, "syn:long=0.9", 1), 1000).unique; got != 1446 {
		t.Errorf("long .9: %d items, want 1446", got)
	}
}

// TestPublishedCalibration requires the published p, which is .699 of 256ths.
func TestPublishedCalibration(t *testing.T) {
	found, given := trace(t, "syn", 1), trace(t, "syn:long=0,p=0.69921875", 1)
	for i := range found {
		if found[i] != given[i] {
			t.Fatalf("request %d: %+v, with p=179/256 %+v", i, found[i], given[i])
		}
	}
}

// TestPublishedLRU requires the published hits of LRU and of an infinite cache, means of seeds 1 to 5 and in per cent. Those of
// long .7 and .9 and of gamma 1 and 1.2 are equal too: LRU 14.33, 10.70, 26.24, 30.69.
func TestPublishedLRU(t *testing.T) {
	var lru, infinite float64
	for seed := range uint64(5) {
		r := measured(trace(t, "syn", seed+1), 1000)
		lru += float64(r.reuses-r.long) / 500
		infinite += float64(r.reuses) / 500
	}
	if math.Abs(lru-22.15) > .00501 || math.Abs(infinite-45.56) > .00501 {
		t.Errorf("LRU %.3f, infinite %.3f, published 22.15 and 45.56", lru, infinite)
	}
}

// TestPublishedSimilarities requires the published means. Over which pairs they are means is not published: here over all.
func TestPublishedSimilarities(t *testing.T) {
	all := trace(t, "syn:vectors=on,parent=dag", 1)
	vectors := newPool(&random{1}, shape{topics: 120, groups: 5, variants: 8, anchors: 2, shared: .3}).vectors
	var adjacent, parent, same, other mean
	for i, r := range all {
		if i > 0 && all[i-1].Conversation == r.Conversation {
			adjacent.add(r, all[i-1])
		}
		if r.Parent != 0 {
			parent.add(r, sim.Request{Content: &sim.Content{Vector: vectors[r.Parent-1]}})
		}
		for j := 0; j < i; j += 31 {
			if all[j].Topic != r.Topic {
				other.add(r, all[j])
			} else if all[j].ID != r.ID {
				same.add(r, all[j])
			}
		}
	}
	for _, c := range []struct {
		name           string
		got            float64
		want, tolerant float64
	}{
		{"adjacent turns", adjacent.value(), .636, .0006},
		{"DAG parent", parent.value(), .676, .003},
		{"same topic", same.value(), .487, .003},
		{"other topic", other.value(), .01, .003},
	} {
		if math.Abs(c.got-c.want) > c.tolerant {
			t.Errorf("%s: %.4f, published %.3f", c.name, c.got, c.want)
		}
	}
}

// mean is that of the similarities of pairs.
type mean struct{ sum, n float64 }

func (m *mean) add(a, b sim.Request) {
	for i, x := range a.Content.Vector {
		m.sum += float64(x) * float64(b.Content.Vector[i])
	}
	m.n++
}

func (m *mean) value() float64 { return m.sum / m.n }

// TestParents checks the three values of the parameter parent.
func TestParents(t *testing.T) {
	for _, kind := range []string{"root", "dag", "none"} {
		var first, apart int
		all := trace(t, "na4:long=0,parent="+kind, 1)
		for i, r := range all {
			if r.Turn == 0 {
				first = i
			}
			if (r.Parent == 0) != (kind == "none" || r.Turn == 0) || kind == "root" && r.Turn > 0 && r.Parent != all[first].ID {
				t.Fatalf("%s: request %d, turn %d names %d", kind, i, r.Turn, r.Parent)
			}
			if r.Parent != 0 && r.Parent != all[first].ID {
				apart++
			}
		}
		if (apart > len(all)/4) != (kind == "dag") {
			t.Errorf("%s: %d of %d requests depend on another than the first", kind, apart, len(all))
		}
	}
}

// TestItemsHaveOneAnswer: requests for the same item have the same size, cost and, among sessions, topic.
func TestItemsHaveOneAnswer(t *testing.T) {
	for _, info := range List() {
		seen := map[uint64]sim.Request{}
		for i, r := range trace(t, extend(info.Name, "n=5000"), 3) {
			was, ok := seen[r.ID]
			if ok && (was.Size != r.Size || was.Cost != r.Cost || was.Topic != r.Topic) {
				t.Fatalf("%s: request %d is %+v, and was %+v", info.Name, i, r, was)
			}
			if r.Size < 400 || r.Cost < 50 || r.ID == 0 || r.Topic == 0 || r.Conversation == 0 || r.At != float64(i) {
				t.Fatalf("%s: request %d is %+v", info.Name, i, r)
			}
			seen[r.ID] = r
		}
	}
}
