package main

import (
	"fmt"
	"go/ast"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// longLine is the number of characters, a tab counting as four, from which a line of code counts as packed.
const longLine = 140

// longLines returns the lines of a file that are too long to read at once.
func longLines(s *source) (found []string) {
	n := 0
	for line := range strings.Lines(string(s.text)) {
		n++
		if width := utf8.RuneCountInString(line) + 3*strings.Count(line, "\t"); width > longLine {
			found = append(found, fmt.Sprintf("%s:%d %d characters", s.path, n, width))
		}
	}
	return found
}

// packedLines returns the places where two statements of one block share a line, or one statement assigns three values or more.
func packedLines(s *source) (found []string) {
	block := func(list []ast.Stmt) {
		for i, statement := range list {
			assign, ok := statement.(*ast.AssignStmt)
			if i > 0 && s.line(list[i-1].End()) == s.line(statement.Pos()) || ok && len(assign.Rhs) > 2 {
				found = append(found, s.at(statement))
			}
		}
	}
	ast.Inspect(s.tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BlockStmt:
			block(n.List)
		case *ast.CaseClause:
			block(n.Body)
		case *ast.CommClause:
			block(n.Body)
		}
		return true
	})
	return found
}

// unclear are words that name no technical thing: whole words in lower case, each a regular expression. STYLE has what to write instead.
var unclear = []string{
	`tell|tells|telling|told|teller|tellers|hear|hears|heard|speak|speaks|spoke|knows|knew|believes?|believed`,
	`owe|owes|owed|owing|debt|debts|heirs?|strays?|graves?|ballots?|loyal|loyalty|wrecks?|unwell|sick|hearts?`,
	`fly|flies|flying|flew|dress|dresses|dressed|dressing|weigh|weighs|weighed|weighing`,
	`nobody|somebody|everybody|whoever|whosoever|those which|that none|by whom|for whom|what (is|was|are) not|(is|are) (that|those) of`,
	`(is|are|was|were) of (no |little |any )?use|but for|(stand|stands|stood|standing) (for|in)|(let|lets|letting) go|(hand|hands|handed) over`,
	`lest|anew|afresh|once more|whence|thereby|therein|thereof|wherein|aught|naught|unto|had better|might as well|in vain`,
}

var unclearWords = regexp.MustCompile(`(?:^|[^\w'’-])(` + strings.Join(unclear, "|") + `)(?:[^\w'’-]|$)`)

// unclearText returns the unclear words of a text.
func unclearText(text string) (found []string) {
	text = strings.Join(strings.Fields(strings.ToLower(text)), " ")
	for _, m := range unclearWords.FindAllStringSubmatch(text, -1) {
		found = append(found, m[1])
	}
	return found
}

// quoted is an example in a comment, often a prompt.
var quoted = regexp.MustCompile(`"[^"]*"`)

// unclearSource returns the unclear words in the comments and names of a file.
func unclearSource(s *source) (found []string) {
	check := func(n ast.Node, text string) {
		for _, word := range unclearText(text) {
			found = append(found, fmt.Sprintf("%s %q", s.at(n), word))
		}
	}
	for _, group := range s.tree.Comments {
		check(group, quoted.ReplaceAllString(group.Text(), `""`))
	}
	seen := map[string]bool{}
	ast.Inspect(s.tree, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && !seen[id.Name] {
			seen[id.Name] = true
			check(id, split(id.Name))
		}
		return true
	})
	return found
}

// split returns the words of a name: toldTopic is "told topic".
func split(name string) string {
	var b strings.Builder
	for _, r := range name {
		if unicode.IsUpper(r) || r == '_' {
			b.WriteByte(' ')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// prose returns the lines of a document without code.
func prose(text string) (lines []string) {
	code := false
	for line := range strings.SplitSeq(text, "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			code = !code
		} else if code {
			line = ""
		}
		lines = append(lines, inlineCode.ReplaceAllString(line, "`"))
	}
	return lines
}

var inlineCode = regexp.MustCompile("`[^`]*`")
