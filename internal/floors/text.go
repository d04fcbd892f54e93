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

// unclear are words that name no technical thing, each a regular expression over whole words in lower case, with words to use instead.
var unclear = []struct{ words, instead string }{
	{`tell|tells|telling|told|teller|tellers`, "report, return, pass, record, distinguish"},
	{`owe|owes|owed|owing|debt|debts`, "pending, dirty"},
	{`heirs?`, "successor"},
	{`strays?`, "orphan"},
	{`graves?`, "tombstone"},
	{`ballots?`, "votes"},
	{`loyal|loyalty`, "hysteresis"},
	{`wrecks?`, "damaged file"},
	{`fly|flies|flying|flew`, "run, be in progress"},
	{`dress|dresses|dressed|dressing`, "set headers"},
	{`weigh|weighs|weighed|weighing`, "set importance, have weight"},
	{`hear|hears|heard|speak|speaks|spoke`, "receive, support, count for"},
	{`knows|knew|believes?|believed`, "has, holds, supports, assumes"},
	{`unwell|sick`, "failing, working"},
	{`hearts?`, "stop"},
	{`nobody|somebody|everybody|whoever|whosoever`, "no caller, another goroutine, every client"},
	{`(is|are|was|were) of (no |little |any )?use`, "is used, helps"},
	{`but for`, "except, without"},
	{`what (is|was|are) not`, "name the thing: the rest, values that are not ..."},
	{`(is|are) (that|those) of`, "name the thing: seed returns the seed of ..."},
	{`those which|that none|by whom|for whom`, "name the thing"},
	{`(stand|stands|stood|standing) (for|in)`, "represents, replaces, is in"},
	{`(let|lets|letting) go`, "drop, release"},
	{`(hand|hands|handed) over`, "pass, return"},
	{`lest`, "so that ... not"},
	{`anew|afresh|once more`, "again"},
	{`whence|thereby|therein|thereof|wherein|aught|naught|unto`, "plain words"},
	{`had better|might as well|in vain`, "should, may, without success"},
}

var unclearWords = func() *regexp.Regexp {
	var all []string
	for _, u := range unclear {
		all = append(all, u.words)
	}
	return regexp.MustCompile(`(?:^|[^\w'’-])(` + strings.Join(all, "|") + `)(?:[^\w'’-]|$)`)
}()

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
