package report

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// explained is a block with the terms that it is the first to use.
type explained struct {
	Block
	Words []Term
}

// IsText reports whether the block is a paragraph.
func (b *Block) IsText() bool {
	return b.Table == nil && b.Plot == nil && b.Spots == nil && b.Heat == nil && b.Bars == nil && b.Claims == nil && b.Terms == nil
}

// part is a section with its number and its blocks.
type part struct {
	Title  string
	Blocks []explained
}

// glossary has the terms that no text has used yet.
type glossary struct{ left []Term }

// first removes and returns the terms that are used in some texts.
func (g *glossary) first(texts ...string) (used []Term) {
	g.left = slices.DeleteFunc(slices.Clone(g.left), func(t Term) bool {
		found := slices.ContainsFunc(texts, func(text string) bool { return hasWord(text, t.Name) || hasWord(text, capital(t.Name)) })
		if found {
			used = append(used, t)
		}
		return found
	})
	return used
}

// hasWord reports whether a text has a word, or several, that no letter or digit follows or precedes; an s may follow.
func hasWord(text, word string) bool {
	for from := 0; word != ""; {
		i := strings.Index(text[from:], word)
		if i < 0 {
			return false
		}
		i += from
		before, _ := utf8.DecodeLastRuneInString(text[:i])
		after, _ := utf8.DecodeRuneInString(strings.TrimPrefix(text[i+len(word):], "s"))
		if !inWord(before) && !inWord(after) {
			return true
		}
		from = i + len(word)
	}
	return false
}

// capital is a word as it begins a sentence.
func capital(word string) string {
	r, n := utf8.DecodeRuneInString(word)
	return string(unicode.ToUpper(r)) + word[n:]
}

func inWord(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

// reading is a page in the order in which it is read: which terms are explained after the summary, after the notes, and with each block.
func (p *Page) reading() (summary, notes []Term, parts []part) {
	g := &glossary{p.Words}
	var texts []string
	for _, f := range p.Summary {
		texts = append(texts, f.Name, f.Value, f.Text)
	}
	summary, notes = g.first(texts...), g.first(p.Notes...)
	for _, s := range p.Sections {
		one := part{Title: s.Title}
		for i, b := range s.Blocks {
			texts := b.texts()
			if i == 0 {
				texts = append(texts, s.Title)
			}
			one.Blocks = append(one.Blocks, explained{b, g.first(texts...)})
		}
		parts = append(parts, one)
	}
	return summary, notes, parts
}

// texts are those that a reader of the block sees.
func (b *Block) texts() (all []string) {
	switch {
	case b.Table != nil:
		all = append(all, b.Table.Caption)
		all = append(all, b.Table.Head...)
		for _, row := range b.Table.Rows {
			for _, c := range row[:min(len(row), b.Table.Texts)] {
				all = append(all, c.Text)
			}
		}
	case b.Plot != nil:
		all = append(all, b.Plot.Title, b.Plot.X, b.Plot.Y)
		for _, l := range b.Plot.Lines {
			all = append(all, l.Name)
		}
	case b.Spots != nil:
		all = append(all, b.Spots.Title, b.Spots.X, b.Spots.Y)
		for _, p := range b.Spots.Points {
			all = append(all, p.Name)
		}
	case b.Heat != nil:
		all = append(all, b.Heat.Title, b.Heat.X, b.Heat.Y)
		all = append(append(all, b.Heat.Rows...), b.Heat.Columns...)
	case b.Bars != nil:
		all = append(all, b.Bars.Title, b.Bars.Y)
		all = append(all, b.Bars.Groups...)
		for _, s := range b.Bars.Series {
			all = append(all, s.Name)
		}
	case b.Claims != nil:
		all = append(all, b.Claims.Title)
		for _, c := range b.Claims.Items {
			all = append(all, c.Claim, c.Measured, c.Why)
		}
	case b.Terms != nil:
		all = append(all, b.Terms.Title)
		for _, t := range b.Terms.Items {
			all = append(all, t.Name, t.Text)
		}
	default:
		all = append(all, b.Text)
	}
	return all
}
