package report

import (
	"cmp"
	"math"
	"slices"
	"unicode/utf8"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Scatter has points with a name each, which is drawn beside the point. Distances on its axes are those of the square roots, with the sign of the
// value, so that near 0 there is more room than far from it, and values of both signs have a place. Its figures belong into a table beside it.
type Scatter struct {
	Title  string
	X, Y   string // labels of the axes, with units
	Points []Spot
}

// Spot is a named point. Strong ones have another color.
type Spot struct {
	Name   string
	X, Y   float64
	Strong bool
}

// svg renders the points as elements of a page.
func (s *Scatter) svg() (string, error) { return svg(s.Title, s.picture) }

func (s *Scatter) picture() (*picture, error) {
	chart := axes(s.X, s.Y)
	grid := plotter.NewGrid()
	grid.Horizontal.Width = 0
	grid.Vertical.Color, grid.Vertical.Width = gridColor, 0.5
	chart.Add(grid)
	spots := spots{}
	for _, p := range s.Points {
		if !math.IsNaN(p.X+p.Y) && !math.IsInf(p.X, 0) && !math.IsInf(p.Y, 0) {
			spots = append(spots, p)
		}
	}
	if len(spots) > 0 {
		chart.Add(spots)
	}
	for _, a := range []*plot.Axis{&chart.X, &chart.Y} {
		a.Scale, a.Tick.Marker = rootScale{}, plot.TickerFunc(rootSteps)
	}
	drawn := newPicture(chart)
	drawn.fit = func(width float64) {
		if a := &chart.X; a.Max > a.Min {
			a.Tick.Marker = apartBy(a.Tick.Marker.Ticks(a.Min, a.Max), a, width)
		}
	}
	return drawn, nil
}

// root is the square root with the sign of v, and squared its inverse.
func root(v float64) float64    { return math.Copysign(math.Sqrt(math.Abs(v)), v) }
func squared(v float64) float64 { return v * math.Abs(v) }

// rootScale is a scale of package plot.
type rootScale struct{}

func (rootScale) Normalize(least, most, x float64) float64 {
	return (root(x) - root(least)) / (root(most) - root(least))
}

// rootSteps returns 0 and round numbers of both signs between least and most: at each distance from 0 about as many as have room.
func rootSteps(least, most float64) (ticks []plot.Tick) {
	apart := (root(most) - root(least)) / 9
	var add func(sign, power, last float64)
	add = func(sign, power, last float64) {
		for _, n := range []float64{1, 2, 5} {
			v := sign * n * math.Pow(10, power)
			if v < least || v > most {
				if math.Abs(v) > max(-least, most) {
					return
				}
				continue
			}
			if math.Abs(root(v)-last) >= apart {
				ticks, last = append(ticks, plot.Tick{Value: v, Label: short(v)}), root(v)
			}
		}
		add(sign, power+1, last)
	}
	if least <= 0 && most >= 0 {
		ticks = append(ticks, plot.Tick{Label: "0"})
	}
	for _, sign := range []float64{-1, 1} {
		add(sign, -3, 0)
	}
	slices.SortFunc(ticks, func(a, b plot.Tick) int { return cmp.Compare(a.Value, b.Value) })
	return ticks
}

// spots draws points and their names.
type spots []Spot

// DataRange is what the axes show: some more than the points, as room for their names.
func (s spots) DataRange() (xmin, xmax, ymin, ymax float64) {
	xmin, xmax, ymin, ymax = math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	for _, p := range s {
		xmin, xmax, ymin, ymax = min(xmin, p.X), max(xmax, p.X), min(ymin, p.Y), max(ymax, p.Y)
	}
	xmin, xmax = widened(xmin, xmax)
	ymin, ymax = widened(ymin, ymax)
	return xmin, xmax, ymin, ymax
}

// widened is a range with some room at its ends.
func widened(least, most float64) (float64, float64) {
	room := max(0.06*(root(most)-root(least)), 0.05)
	return squared(root(least) - room), squared(root(most) + room)
}

const spotRadius = 3.2

// Plot draws the points, and then the names where they cover neither points nor each other. A name that is not beside its point has a line to it.
func (s spots) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	var taken []vg.Rectangle
	at := make([]vg.Point, len(s))
	for i, one := range s {
		at[i] = vg.Point{X: x(one.X), Y: y(one.Y)}
		taken = append(taken, around(at[i], 2*spotRadius, 2*spotRadius))
	}
	for _, strong := range []bool{true, false} { // these are named first, and drawn last
		for i, one := range s {
			if one.Strong == strong {
				taken = append(taken, name(c, one, at[i], taken))
			}
		}
	}
	for _, strong := range []bool{false, true} {
		for i, one := range s {
			if one.Strong == strong {
				c.DrawGlyph(one.style(), at[i])
			}
		}
	}
}

func (s Spot) style() draw.GlyphStyle {
	if s.Strong {
		return draw.GlyphStyle{Color: palette[0], Radius: spotRadius + 1, Shape: draw.CircleGlyph{}}
	}
	return draw.GlyphStyle{Color: palette[1], Radius: spotRadius, Shape: draw.CircleGlyph{}}
}

// around is a rectangle with its middle at a point.
func around(at vg.Point, width, height vg.Length) vg.Rectangle {
	return vg.Rectangle{Min: vg.Point{X: at.X - width/2, Y: at.Y - height/2}, Max: vg.Point{X: at.X + width/2, Y: at.Y + height/2}}
}

// name draws the name of a point at the nearest place where it covers nothing, and returns what it covers.
func name(c draw.Canvas, s Spot, at vg.Point, taken []vg.Rectangle) vg.Rectangle {
	width := vg.Length(float64(utf8.RuneCountInString(s.Name)) * letter * 1.12) // the reader's font may be wider
	box := place(at, width, textSize, c.Rectangle, taken)
	middle := vg.Point{X: (box.Min.X + box.Max.X) / 2, Y: (box.Min.Y + box.Max.Y) / 2}
	near := vg.Point{X: min(max(at.X, box.Min.X), box.Max.X), Y: min(max(at.Y, box.Min.Y), box.Max.Y)}
	if math.Hypot(float64(near.X-at.X), float64(near.Y-at.Y)) > 3*spotRadius {
		c.StrokeLine2(draw.LineStyle{Color: rule, Width: 0.6}, at.X, at.Y, near.X, near.Y)
	}
	c.FillText(draw.TextStyle{Color: ink, Font: textFont(), XAlign: text.XCenter, YAlign: text.YCenter, Handler: plot.DefaultTextHandler}, middle, s.Name)
	return box
}

// place returns the box of that size nearest to a point that is within bounds and overlaps nothing that is taken; without such a place, one to the
// right of the point.
func place(at vg.Point, width, height vg.Length, bounds vg.Rectangle, taken []vg.Rectangle) vg.Rectangle {
	const turns = 16
	first := around(vg.Point{X: at.X + width/2 + 2*spotRadius, Y: at.Y}, width, height)
	for gap := vg.Length(spotRadius + 2); gap < 120; gap += 5 {
		for i := range turns {
			angle := 2 * math.Pi * float64(i) / turns
			dx, dy := vg.Length(math.Cos(angle)), vg.Length(math.Sin(angle))
			box := around(vg.Point{X: at.X + dx*(gap+width/2), Y: at.Y + dy*(gap+height/2)}, width, height)
			if inside(box, bounds) && !overlaps(box, taken) {
				return box
			}
		}
	}
	return first
}

func inside(a, b vg.Rectangle) bool {
	return a.Min.X >= b.Min.X && a.Max.X <= b.Max.X && a.Min.Y >= b.Min.Y && a.Max.Y <= b.Max.Y
}

func overlaps(a vg.Rectangle, all []vg.Rectangle) bool {
	for _, b := range all {
		if a.Min.X < b.Max.X && b.Min.X < a.Max.X && a.Min.Y < b.Max.Y && b.Min.Y < a.Max.Y {
			return true
		}
	}
	return false
}
