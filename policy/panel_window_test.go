package policy

import (
	"reflect"
	"testing"
)

func expert(name string, asked, hits float64) ExpertStats {
	return ExpertStats{Name: name, Asked: asked, Hits: hits}
}

func TestPanelWindow(t *testing.T) {
	changes := []Change{{10, "a", "b", 5, 4}, {20, "b", "a", 7, 6}, {30, "a", "b", 9, 8}}
	before := PanelStats{Experts: []ExpertStats{expert("a", 100, 50), expert("b", 100, 20)}, Changed: 7, Asked: 100, Hits: 25}
	for _, c := range []struct {
		name          string
		before, after PanelStats
		want          PanelWindow
	}{
		{"from the start", PanelStats{}, before, PanelWindow{Leader: "a", Changed: 7, Experts: []ExpertWindow{{"a", .5}, {"b", .2}}, Regret: .25}},
		{"the latest changes", before, PanelStats{Experts: []ExpertStats{expert("a", 200, 60), expert("b", 200, 95)}, Leader: 1, Changed: 9,
			Changes: changes, Asked: 200, Hits: 75}, PanelWindow{Leader: "b", Changed: 2, Changes: changes[1:], Experts: []ExpertWindow{{"a", .1}, {"b", .75}}, Regret: .25}},
		{"more changes than are kept", before, PanelStats{Experts: before.Experts, Changed: 50, Changes: changes, Asked: 100, Hits: 25},
			PanelWindow{Leader: "a", Changed: 43, Changes: changes}},
		{"better than the experts", PanelStats{}, PanelStats{Experts: []ExpertStats{expert("a", 4, 1)}, Asked: 4, Hits: 2},
			PanelWindow{Leader: "a", Experts: []ExpertWindow{{"a", .25}}, Regret: -.25}},
		{"without changes", before, PanelStats{Experts: []ExpertStats{expert("a", 200, 150), expert("b", 200, 20)}, Changed: 7, Changes: changes, Asked: 200, Hits: 125},
			PanelWindow{Leader: "a", Experts: []ExpertWindow{{"a", 1}, {"b", 0}}}},
		{"restored", before, PanelStats{Experts: []ExpertStats{expert("a", 30, 10), expert("b", 30, 10)}, Changed: 2, Changes: changes, Asked: 30, Hits: 0},
			PanelWindow{Leader: "a"}},
		{"no experts", PanelStats{}, PanelStats{Leader: 3, Asked: 1}, PanelWindow{}},
	} {
		if got := c.after.Since(&c.before); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}
