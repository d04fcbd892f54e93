package report

import (
	"bytes"
	"fmt"
	"image/color"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Size of a plot with its legend, in SVG points. The page scales it.
const (
	chartWidth  = 600
	chartHeight = 300
	textSize    = 11
)

// ink is the color that the page replaces by its text color; rule is replaced by its color of lines.
var (
	ink  = color.NRGBA{A: 255}
	rule = color.NRGBA{R: 136, G: 136, B: 136, A: 255}
)

// palette can be distinguished with color blindness, on white and on black (Okabe and Ito, somewhat darker).
var palette = []color.Color{
	color.NRGBA{R: 0xd5, G: 0x5e, A: 255}, color.NRGBA{G: 0x86, B: 0xd0, A: 255}, color.NRGBA{G: 0x9e, B: 0x73, A: 255},
	color.NRGBA{R: 0xc0, G: 0x60, B: 0xa0, A: 255}, color.NRGBA{R: 0xd8, G: 0x96, A: 255}, color.NRGBA{R: 0x3d, G: 0xa9, B: 0xdc, A: 255},
	color.NRGBA{R: 0x9a, G: 0x6b, B: 0x4f, A: 255}, color.NRGBA{R: 0x7a, G: 0x7a, B: 0xd8, A: 255},
}

var glyphs = []draw.GlyphDrawer{draw.CircleGlyph{}, draw.SquareGlyph{}, draw.PyramidGlyph{}, draw.RingGlyph{}, draw.BoxGlyph{}, draw.TriangleGlyph{},
	draw.CrossGlyph{}, draw.PlusGlyph{}}

// svg renders a plot as an element of a page.
func (p *Plot) svg() (string, error) {
	c := vgsvg.New(chartWidth, chartHeight)
	if err := p.draw(draw.New(c)); err != nil {
		return "", fmt.Errorf("plot %q: %w", p.Title, err)
	}
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return "", fmt.Errorf("render plot %q: %w", p.Title, err)
	}
	_, picture, _ := bytes.Cut(b.Bytes(), []byte("-->\n")) // the part before it makes a document of its own
	return string(picture), nil
}

// draw draws the plot, and the legend beside it, where it covers nothing.
func (p *Plot) draw(c draw.Canvas) error {
	chart, legend := p.axes(), plot.NewLegend()
	legend.TextStyle.Font = textFont()
	legend.Top, legend.Left, legend.Padding, legend.ThumbnailWidth = true, true, 3, 22
	colored := 0
	for _, l := range p.apart() {
		if len(l.Points) == 0 {
			continue
		}
		thumbs, err := l.draw(chart, colored)
		if err != nil {
			return err
		}
		if l.Style != Faint {
			legend.Add(l.Name, thumbs...)
		}
		if l.Style == Bold || l.Style == Plain {
			colored++
		}
	}
	c = draw.Crop(c, 0, 0, 4, -4)
	wide := legend.Rectangle(c).Size().X*1.2 + 12 // the reader's font may be wider
	chart.Draw(draw.Crop(c, 0, -wide, 0, 0))
	legend.Draw(draw.Crop(c, c.Size().X-wide+12, 0, 0, -8))
	return nil
}

// apart returns the lines with each line's intervals shifted a little to the right of the previous one, so that no interval
// covers another.
func (p *Plot) apart() []Line {
	least, most, n := math.Inf(1), math.Inf(-1), 0
	for _, l := range p.Lines {
		for _, at := range l.Points {
			least, most = min(least, at.X), max(most, at.X)
		}
		if l.uncertain() {
			n++
		}
	}
	lines, k := slices.Clone(p.Lines), 0
	for i := range lines {
		if !lines[i].uncertain() {
			continue
		}
		shift := (float64(k) - float64(n-1)/2) * (most - least) * 0.006
		lines[i].Points = slices.Clone(lines[i].Points)
		for j := range lines[i].Points {
			lines[i].Points[j].X += shift
		}
		k++
	}
	return lines
}

// uncertain reports whether a line has intervals.
func (l *Line) uncertain() bool {
	return slices.ContainsFunc(l.Points, func(p Point) bool { return p.Half > 0 })
}

func textFont() font.Font { return font.Font{Typeface: "Liberation", Variant: "Sans", Size: textSize} }

func (p *Plot) axes() *plot.Plot {
	chart := plot.New()
	chart.BackgroundColor = color.Transparent
	chart.X.Label.Text, chart.Y.Label.Text = p.X, p.Y
	for _, a := range []*plot.Axis{&chart.X, &chart.Y} {
		a.Label.TextStyle.Font, a.Tick.Label.Font = textFont(), textFont()
		a.Label.TextStyle.Color, a.Tick.Label.Color = ink, ink
		a.LineStyle.Color, a.Tick.LineStyle.Color = rule, rule
		a.Label.Padding, a.Tick.Marker = 4, plot.TickerFunc(steps)
	}
	if len(p.Ticks) > 0 {
		var ticks plot.ConstantTicks
		for _, t := range p.Ticks {
			ticks = append(ticks, plot.Tick{Value: t.At, Label: t.Name})
		}
		chart.X.Tick.Marker = ticks
	}
	grid := plotter.NewGrid()
	grid.Vertical.Width = 0
	grid.Horizontal.Color, grid.Horizontal.Width = color.NRGBA{R: 136, G: 136, B: 136, A: 60}, 0.5
	chart.Add(grid)
	if p.Zero {
		zero := plotter.NewFunction(func(float64) float64 { return 0 })
		zero.Color, zero.Width, zero.Samples = rule, 1, 2
		chart.Add(zero)
		chart.Y.Min, chart.Y.Max = 0, 0
	}
	return chart
}

// steps returns at most nine round numbers between least and most.
func steps(least, most float64) (ticks []plot.Tick) {
	if !(most > least) {
		return nil
	}
	step := math.Pow(10, math.Floor(math.Log10(most-least))) / 5
	for _, by := range []float64{2.5, 2, 2} {
		if (most-least)/step > 8 {
			step *= by
		}
	}
	for i := math.Ceil(least/step-1e-9) + 0; i*step <= most+step*1e-9; i++ { // + 0, because zero may be -0
		ticks = append(ticks, plot.Tick{Value: i * step, Label: strconv.FormatFloat(i*step, 'g', 6, 64)})
	}
	return ticks
}

// draw adds the line to a chart. n is the number of colors used before it.
func (l *Line) draw(chart *plot.Plot, n int) ([]plot.Thumbnailer, error) {
	line, points, err := plotter.NewLinePoints(xy(l.Points))
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
		line.Color, line.Width, line.Dashes = rule, 1.5, []vg.Length{5, 3}
	case Faint:
		line.Color, line.Width = color.NRGBA{R: 136, G: 136, B: 136, A: 120}, 0.7
	}
	chart.Add(line)
	if l.Style == Dashed || l.Style == Faint {
		return []plot.Thumbnailer{line}, nil
	}
	points.GlyphStyle = draw.GlyphStyle{Color: line.Color, Radius: 2.6, Shape: glyphs[n%len(glyphs)]}
	chart.Add(points)
	return []plot.Thumbnailer{line, points}, l.intervals(chart, line.Color)
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
