package report

import (
	"bytes"
	"fmt"
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Size of a picture with its legend, in SVG points. The page scales it: the wide form has the legend at the right, the narrow one, for a
// telephone, below.
const (
	chartWidth  = 600
	chartHeight = 300

	narrowWidth  = 380
	narrowHeight = 260
	legendLine   = 14 // height of a line of the legend

	textSize = 11
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

// picture is a chart with its legend.
type picture struct {
	chart  *plot.Plot
	legend plot.Legend
	named  int                 // lines of the legend
	fit    func(width float64) // adapts the axes to the width of the chart in points; nil: nothing
}

// add adds what a legend shows.
func (p *picture) add(name string, thumbs ...plot.Thumbnailer) {
	p.legend.Add(name, thumbs...)
	p.named++
}

func newPicture(chart *plot.Plot) *picture {
	p := &picture{chart: chart, legend: plot.NewLegend()}
	p.legend.TextStyle.Font, p.legend.TextStyle.Color = textFont(), ink
	p.legend.Top, p.legend.Left, p.legend.Padding, p.legend.ThumbnailWidth = true, true, 3, 22
	return p
}

// svg renders a picture as elements of a page: a wide form and a narrow one, of which the page shows one. Function make is called for
// each, because drawing changes a picture.
func svg(title string, make func() (*picture, error)) (string, error) {
	var all bytes.Buffer
	for _, form := range []string{"wide", "narrow"} {
		p, err := make()
		if err != nil {
			return "", fmt.Errorf("plot %q: %w", title, err)
		}
		width, height := float64(chartWidth), float64(chartHeight)
		if form == "narrow" {
			width, height = narrowWidth, narrowHeight+float64(p.named)*legendLine
		}
		var b bytes.Buffer
		c := vgsvg.New(vg.Length(width), vg.Length(height))
		p.draw(draw.New(c), form == "narrow")
		if _, err := c.WriteTo(&b); err != nil {
			return "", fmt.Errorf("render plot %q: %w", title, err)
		}
		_, element, _ := bytes.Cut(b.Bytes(), []byte("-->\n")) // the part before it makes a document of its own
		fmt.Fprintf(&all, "<div class=\"%s\">%s</div>\n", form, element)
	}
	return all.String(), nil
}

// draw draws the chart, and the legend where it covers nothing.
func (p *picture) draw(c draw.Canvas, narrow bool) {
	c = draw.Crop(c, 0, 0, 4, -4)
	if narrow {
		below := vg.Length(float64(p.named) * legendLine)
		p.drawChart(draw.Crop(c, 0, -8, below+6, 0))
		p.legend.Draw(draw.Crop(c, 34, 0, 0, below-c.Size().Y))
		return
	}
	beside := p.legend.Rectangle(c).Size().X*1.2 + 12 // the reader's font may be wider
	if p.named == 0 {
		beside = 8
	}
	p.drawChart(draw.Crop(c, 0, -beside, 0, 0))
	p.legend.Draw(draw.Crop(c, c.Size().X-beside+12, 0, 0, -8))
}

func (p *picture) drawChart(c draw.Canvas) {
	if p.fit != nil {
		p.fit(float64(c.Size().X) - besideAxis)
	}
	p.chart.Draw(c)
}

// besideAxis is about how much of a chart's width the labels of the Y axis take, in points.
const besideAxis = 45
