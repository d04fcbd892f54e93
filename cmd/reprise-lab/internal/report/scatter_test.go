package report

import (
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
