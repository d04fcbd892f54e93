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
	summarised, noted, parts := p.reading()
	underlined(out, p.Title, "=")
	writeSummary(out, p.Summary)
	writeWords(out, summarised)
	for _, n := range p.Notes {
		paragraph(out, n)
	}
	writeWords(out, noted)
	for _, s := range parts {
		underlined(out, s.Title, "-")
		for _, b := range s.Blocks {
			if b.IsText() {
				paragraph(out, b.Text)
			}
			writeWords(out, b.Words)
			b.write(out)
		}
	}
	return out.Flush()
}

// write writes a block that is no paragraph.
func (b *Block) write(out io.Writer) {
	switch {
	case b.Table != nil:
		b.Table.Write(out)
		fmt.Fprintln(out)
	case b.Bars != nil:
		b.Bars.Table().Write(out)
		fmt.Fprintln(out)
	case b.Heat != nil:
		b.Heat.write(out)
		fmt.Fprintln(out)
	case b.Claims != nil:
		b.Claims.write(out)
	case b.Terms != nil:
		paragraph(out, b.Terms.Title)
		for _, t := range b.Terms.Items {
			paragraph(out, t.Name+": "+t.Text)
		}
	}
}

// writeSummary writes the figures one below the other, with their values aligned.
func writeSummary(w io.Writer, figures []Figure) {
	width := 0
	for _, f := range figures {
		width = max(width, utf8.RuneCountInString(f.Value))
	}
	for _, f := range figures {
		pad := strings.Repeat(" ", width-utf8.RuneCountInString(f.Value))
		fmt.Fprintf(w, "  %s%s  %s\n", pad, f.Value, cli.Fold(f.Name+": "+f.Text, width+4, textWidth))
	}
	if len(figures) > 0 {
		fmt.Fprintln(w)
	}
}

// writeWords writes the terms that are explained here.
func writeWords(w io.Writer, terms []Term) {
	for _, t := range terms {
		fmt.Fprintf(w, "  | %s\n", strings.ReplaceAll(cli.Fold(t.Name+": "+t.Text, 4, textWidth), "\n    ", "\n  | "))
	}
	if len(terms) > 0 {
		fmt.Fprintln(w)
	}
}

func (c *Claims) write(w io.Writer) {
	if c.Title != "" {
		paragraph(w, c.Title)
	}
	for i, one := range c.Items {
		claim := fmt.Sprintf("%d. %s", i+1, one.Claim)
		if one.Where != "" {
			claim += " (" + one.Where + ")"
		}
		paragraph(w, claim)
		for _, line := range []struct{ name, text string }{{"Measured here", one.Measured}, {"Why they differ", one.Why}} {
			if line.text != "" {
				fmt.Fprintf(w, "   %s: %s\n\n", line.name, cli.Fold(line.text, 3+len(line.name)+2, textWidth))
			}
		}
		if one.Command != "" { // in one line, which can be copied
			fmt.Fprintf(w, "   Made by: %s\n\n", one.Command)
		}
	}
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
