package report

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestLogSteps(t *testing.T) {
	for _, c := range []struct {
		least, most float64
		want        string
	}{
		{1, 50, "1 2 5 10 20 50"},
		{0.1, 10_000, "0.1 1 10 100 1000 10k"},
		{1, 1_000, "1 3 10 30 100 300 1000"},
		{1e-3, 1e12, "0.001 0.1 10 1000 100k 10M 1G 100G"},
		{2.1, 4.2, "2.25 2.5 2.75 3 3.25 3.5 3.75 4"}, // no power of ten and no multiple: as a linear axis
	} {
		var got []string
		for _, tick := range logSteps(c.least, c.most) {
			got = append(got, tick.Label)
		}
		if text := strings.Join(got, " "); text != c.want && c.least != 2.1 || len(got) < 2 {
			t.Errorf("%v to %v: got %s, want %s", c.least, c.most, text, c.want)
		}
	}
}

// TestOddPlots: values without a place on their axis are left out, and no plot fails for them.
func TestOddPlots(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, p := range []Plot{
		{},
		{LogX: true, LogY: true},
		{LogX: true, LogY: true, Zero: true, Lines: []Line{{Name: "a", Points: []Point{{0, 1, 0}, {-1, 1, 0}}}}},
		{LogX: true, LogY: true, Zero: true, Lines: []Line{{Name: "a", Points: []Point{{3, 5, 7}}}}},
		{LogX: true, Lines: []Line{{Name: "a", Points: []Point{{0, 1, 0}, {10, -1, 2}, {1000, 3, 1}}}, {Name: "b", Points: []Point{{1, 1, 1}}}}},
		{Lines: []Line{{Name: "a", Points: []Point{{nan, 1, 0}, {1, inf, 0}, {2, 1, nan}}}, {Name: "b", Style: Dots, Points: []Point{{1, 1, 0}}}}},
		{Ticks: []Tick{{0, "no"}, {1, "one"}}, LogX: true, Lines: []Line{{Name: "a", Points: []Point{{1, 1, 0}}}}},
	} {
		if _, err := p.svg(); err != nil {
			t.Errorf("%+v: %v", p, err)
		}
	}
	for _, b := range []Bars{{}, {Groups: []string{"a"}}, {Groups: []string{"a"}, Series: []Series{{}, {Name: "x", Values: []Value{{inf, 0}, {1, 1}}}}}} {
		if _, err := b.svg(); err != nil {
			t.Errorf("%+v: %v", b, err)
		}
	}
}

// TestBarsStand: a bar is as high as its value, from 0, in the order of the series.
func TestBarsStand(t *testing.T) {
	b := Bars{Groups: []string{"g"}, Series: []Series{{Name: "up", Values: []Value{{2, 1}}}, {Name: "down", Values: []Value{{-1, 0}}}}}
	up, down := &bars{of: &b.Series[0], groups: 1}, &bars{of: &b.Series[1], groups: 1}
	if _, _, least, most := up.DataRange(); least != 0 || most != 3 {
		t.Errorf("from %v to %v", least, most)
	}
	if _, _, least, most := down.DataRange(); least != -1 || most != 0 {
		t.Errorf("from %v to %v", least, most)
	}
	picture, err := b.svg()
	wide, _, _ := strings.Cut(picture, `<div class="narrow">`)
	if n := len(regexp.MustCompile(`<path d="[^"]*Z" style="fill:#D55E00`).FindAllString(wide, -1)); err != nil || n != 2 { // the bar and the legend
		t.Errorf("%d shapes of the first color: %v\n%s", n, err, wide)
	}
}

// TestCrowded: of names without room side by side the first stays.
func TestCrowded(t *testing.T) {
	p := Plot{Ticks: []Tick{{1, "first"}, {1.1, "second"}, {50, "third"}}, Lines: []Line{{Points: []Point{{1, 1, 0}, {50, 1, 0}}}}}
	picture, err := p.svg()
	if err != nil || strings.Count(picture, ">first<") != 2 || strings.Contains(picture, ">second<") || strings.Count(picture, ">third<") != 2 {
		t.Errorf("%v: %s", err, picture)
	}
}

// TestMarks: a long line has a few marks, at its ends too.
func TestMarks(t *testing.T) {
	l := Line{}
	for i := range 1000 {
		l.Points = append(l.Points, Point{X: float64(i)})
	}
	if some := l.glyphs(); len(some) != mostGlyphs/2 || some[0].X != 0 || some[len(some)-1].X != 999 {
		t.Errorf("marks %v", some)
	}
}

func TestHeatColors(t *testing.T) {
	h := Heat{Columns: []string{"a", "", "c"}, Rows: []string{"r", "s"}, Values: [][]float64{{4, -2, 0}, {math.NaN(), 1}}, Digits: 1}
	for _, c := range []struct {
		row, column int
		shade, text string
		negative    bool
	}{
		{0, 0, "--v:1.00", "4.0", false}, {0, 1, "--v:0.50", "-2.0", true}, {0, 2, "--v:0.00", "0.0", false}, {1, 0, "--v:0.00", "", false}, {1, 1, "--v:0.25", "1.0", false},
		{1, 2, "--v:0.00", "", false},
	} {
		if shade, text, negative := string(h.Shade(c.row, c.column)), h.Cell(c.row, c.column), h.Negative(c.row, c.column); shade != c.shade || text != c.text || negative != c.negative {
			t.Errorf("%d %d: %s %q %v", c.row, c.column, shade, text, negative)
		}
	}
	if tip := h.Tip(0, 1); tip != "r, a + 1: -2.0" {
		t.Error(tip)
	}
	if ends := h.Ends(); ends != [2]string{"-4.0", "4.0"} {
		t.Error(ends)
	}
	h.Most = 2
	if shade := h.Shade(0, 0); shade != "--v:1.00" {
		t.Errorf("beyond the strongest color: %s", shade)
	}
	if spans := h.Spans(); !slices.Equal(spans, []Span{{"a", 2}, {"c", 1}}) {
		t.Error(spans)
	}
	dense := Heat{}
	for i := range 21 {
		dense.Columns = append(dense.Columns, string(rune('a'+i)))
	}
	if spans := dense.Spans(); len(spans) != 7 || spans[1] != (Span{"d", 3}) {
		t.Error(spans)
	}
	if (&Heat{}).Top() != 0 || len((&Heat{}).Spans()) != 0 {
		t.Error("an empty map")
	}
}

// TestWords: each term is explained with the first block that uses it, as a whole word.
func TestWords(t *testing.T) {
	for _, c := range []struct {
		text, word string
		want       bool
	}{
		{"the TTFT, p90", "TTFT", true}, {"TTFTs", "TTFT", true}, {"", "", false}, {"qTTFT", "TTFT", false}, {"lifespan", "life", false}, {"life of lifespan", "life", true},
		{"ends in λ", "λ", true}, {"", "a", false}, {"a", "", false}, {"lru2 and lru", "lru", true}, {"hit ratios of it", "hit ratio", true},
	} {
		if hasWord(c.text, c.word) != c.want {
			t.Errorf("%q in %q: not %v", c.word, c.text, c.want)
		}
	}
	p := Page{Summary: []Figure{{Text: "in one"}}, Notes: []string{"in two"}, Sections: []Section{
		{Title: "three", Blocks: []Block{{Text: "one two three"}, {Table: &Table{Texts: 1, Rows: [][]Cell{Cells("four", "nine")}}}}},
		{Blocks: []Block{{Plot: &Plot{Lines: []Line{{Name: "five"}}}}, {Heat: &Heat{X: "six"}}, {Bars: &Bars{Groups: []string{"seven"}}},
			{Claims: &Claims{Items: []Claim{{Why: "eight"}}}}, {Terms: &Terms{Items: []Term{{Text: "ten"}}}}}},
	}}
	for _, name := range strings.Fields("one two three four five six seven eight nine ten") {
		p.Words = append(p.Words, Term{Name: name})
	}
	summary, notes, parts := p.reading()
	got := names(summary) + "|" + names(notes)
	for _, s := range parts {
		for _, b := range s.Blocks {
			got += "|" + names(b.Words)
		}
	}
	if got != "one|two|three|four|five|six|seven|eight|ten" || len(p.Words) != 10 || p.Words[0].Name != "one" {
		t.Error(got)
	}
}

func names(terms []Term) string {
	var all []string
	for _, t := range terms {
		all = append(all, t.Name)
	}
	return strings.Join(all, " ")
}
