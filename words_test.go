package reprise_test

import (
	"fmt"
	"go/ast"
	"go/token"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

// banned are words and phrases that do not appear in comments, names, messages and documents: verbs of people for data and
// code, pictures instead of the field's noun, old-fashioned turns. Each is a regular expression over whole words in lower
// case, with the words to use instead.
var banned = [...]struct{ words, instead string }{
	{`tell|tells|telling|told|teller|tellers`, "report, return, pass, record, distinguish"},
	{`owe|owes|owed|owing|debt|debts`, "pending, dirty"},
	{`heir|heirs`, "successor"},
	{`stray|strays`, "orphan"},
	{`grave|graves`, "tombstone"},
	{`ballot|ballots`, "votes"},
	{`loyal|loyalty`, "hysteresis"},
	{`wreck|wrecks`, "damaged file"},
	{`books`, "accounting, ledger"},
	{`fly|flies|flying|flew`, "run, be in progress"},
	{`dress|dresses|dressed|dressing`, "set headers"},
	{`weigh|weighs|weighed|weighing`, "set importance, have weight"},
	{`hear|hears|heard|speak|speaks|spoke`, "receive, support, count for"},
	{`knows|knew`, "has, holds, supports, contains"},
	{`believes|believed`, "assumes, has"},
	{`unwell|sick|(is|are|was|were) ill|(is|are|was|were) well( again)?$`, "failing, working"},
	{`heart|hearts`, "stop"},
	{`mend|mends|mended|mending`, "repair, fix"},
	{`nobody|nobody's|somebody|somebody's|everybody|whoever|whosoever`, "no caller, another goroutine, every client"},
	{`(is|are|was|were|be) of (no |little |any )?use`, "is used, helps"},
	{`but for`, "except, without"},
	{`what (is|was|are) not`, "name the thing: the rest, values that are not ..."},
	{`(stand|stands|stood|standing) (for|in)`, "represents, replaces, is in"},
	{`(let|lets|letting) go`, "drop, release"},
	{`(hand|hands|handed) over`, "pass, return"},
	{`lest`, "so that ... not"},
	{`anew|afresh|once more`, "again"},
	{`whence|thereby|therein|thereof|wherein|hither|thither|aught|naught|ere|unto`, "plain words"},
	{`had better|might as well`, "should, may"},
	{`in vain`, "without success"},
}

// allowedWords are uses of a banned word that stay: below a path, in a text that contains a phrase.
var allowedWords = []struct{ below, phrase, reason string }{
	{"words_test.go", "", "the list"},
	{"style_test.go", "", "the broken examples"},
}

var bannedWords = func() []*regexp.Regexp {
	var all []*regexp.Regexp
	for _, b := range banned {
		all = append(all, regexp.MustCompile(`(?:^|[^\w'’-])(`+b.words+`)(?:[^\w'’-]|['’-](?:\W|$)|$)`))
	}
	return all
}()

// bannedBy are, by a word, the places in banned that can match a text only if it has that word or another of theirs: most texts have none,
// and looking for words is much cheaper than for regular expressions.
var bannedBy = func() map[string][]int {
	by := map[string][]int{}
	for i, b := range banned {
		if m := regexp.MustCompile(`[^a-z' |()$?]|[a-z]\?`).FindString(b.words); m != "" {
			panic(b.words + ": whole words alone can be looked for, not " + m)
		}
		for _, word := range wordsOf(b.words) {
			by[word] = append(by[word], i)
		}
	}
	return by
}()

// wordsOf splits a text in lower case at all that is no letter.
func wordsOf(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r < 'a' || r > 'z' })
}

// plainWords returns the banned words in a text, each with what to write instead.
func plainWords(text string) (found []string) {
	text = strings.Join(strings.Fields(strings.ToLower(text)), " ")
	var look [len(banned)]bool
	for _, word := range wordsOf(text) {
		for _, i := range bannedBy[word] {
			look[i] = true
		}
	}
	for i, r := range bannedWords {
		if !look[i] {
			continue
		}
		for _, m := range r.FindAllStringSubmatch(text, -1) {
			found = append(found, fmt.Sprintf("%q is no plain word here: %s", m[1], banned[i].instead))
		}
	}
	return found
}

func wordsAllowed(path, text string) bool {
	for _, a := range allowedWords {
		if within(path, a.below) && strings.Contains(text, a.phrase) {
			return true
		}
	}
	return false
}

// words checks comments, names, and the texts of errors and test messages.
func words(s *source) (found []string) {
	check := func(p token.Pos, text string) {
		if wordsAllowed(s.path, text) {
			return
		}
		for _, f := range plainWords(text) {
			found = append(found, fmt.Sprintf("%s:%d: %s", s.path, s.line(p), f))
		}
	}
	for _, group := range s.tree.Comments {
		check(group.Pos(), quoted.ReplaceAllString(group.Text(), `""`)) // a quotation is an example, often of a prompt
	}
	seen := map[string]bool{}
	ast.Inspect(s.tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			if !seen[n.Name] {
				check(n.Pos(), split(n.Name))
			}
			seen[n.Name] = true
		case *ast.CallExpr:
			for _, text := range message(n) {
				check(n.Pos(), text)
			}
		}
		return true
	})
	return found
}

var quoted = regexp.MustCompile(`"[^"]*"`)

// split returns the words of a name: toldTopic is "told topic".
func split(name string) string {
	var b strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte(' ')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return strings.ReplaceAll(b.String(), "_", " ")
}

// messages are the functions whose text arguments people read.
var messages = []string{"New", "Errorf", "Error", "Fatal", "Fatalf", "Log", "Logf", "Skip", "Skipf", "Run"}

// message returns the text that a call makes an error, a test message or the name of a test of.
func message(call *ast.CallExpr) (texts []string) {
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || !slices.Contains(messages, f.Sel.Name) {
		return nil
	}
	for _, arg := range call.Args {
		if l, ok := arg.(*ast.BasicLit); ok && l.Kind == token.STRING {
			text, _ := strconv.Unquote(l.Value) // the parser has checked it
			texts = append(texts, text)
		}
	}
	return texts
}

var unplain = []broken{
	{"a/a.go", "// Package a tells b.\npackage a", `a/a.go:1: "tells" is no plain word`},
	{"a/a.go", "package a\n\n/* Is of\nuse. */\nvar x int", `a/a.go:3: "is of use" is no plain word`},
	{"a/a_test.go", "package a; func TestToldOnce() {}", `"told" is no plain word`},
	{"a/a.go", "package a; var heirOf int; var x = heirOf", `"heir" is no plain word`},
	{"a/a.go", "package a; import `errors`; var err = errors.New(`the disk is unwell`)", `"unwell" is no plain word`},
}

// documents are the texts outside Go files that people read.
func documents(fsys fs.FS) (all []string) {
	for _, pattern := range []string{"*.md", "*/*.md", "*/*/*.md", "cmd/*/testdata/*help*"} {
		found, err := fs.Glob(fsys, pattern)
		if err != nil {
			panic(err) // a bad pattern
		}
		all = append(all, found...)
	}
	return all
}

// prose is a document line by line, without code.
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

func TestDocumentsUsePlainWords(t *testing.T) {
	fsys := os.DirFS(".")
	for _, path := range documents(fsys) {
		text, err := fs.ReadFile(fsys, path)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range prose(string(text)) {
			if wordsAllowed(path, line) {
				continue
			}
			for _, f := range plainWords(line) {
				t.Errorf("%s:%d: %s", path, i+1, f)
			}
		}
	}
}

func TestProse(t *testing.T) {
	text := "What it tells:\n```\ntell me\n```\nRun `tell` or `told`, lest"
	var got []string
	for i, line := range prose(text) {
		for _, f := range plainWords(line) {
			got = append(got, fmt.Sprintf("%d %.6s", i+1, f))
		}
	}
	if want := []string{`1 "tells`, `5 "lest"`}; !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
}
