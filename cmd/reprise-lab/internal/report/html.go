package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
)

//go:embed page.html
var pageHTML string

var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{
	"svg": func(p interface{ svg() (string, error) }) (template.HTML, error) {
		picture, err := p.svg() // svg escapes the texts in it
		return template.HTML(picture), err
	},
}).Parse(pageHTML))

// view is a page in the order in which it is read.
type view struct {
	*Page
	Summarised, Noted []Term
	Parts             []part
}

// HTML writes the page as one file that loads nothing else.
func HTML(w io.Writer, p *Page) error {
	v := view{Page: p}
	v.Summarised, v.Noted, v.Parts = p.reading()
	if err := pageTemplate.Execute(w, v); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}
