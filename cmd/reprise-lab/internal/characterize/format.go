package characterize

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"reprise/cmd/internal/cli"
	"reprise/cmd/reprise-lab/internal/report"
	"reprise/cmd/reprise-lab/sim/blocks/profile"
)

func thousands[N int | int64](n N) string { return cli.Thousands(int64(n)) }

// count is a number of things.
func count[N int | int64](n N, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return thousands(n) + " " + thing + "s"
}

// percent is a share with three digits.
func percent(x float64) string { return share(x) + " %" }

// share is a share in percent with three digits, without the unit.
func share(x float64) string { return digits(100 * x) }

// digits is a figure with three digits, and all of a larger number.
func digits(x float64) string {
	switch a := math.Abs(x); {
	case a >= 100:
		return cli.Thousands(int64(math.Round(x)))
	case a >= 9.995:
		return strconv.FormatFloat(x, 'f', 1, 64)
	case a == 0:
		return "0"
	case a >= 0.0995:
		return strconv.FormatFloat(x, 'f', 2, 64)
	}
	return strconv.FormatFloat(x, 'g', 2, 64)
}

// duration is a time for a sentence.
func duration(seconds float64) string {
	switch {
	case seconds < 0.001:
		return "a millisecond"
	case seconds < 0.1:
		return strconv.FormatFloat(1000*seconds, 'f', 0, 64) + " ms"
	case seconds < 120:
		return short(seconds) + " s"
	case seconds < 7200:
		return short(seconds/60) + " min"
	case seconds < 2*86400:
		return short(seconds/3600) + " h"
	}
	return short(seconds/86400) + " days"
}

// short is digits without zeros at the end.
func short(x float64) string {
	if text := digits(x); strings.Contains(text, ".") {
		return strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return digits(x)
}

// clock is the unit of the time axis of a trace, and how many seconds it has.
func clock(p *profile.Profile) (unit string, seconds float64) {
	switch span := p.Seconds; {
	case span < 300:
		return "s", 1
	case span < 3*3600:
		return "min", 60
	case span < 4*86400:
		return "h", 3600
	}
	return "days", 86400
}

// over is a line of a figure of the windows. The last one is left out where the trace ends within it.
func (w *writer) over(name string, style report.Style, value func(*profile.Window) float64) report.Line {
	_, seconds := clock(w.p)
	l := report.Line{Name: name, Style: style}
	n := len(w.p.Windows)
	if n > 2 && w.p.Seconds-w.p.Windows[n-1].From < 0.9*w.p.Window {
		n--
	}
	for i := range n {
		if v := value(&w.p.Windows[i]); !math.IsNaN(v) {
			l.Points = append(l.Points, report.Point{X: w.p.Windows[i].From / seconds, Y: v})
		}
	}
	return l
}

// time is the label of the time axis.
func (w *writer) time() string {
	unit, _ := clock(w.p)
	return "time, " + unit
}

// windows is the sentence about their length.
func (w *writer) windows() string { return fmt.Sprintf("Windows are of %s. ", duration(w.p.Window)) }

// heat is a map over categories and time.
func (w *writer) heat(title string, m *profile.Map, digits int) *report.Heat {
	_, seconds := clock(w.p)
	h := &report.Heat{Title: title, X: w.time(), Y: "category", Rows: m.Rows, Digits: digits}
	for c := range columns(m) {
		name := ""
		if columns(m) <= 10 || c%10 == 0 {
			name = digitsOf(float64(c) * m.Step / seconds)
		}
		h.Columns = append(h.Columns, name)
	}
	for r, row := range m.Values {
		values := make([]float64, len(row))
		for c, v := range row {
			if values[c] = v; m.Counts[r][c] == 0 {
				values[c] = math.NaN()
			}
		}
		h.Values = append(h.Values, values)
	}
	return h
}

// bulk is the value that nine in ten cells of a map do not exceed: few cells with few blocks would take all colors.
func bulk(h *report.Heat) float64 {
	var all []float64
	for _, row := range h.Values {
		for _, v := range row {
			if v > 0 {
				all = append(all, v)
			}
		}
	}
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[(len(all)-1)*9/10]
}

func columns(m *profile.Map) int {
	if len(m.Values) == 0 {
		return 0
	}
	return len(m.Values[0])
}

// digitsOf is a place on the time axis.
func digitsOf(x float64) string { return strconv.FormatFloat(x, 'g', 3, 64) }

func line(name string, style report.Style, points []profile.Point, scale float64) report.Line {
	l := report.Line{Name: name, Style: style}
	for _, p := range points {
		l.Points = append(l.Points, report.Point{X: scale * p.X, Y: 100 * p.Y})
	}
	return l
}
