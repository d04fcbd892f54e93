package policy

import (
	"reflect"
	"testing"
)

func expert(name string, asked, hits, led float64) ExpertStats {
	return ExpertStats{Name: name, Asked: asked, Hits: hits, Led: led}
}

func TestPanelWindow(t *testing.T) {
	changes := []Change{{10, 1, "a", "b", 5, 4}, {20, 2, "b", "a", 7, 6}, {30, 3, "a", "b", 9, 8}}
	before := PanelStats{Experts: []ExpertStats{expert("a", 100, 50, 75), expert("b", 100, 20, 25)}, Changed: 7, Asked: 100, Hits: 25}
	for _, c := range []struct {
		name          string
		before, after PanelStats
		want          PanelWindow
	}{
		{"from the start", PanelStats{}, before, PanelWindow{Leader: "a", Changed: 7, Experts: []expertWindow{{"a", .5, .75}, {"b", .2, .25}}, HitRatio: .25, Regret: .25}},
		{"the latest changes", before, PanelStats{Experts: []ExpertStats{expert("a", 200, 60, 85), expert("b", 200, 95, 115)}, Leader: 1, Changed: 9,
			Changes: changes, Asked: 200, Hits: 75}, PanelWindow{Leader: "b", Changed: 2, Changes: changes[1:], Experts: []expertWindow{{"a", .1, .1}, {"b", .75, .9}}, HitRatio: .5, Regret: .25}},
		{"more changes than are kept", before, PanelStats{Experts: before.Experts, Changed: 50, Changes: changes, Asked: 100, Hits: 25},
			PanelWindow{Leader: "a", Changed: 43, Changes: changes}},
		{"better than the experts", PanelStats{}, PanelStats{Experts: []ExpertStats{expert("a", 4, 1, 4)}, Asked: 4, Hits: 2},
			PanelWindow{Leader: "a", Experts: []expertWindow{{"a", .25, 1}}, HitRatio: .5, Regret: -.25}},
		{"without changes", before, PanelStats{Experts: []ExpertStats{expert("a", 200, 150, 175), expert("b", 200, 20, 25)}, Changed: 7, Changes: changes, Asked: 200, Hits: 125},
			PanelWindow{Leader: "a", Experts: []expertWindow{{"a", 1, 1}, {"b", 0, 0}}, HitRatio: 1}},
		{"restored", before, PanelStats{Experts: []ExpertStats{expert("a", 30, 10, 30), expert("b", 30, 10, 0)}, Changed: 2, Changes: changes, Asked: 30, Hits: 0},
			PanelWindow{Leader: "a"}},
		{"no experts", PanelStats{}, PanelStats{Leader: 3, Asked: 1}, PanelWindow{}},
	} {
		if got := c.after.Since(&c.before); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}
