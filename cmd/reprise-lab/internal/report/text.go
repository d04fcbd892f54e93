package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"reprise/cmd/internal/cli"
)

// textWidth is the width of paragraphs.
const textWidth = 120

// Text writes the page for a terminal: everything except the plots, whose figures are in the tables.
func Text(w io.Writer, p *Page) error {
	out := bufio.NewWriter(w)
	underlined(out, p.Title, "=")
	for _, n := range p.Notes {
		paragraph(out, n)
	}
	for _, s := range p.Sections {
		underlined(out, s.Title, "-")
		for _, b := range s.Blocks {
			switch {
			case b.Table != nil:
				b.Table.Write(out)
				fmt.Fprintln(out)
			case b.Terms != nil:
				paragraph(out, b.Terms.Title)
				for _, t := range b.Terms.Items {
					paragraph(out, t.Name+": "+t.Text)
				}
			case b.Plot == nil:
				paragraph(out, b.Text)
			}
		}
	}
	return out.Flush()
}

func underlined(w io.Writer, title, with string) {
	fmt.Fprintf(w, "%s\n%s\n\n", title, strings.Repeat(with, utf8.RuneCountInString(title)))
}

func paragraph(w io.Writer, text string) { io.WriteString(w, cli.Fold(text, 0, textWidth)+"\n\n") }

// Write writes the table as lines, with texts left-aligned and figures right-aligned.
func (t *Table) Write(w io.Writer) {
	rows := append([][]Cell{Cells(t.Head...)}, t.Rows...)
	width := make([]int, len(t.Head))
	for _, row := range rows {
		for i, c := range row {
			width[i] = max(width[i], utf8.RuneCountInString(c.star()))
		}
	}
	fmt.Fprintln(w, t.Caption)
	for _, row := range rows {
		line := " "
		for i, c := range row {
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(c.star()))
			if i < t.Texts {
				line += " " + c.star() + pad + " "
			} else {
				line += "  " + pad + c.star()
			}
		}
		fmt.Fprintln(w, strings.TrimRight(line, " "))
	}
}

// star returns the text of the cell, with a star if it is strong.
func (c Cell) star() string {
	if c.Strong {
		return c.Text + "*"
	}
	return c.Text
}
