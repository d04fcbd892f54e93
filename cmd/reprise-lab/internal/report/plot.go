package report

import (
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// svg renders a plot as elements of a page.
func (p *Plot) svg() (string, error) { return svg(p.Title, p.picture) }

func (p *Plot) picture() (*picture, error) {
	chart := axes(p.X, p.Y)
	if p.Zero && !p.LogY {
		fromZero(chart)
	}
	drawn, colored, dashed := newPicture(chart), 0, 0
	for _, l := range p.apart() {
		if len(l.Points) == 0 {
			continue
		}
		thumbs, err := l.draw(chart, colored, dashed)
		if err != nil {
			return nil, err
		}
		if l.Style != Faint {
			drawn.add(l.Name, thumbs...)
		}
		switch l.Style {
		case Bold, Plain, Dots:
			colored++
		case Dashed:
			dashed++
		}
	}
	if p.LogX {
		logarithmic(&chart.X)
	}
	if p.LogY {
		logarithmic(&chart.Y)
	}
	drawn.fit = func(width float64) { p.label(&chart.X, width) }
	return drawn, nil
}

// label sets the names on the X axis.
func (p *Plot) label(a *plot.Axis, width float64) {
	var ticks plot.ConstantTicks
	for _, t := range p.Ticks {
		if !p.LogX || t.At > 0 {
			ticks = append(ticks, plot.Tick{Value: t.At, Label: t.Name})
		}
	}
	switch {
	case a.Max > a.Min && len(ticks) > 0:
		a.Tick.Marker = apartBy(ticks, a, width)
	case a.Max > a.Min:
		a.Tick.Marker = apartBy(a.Tick.Marker.Ticks(a.Min, a.Max), a, width)
	case len(ticks) > 0: // at most one point: package plot makes a range around it
		a.Tick.Marker = ticks
	}
}

// drawable are the points of a line that a plot has a place for.
func (p *Plot) drawable(points []Point) (kept []Point) {
	for _, at := range points {
		switch {
		case math.IsNaN(at.X + at.Y + at.Half), math.IsInf(at.X, 0), math.IsInf(at.Y, 0), math.IsInf(at.Half, 0):
		case p.LogX && at.X <= 0, p.LogY && at.Y <= 0:
		default:
			if p.LogY {
				at.Half = min(at.Half, 0.9*at.Y) // the axis has no 0
			}
			kept = append(kept, at)
		}
	}
	return kept
}

// apart returns the lines with each line's intervals shifted a little to the right of the previous one, so that no interval
// covers another.
func (p *Plot) apart() []Line {
	lines, n := slices.Clone(p.Lines), 0
	least, most := math.Inf(1), math.Inf(-1)
	for i := range lines {
		lines[i].Points = p.drawable(lines[i].Points)
		for _, at := range lines[i].Points {
			least, most = min(least, at.X), max(most, at.X)
		}
		if lines[i].uncertain() {
			n++
		}
	}
	k := 0
	for i := range lines {
		if !lines[i].uncertain() {
			continue
		}
		by := (float64(k) - float64(n-1)/2) * 0.006
		for j := range lines[i].Points {
			at := &lines[i].Points[j]
			if p.LogX {
				at.X *= math.Pow(most/least, by)
			} else {
				at.X += by * (most - least)
			}
		}
		k++
	}
	return lines
}

// uncertain reports whether a line has intervals.
func (l *Line) uncertain() bool {
	return slices.ContainsFunc(l.Points, func(p Point) bool { return p.Half > 0 })
}

// dashes distinguish lines without a color.
var dashes = [][]vg.Length{{5, 3}, {1.5, 2.5}, {9, 2.5, 1.5, 2.5}}

// draw adds the line to a chart. n is the number of colors used before it, and k that of dashes.
func (l *Line) draw(chart *plot.Plot, n, k int) ([]plot.Thumbnailer, error) {
	line, err := plotter.NewLine(xy(l.Points))
	if err != nil {
		return nil, fmt.Errorf("line %s: %w", l.Name, err)
	}
	line.Color = palette[n%len(palette)]
	switch l.Style {
	case Bold:
		line.Width = 2.2
	case Plain:
		line.Width = 1.2
	case Dashed:
		line.Color, line.Width, line.Dashes = rule, 1.5, dashes[k%len(dashes)]
	case Faint:
		line.Color, line.Width = color.NRGBA{R: 136, G: 136, B: 136, A: 120}, 0.7
	}
	if l.Style != Dots {
		chart.Add(line)
	}
	if l.Style == Dashed || l.Style == Faint {
		return []plot.Thumbnailer{line}, nil
	}
	points, err := plotter.NewScatter(xy(l.glyphs()))
	if err != nil {
		return nil, fmt.Errorf("line %s: %w", l.Name, err)
	}
	points.GlyphStyle = draw.GlyphStyle{Color: line.Color, Radius: 2.6, Shape: glyphs[n%len(glyphs)]}
	chart.Add(points)
	if l.Style == Dots {
		return []plot.Thumbnailer{points}, nil
	}
	return []plot.Thumbnailer{line, points}, l.intervals(chart, line.Color)
}

// mostGlyphs is how many points of a line are marked.
const mostGlyphs = 24

// glyphs are the points of the line that are marked: those of a long line would cover it.
func (l *Line) glyphs() []Point {
	if len(l.Points) <= mostGlyphs || l.Style == Dots {
		return l.Points
	}
	var some []Point
	for i := range mostGlyphs / 2 {
		some = append(some, l.Points[i*(len(l.Points)-1)/(mostGlyphs/2-1)])
	}
	return some
}

func (l *Line) intervals(chart *plot.Plot, c color.Color) error {
	if !l.uncertain() {
		return nil
	}
	bars, err := plotter.NewYErrorBars(spread(l.Points))
	if err != nil {
		return fmt.Errorf("intervals of line %s: %w", l.Name, err)
	}
	bars.Color, bars.Width, bars.CapWidth = c, 0.8, 5
	chart.Add(bars)
	return nil
}

// xy and spread are points in the form of package plotter.
type xy []Point

func (p xy) Len() int                    { return len(p) }
func (p xy) XY(i int) (float64, float64) { return p[i].X, p[i].Y }

type spread []Point

func (p spread) Len() int                        { return len(p) }
func (p spread) XY(i int) (float64, float64)     { return p[i].X, p[i].Y }
func (p spread) YError(i int) (float64, float64) { return p[i].Half, p[i].Half }
