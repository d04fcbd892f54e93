package report

import (
	"fmt"
	"html/template"
	"io"
	"math"
	"strings"
	"unicode/utf8"
)

// Heat is a map of values by row and column. Each value can be read: in its cell where there is room, else in the cell's tooltip and in a
// folded table.
type Heat struct {
	Title   string
	X, Y    string      // labels of the axes, with units
	Columns []string    // their names; those of a map with many columns may be empty
	Rows    []string    // their names, from the top
	Values  [][]float64 // by row, then column. NaN: none. A value below 0 has another color
	Most    float64     // the value of the strongest color, which is that of all beyond it; 0: the greatest of Values without their sign
	Digits  int         // after the decimal point
}

// roomy is up to how many columns the cells show their values.
const roomy = 14

// Dense reports whether the map has no room for the values in its cells.
func (h *Heat) Dense() bool { return len(h.Columns) > roomy }

// Cell is a value of row r and column c as text; "" is none.
func (h *Heat) Cell(r, c int) string {
	v, ok := h.value(r, c)
	if !ok {
		return ""
	}
	return fmt.Sprintf("%.*f", h.Digits, v)
}

func (h *Heat) value(r, c int) (float64, bool) {
	if r >= len(h.Values) || c >= len(h.Values[r]) || math.IsNaN(h.Values[r][c]) {
		return 0, false
	}
	return h.Values[r][c], true
}

// Tip is the text of a cell with the names of its row and column; "" is none.
func (h *Heat) Tip(r, c int) string {
	text := h.Cell(r, c)
	if text == "" {
		return ""
	}
	return h.Rows[r] + ", " + h.columnAt(c) + ": " + text
}

// columnAt is the name of a column, or that of the last one before it that has a name.
func (h *Heat) columnAt(c int) string {
	for i := c; i >= 0; i-- {
		if h.Columns[i] != "" && i == c {
			return h.Columns[i]
		} else if h.Columns[i] != "" {
			return fmt.Sprintf("%s + %d", h.Columns[i], c-i)
		}
	}
	return fmt.Sprint(c + 1)
}

// Shade is the style of a cell: how strong its color is, from 0 to 1.
func (h *Heat) Shade(r, c int) template.CSS {
	return template.CSS(fmt.Sprintf("--v:%.2f", math.Abs(h.strength(r, c))))
}

// Negative reports whether a cell has a value below 0.
func (h *Heat) Negative(r, c int) bool { return h.strength(r, c) < 0 }

// strength is a value by the one of the strongest color.
func (h *Heat) strength(r, c int) float64 {
	v, ok := h.value(r, c)
	most := h.Top()
	if !ok || most == 0 {
		return 0
	}
	return max(-1, min(1, v/most))
}

// Top is the value of the strongest color.
func (h *Heat) Top() float64 {
	if h.Most != 0 {
		return h.Most
	}
	most := 0.
	for r := range h.Values {
		for c := range h.Values[r] {
			v, _ := h.value(r, c)
			most = max(most, math.Abs(v))
		}
	}
	return most
}

// Signed reports whether there are values below 0.
func (h *Heat) Signed() bool {
	for r := range h.Rows {
		for c := range h.Columns {
			if h.Negative(r, c) {
				return true
			}
		}
	}
	return false
}

// Ends are the texts at the ends of the scale of colors.
func (h *Heat) Ends() (ends [2]string) {
	top := fmt.Sprintf("%.*f", h.Digits, h.Top())
	if h.Signed() {
		return [2]string{"-" + top, top}
	}
	return [2]string{"0", top}
}

// Span is a name over several columns.
type Span struct {
	Name string
	N    int
}

// mostNames is how many names of columns have room above a dense map on a telephone.
const mostNames = 10

// Spans are the names of the columns, each with the columns without a name that follow it. Of many names of a dense map some are left out.
func (h *Heat) Spans() (all []Span) {
	named := 0
	for _, name := range h.Columns {
		if name != "" {
			named++
		}
	}
	every, k := 1, 0
	if h.Dense() {
		every = max(1, (named+mostNames-1)/mostNames)
	}
	for i, name := range h.Columns {
		if name != "" {
			if k%every != 0 {
				name = ""
			}
			k++
		}
		if i == 0 || name != "" {
			all = append(all, Span{name, 0})
		}
		all[len(all)-1].N++
	}
	return all
}

// Table is the map as figures.
func (h *Heat) Table() *Table {
	t := &Table{Caption: h.Title, Head: []string{h.Y + " \\ " + h.X}, Texts: 1}
	if h.Dense() {
		t.Caption, t.Folded = "Figures of "+h.Title, true
	}
	for c := range h.Columns {
		t.Head = append(t.Head, h.columnAt(c))
	}
	for r, name := range h.Rows {
		row := Cells(name)
		for c := range h.Columns {
			row = append(row, Cell{Text: h.Cell(r, c)})
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// shades are the characters of a map in a terminal, from 0 to the greatest value.
var shades = []rune(" .:-=+*#%@")

// write writes the map for a terminal: its figures, or a character for each cell where that would be too wide.
func (h *Heat) write(w io.Writer) {
	if !h.Dense() {
		h.Table().Write(w)
		return
	}
	fmt.Fprintf(w, "%s\n  %s by %s; %q is 0 to %s", h.Title, h.Y, h.X, string(shades), h.Ends()[1])
	if h.Signed() {
		fmt.Fprint(w, ", with either sign")
	}
	fmt.Fprintln(w)
	width := 0
	for _, name := range h.Rows {
		width = max(width, utf8.RuneCountInString(name))
	}
	for r, name := range h.Rows {
		line := strings.Repeat(" ", width-utf8.RuneCountInString(name)) + name + " |"
		for c := range h.Columns {
			line += string(shades[int(math.Round(math.Abs(h.strength(r, c))*float64(len(shades)-1)))])
		}
		fmt.Fprintln(w, "  "+line+"|")
	}
	fmt.Fprintf(w, "  %s columns from %s to %s\n", strings.Repeat(" ", width+1), h.columnAt(0), h.columnAt(len(h.Columns)-1))
}
