package report

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/plot/vg"
)

// TestNamesCoverNothing: a name is within the chart and covers neither a point nor another name, also where many points are at nearly one place.
func TestNamesCoverNothing(t *testing.T) {
	bounds := vg.Rectangle{Max: vg.Point{X: 300, Y: 200}}
	var taken []vg.Rectangle
	var points []vg.Point
	for i := range 12 {
		at := vg.Point{X: 280 + vg.Length(i), Y: 190 - vg.Length(2*i)} // in a corner
		points, taken = append(points, at), append(taken, around(at, 2*spotRadius, 2*spotRadius))
	}
	for i, at := range points {
		box := place(at, 70, textSize, bounds, taken)
		if !inside(box, bounds) || overlaps(box, taken) {
			t.Errorf("name %d at %v covers something, or is not within the chart", i, box)
		}
		taken = append(taken, box)
	}
	full := []vg.Rectangle{{Min: vg.Point{X: -999, Y: -999}, Max: vg.Point{X: 999, Y: 999}}}
	if box := place(points[0], 70, textSize, bounds, full); box.Min.X <= points[0].X {
		t.Errorf("without room the name is at %v, want it to the right of %v", box, points[0])
	}
}

func TestRootAxis(t *testing.T) {
	for _, c := range []struct {
		least, most float64
		want        string
	}{
		{-40, 1, "-20 -10 -5 -1 0 1"}, {0.5, 12, "0.5 2 5 10"}, {-3, -0.2, "-2 -1 -0.5 -0.2"},
	} {
		got := ""
		for _, tick := range rootSteps(c.least, c.most) {
			got += " " + tick.Label
		}
		if got != " "+c.want {
			t.Errorf("%g to %g: %s, want %s", c.least, c.most, got, c.want)
		}
	}
	least, most := widened(-4, 9)
	if s := (rootScale{}); !(least < -4 && most > 9) || s.Normalize(-4, 9, -4) != 0 || s.Normalize(-4, 9, 9) != 1 || math.Abs(s.Normalize(-4, 9, 0)-0.4) > 1e-12 {
		t.Error(fmt.Sprint("the scale is not that of square roots: ", least, most))
	}
}
