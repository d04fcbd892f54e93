// Package report shows what was measured: as one self-contained HTML page, and as text.
package report

// Page is a report, made of plain values: the same ones make the same page, to the byte.
type Page struct {
	Title    string
	Command  string   // that makes the report again
	Notes    []string // what holds for all of it
	Sections []Section
}

// Section is a chapter of a Page, in the order of its blocks.
type Section struct {
	Title  string
	Blocks []Block
}

// Block is one of a paragraph, a table, a plot and a list of terms.
type Block struct {
	Text  string
	Table *Table
	Plot  *Plot
	Terms *Terms
}

// Terms are paragraphs, each under what it tells.
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
	Texts   int  // so many columns are texts, which stand to the left
	Folded  bool // the page shows the caption alone until that is clicked
	Rows    [][]Cell
}

// Cell is text, or a figure as it is to be read. A strong one stands out; text has a star after it.
type Cell struct {
	Text   string
	Strong bool
}

// Cells are texts none of which stands out.
func Cells(texts ...string) []Cell {
	row := make([]Cell, len(texts))
	for i, t := range texts {
		row[i].Text = t
	}
	return row
}

// Plot has lines over one axis. Eight of them at most can be told apart: the others are Faint.
type Plot struct {
	Title string
	X, Y  string // what the axes measure, with the unit
	Ticks []Tick // of x; none: round numbers
	Zero  bool   // y = 0 is a line
	Lines []Line
}

// Tick names a place on an axis.
type Tick struct {
	At   float64
	Name string
}

// Line is a figure for each of some settings. Only what is not Faint is named.
type Line struct {
	Name   string
	Style  Style
	Points []Point
}

// Style says what a line is.
type Style int

// Styles of a line.
const (
	Bold   Style = iota // what the plot is about
	Plain               // what that is compared with
	Dashed              // what nobody could run
	Faint               // what is only there to show the range
)

// Point is a figure, with the half width of its interval; 0 is none.
type Point struct{ X, Y, Half float64 }

// Say adds a paragraph.
func (s *Section) Say(text string) { s.Blocks = append(s.Blocks, Block{Text: text}) }

// Show adds a table.
func (s *Section) Show(t *Table) { s.Blocks = append(s.Blocks, Block{Table: t}) }

// Draw adds a plot.
func (s *Section) Draw(p *Plot) { s.Blocks = append(s.Blocks, Block{Plot: p}) }
