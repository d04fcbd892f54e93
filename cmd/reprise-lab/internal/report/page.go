// Package report writes measurements as one self-contained HTML page with plots, and as text.
package report

// Page is a report. Equal values make equal pages, to the byte.
type Page struct {
	Title    string
	Summary  []Figure // the figures that matter, at most three or four: they are shown first
	Command  string   // that makes the same report
	Notes    []string // about the whole page
	Words    []Term   // each is explained where its name is first used as a whole word, or not at all
	Sections []Section
}

// Part adds a section if its measurement is complete.
func (p *Page) Part(complete bool, section func() Section) {
	if complete {
		p.Sections = append(p.Sections, section())
	}
}

// Figure is one figure of a summary: "TTFT, p90", "1.3 s", and a sentence that says what it is compared with.
type Figure struct{ Name, Value, Text string }

// Section is a chapter of a Page.
type Section struct {
	Title  string
	Blocks []Block
}

// Block is a paragraph, a table, a plot, named points, a heat map, bars, claims or a list of terms. One of its fields is set.
type Block struct {
	Text   string
	Table  *Table
	Plot   *Plot
	Spots  *Scatter
	Heat   *Heat
	Bars   *Bars
	Claims *Claims
	Terms  *Terms
}

// Terms are paragraphs with a name each.
type Terms struct {
	Title string
	Items []Term
}

// Term is one of them.
type Term struct{ Name, Text string }

// Table has texts in its first columns and figures in the others.
type Table struct {
	Caption string
	Head    []string
	Texts   int  // number of columns with texts, which are left-aligned
	Folded  bool // the page shows only the caption until it is clicked
	Rows    [][]Cell
}

// Cell is a text or a formatted figure. A strong one is bold on the page and has a star in text.
type Cell struct {
	Text   string
	Strong bool
}

// Cells returns cells with the texts, none of them strong.
func Cells(texts ...string) []Cell {
	row := make([]Cell, len(texts))
	for i, t := range texts {
		row[i].Text = t
	}
	return row
}

// Plot has lines over one axis. At most eight lines can be distinguished; others are Faint.
type Plot struct {
	Title      string
	X, Y       string // labels of the axes, with units
	Ticks      []Tick // of the X axis; none: round numbers
	LogX, LogY bool   // a logarithmic axis, on which points at 0 and below are left out
	Zero       bool   // draw a line at y = 0, which LogY does not allow
	Lines      []Line
}

// Tick is a named value on an axis.
type Tick struct {
	At   float64
	Name string
}

// Line is a figure over the X axis. Lines that are Faint have no name in the legend.
type Line struct {
	Name   string
	Style  Style
	Points []Point
}

// Style is the role of a line.
type Style int

// Styles of a line.
const (
	Bold   Style = iota // the subject of the plot
	Plain               // compared with the subject
	Dashed              // bounds, which cannot be run
	Faint               // shows only the range
	Dots                // points without a line between them, with a color and a name
)

// Point is a figure with the half width of its interval; 0 is no interval.
type Point struct{ X, Y, Half float64 }

// Claims are what a paper claims beside what is measured here.
type Claims struct {
	Title string
	Items []Claim
}

// Claim is one of them. Measured names the figures of this run; Command, which may be empty, makes them again.
type Claim struct{ Claim, Where, Measured, Why, Command string }

// Say adds a paragraph.
func (s *Section) Say(text string) { s.Blocks = append(s.Blocks, Block{Text: text}) }

// Show adds a table.
func (s *Section) Show(t *Table) { s.Blocks = append(s.Blocks, Block{Table: t}) }

// Draw adds a plot.
func (s *Section) Draw(p *Plot) { s.Blocks = append(s.Blocks, Block{Plot: p}) }

// Scatter adds named points.
func (s *Section) Scatter(p *Scatter) { s.Blocks = append(s.Blocks, Block{Spots: p}) }

// Map adds a heat map.
func (s *Section) Map(h *Heat) { s.Blocks = append(s.Blocks, Block{Heat: h}) }

// Compare adds bars.
func (s *Section) Compare(b *Bars) { s.Blocks = append(s.Blocks, Block{Bars: b}) }

// Claim adds claims.
func (s *Section) Claim(c *Claims) { s.Blocks = append(s.Blocks, Block{Claims: c}) }
