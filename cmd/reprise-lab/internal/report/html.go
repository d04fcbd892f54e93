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
	"svg": func(p *Plot) (template.HTML, error) {
		picture, err := p.svg() // svg escapes the texts in it
		return template.HTML(picture), err
	},
}).Parse(pageHTML))

// HTML writes the page as one file that loads nothing else.
func HTML(w io.Writer, p *Page) error {
	if err := pageTemplate.Execute(w, p); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}
