package report

import (
	"fmt"
	"image/color"
	"math"
	"unicode/utf8"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Bars are figures side by side: one for each group and series. A page has their values in a folded table.
type Bars struct {
	Title  string
	Y      string   // label of the axis, with the unit
	Groups []string // along the X axis
	Series []Series // side by side in each group, at most eight
	Digits int      // of the values, after the decimal point
}

// Series are the values of all groups.
type Series struct {
	Name   string
	Values []Value // one for each group; those missing at the end have no bar
}

// Value is a figure with the half width of its interval; 0 is no interval. A Y of NaN is none.
type Value struct{ Y, Half float64 }

// at is the value of a group, and whether there is one.
func (s *Series) at(group int) (Value, bool) {
	if group >= len(s.Values) {
		return Value{}, false
	}
	v := s.Values[group]
	return v, !math.IsNaN(v.Y+v.Half) && !math.IsInf(v.Y, 0) && !math.IsInf(v.Half, 0)
}

// Table is the bars as figures.
func (b *Bars) Table() *Table {
	t := &Table{Caption: "Figures of " + b.Title + ", " + b.Y, Head: []string{""}, Texts: 1, Folded: true}
	for _, s := range b.Series {
		t.Head = append(t.Head, s.Name)
	}
	for g, name := range b.Groups {
		row := Cells(name)
		for i := range b.Series {
			row = append(row, Cell{Text: b.text(b.Series[i].at(g))})
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func (b *Bars) text(v Value, ok bool) string {
	switch {
	case !ok:
		return ""
	case v.Half == 0:
		return fmt.Sprintf("%.*f", b.Digits, v.Y)
	}
	return fmt.Sprintf("%.*f ± %.*f", b.Digits, v.Y, b.Digits, v.Half)
}

// svg renders the bars as elements of a page.
func (b *Bars) svg() (string, error) { return svg(b.Title, b.picture) }

// taken is the share of a group's width that its bars take.
const taken = 0.8

func (b *Bars) picture() (*picture, error) {
	chart := axes("", b.Y)
	drawn := newPicture(chart)
	width := taken / float64(max(1, len(b.Series)))
	for i := range b.Series {
		s := &bars{of: &b.Series[i], color: palette[i%len(palette)], from: -taken/2 + float64(i)*width, width: width, groups: len(b.Groups)}
		chart.Add(s)
		if len(b.Series) > 1 {
			drawn.add(s.of.Name, s)
		}
	}
	fromZero(chart)
	chart.X.Min, chart.X.Max = -0.5, float64(len(b.Groups))-0.5
	chart.X.Tick.Length = 0
	drawn.fit = func(width float64) { b.label(&chart.X, width) }
	return drawn, nil
}

// label sets the names of the groups, at an angle if they have no room side by side.
func (b *Bars) label(a *plot.Axis, width float64) {
	var ticks plot.ConstantTicks
	room := width / float64(max(1, len(b.Groups)))
	for g, name := range b.Groups {
		ticks = append(ticks, plot.Tick{Value: float64(g), Label: name})
		if float64(utf8.RuneCountInString(name)+1)*letter > room {
			a.Tick.Label.Rotation, a.Tick.Label.XAlign, a.Tick.Label.YAlign = math.Pi/5, text.XRight, text.YTop
		}
	}
	a.Tick.Marker = ticks
}

// bars draws a series.
type bars struct {
	of          *Series
	color       color.Color
	from, width float64 // of a bar, from the middle of its group
	groups      int
}

// Plot draws the bars and their intervals.
func (s *bars) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for g := range s.groups {
		v, ok := s.of.at(g)
		if !ok {
			continue
		}
		left, right := x(float64(g)+s.from), x(float64(g)+s.from+s.width*0.92)
		c.FillPolygon(s.color, []vg.Point{{X: left, Y: y(0)}, {X: left, Y: y(v.Y)}, {X: right, Y: y(v.Y)}, {X: right, Y: y(0)}})
		if v.Half > 0 {
			middle, cap := (left+right)/2, min(3, (right-left)/2)
			style := draw.LineStyle{Color: ink, Width: 1}
			c.StrokeLine2(style, middle, y(v.Y-v.Half), middle, y(v.Y+v.Half))
			c.StrokeLine2(style, middle-cap, y(v.Y-v.Half), middle+cap, y(v.Y-v.Half))
			c.StrokeLine2(style, middle-cap, y(v.Y+v.Half), middle+cap, y(v.Y+v.Half))
		}
	}
}

// DataRange is what the axes show.
func (s *bars) DataRange() (xmin, xmax, ymin, ymax float64) {
	for g := range s.groups {
		if v, ok := s.of.at(g); ok {
			ymin, ymax = min(ymin, v.Y-v.Half), max(ymax, v.Y+v.Half)
		}
	}
	return 0, float64(max(0, s.groups-1)), ymin, ymax
}

// Thumbnail draws the color for the legend.
func (s *bars) Thumbnail(c *draw.Canvas) {
	c.FillPolygon(s.color, []vg.Point{{X: c.Min.X, Y: c.Min.Y}, {X: c.Min.X, Y: c.Max.Y}, {X: c.Max.X, Y: c.Max.Y}, {X: c.Max.X, Y: c.Min.Y}})
}
