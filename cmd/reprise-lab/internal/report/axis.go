package report

import (
	"image/color"
	"math"
	"strconv"
	"unicode/utf8"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
)

func textFont() font.Font { return font.Font{Typeface: "Liberation", Variant: "Sans", Size: textSize} }

// axes is an empty chart with lines and texts that the page can color.
func axes(x, y string) *plot.Plot {
	chart := plot.New()
	chart.BackgroundColor = color.Transparent
	chart.X.Label.Text, chart.Y.Label.Text = x, y
	for _, a := range []*plot.Axis{&chart.X, &chart.Y} {
		a.Label.TextStyle.Font, a.Tick.Label.Font = textFont(), textFont()
		a.Label.TextStyle.Color, a.Tick.Label.Color = ink, ink
		a.LineStyle.Color, a.Tick.LineStyle.Color = rule, rule
		a.Label.Padding, a.Tick.Marker = 4, plot.TickerFunc(steps)
	}
	grid := plotter.NewGrid()
	grid.Vertical.Width = 0
	grid.Horizontal.Color, grid.Horizontal.Width = gridColor, 0.5
	chart.Add(grid)
	return chart
}

var gridColor = color.NRGBA{R: 136, G: 136, B: 136, A: 60}

// fromZero has a chart show the line y = 0.
func fromZero(chart *plot.Plot) {
	zero := plotter.NewFunction(func(float64) float64 { return 0 })
	zero.Color, zero.Width, zero.Samples = rule, 1, 2
	chart.Add(zero)
	chart.Y.Min, chart.Y.Max = min(chart.Y.Min, 0), max(chart.Y.Max, 0)
}

// logarithmic makes an axis with positive values logarithmic; an axis without values stays as it is.
func logarithmic(a *plot.Axis) {
	if !(a.Min > 0) || math.IsInf(a.Min, 0) || math.IsInf(a.Max, 0) {
		return
	}
	if a.Max < a.Min*1.01 { // one value: the scale needs a range
		a.Min, a.Max = a.Min/2, a.Max*2
	}
	a.Scale, a.Tick.Marker = plot.LogScale{}, plot.TickerFunc(logSteps)
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
		ticks = append(ticks, plot.Tick{Value: i * step, Label: short(i * step)})
	}
	return ticks
}

// logSteps returns at most nine round numbers between two positive ones: 1, 2 and 5 of each power of ten, or powers of ten.
func logSteps(least, most float64) []plot.Tick {
	first, last := math.Floor(math.Log10(least)), math.Ceil(math.Log10(most))
	for _, of := range [][]float64{{1, 2, 5}, {1, 3}, {1}} {
		if ticks := powers(first, last, 1, of, least, most); len(ticks) <= 9 {
			if len(ticks) < 2 {
				return steps(least, most)
			}
			return ticks
		}
	}
	return powers(first, last, math.Ceil((last-first)/8), []float64{1}, least, most)
}

// powers returns the multiples of powers of ten, each by steps later than the one before it, that are in a range.
func powers(first, last, by float64, of []float64, least, most float64) (ticks []plot.Tick) {
	for power := first; power <= last; power += by {
		for _, n := range of {
			if v := n * math.Pow(10, power); v >= least*(1-1e-9) && v <= most*(1+1e-9) {
				ticks = append(ticks, plot.Tick{Value: v, Label: short(v)})
			}
		}
	}
	return ticks
}

// short formats a number of an axis: 20000 is 20k.
func short(v float64) string {
	for _, u := range []struct {
		name string
		size float64
	}{{"G", 1e9}, {"M", 1e6}, {"k", 1e3}} {
		if math.Abs(v) >= 1e4 && math.Abs(v) >= u.size {
			return strconv.FormatFloat(v/u.size, 'g', 6, 64) + u.name
		}
	}
	return strconv.FormatFloat(v, 'g', 6, 64)
}

// letter is about how wide a letter of a label is.
const letter = textSize * 0.56

// apartBy returns the names of an axis without those for which there is no room beside the one before them.
func apartBy(ticks []plot.Tick, a *plot.Axis, width float64) plot.ConstantTicks {
	kept, free := plot.ConstantTicks{}, math.Inf(-1)
	for _, t := range ticks {
		at, half := a.Norm(t.Value)*width, float64(utf8.RuneCountInString(t.Label))*letter/2
		if at-half < free {
			t.Label = ""
		} else {
			free = at + half + letter
		}
		kept = append(kept, t)
	}
	return kept
}
