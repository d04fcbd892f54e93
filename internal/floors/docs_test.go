package main

import (
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"unicode"
)

// root is the repository, from the folder of this package.
const root = "../.."

// documents returns the Markdown files of the repository.
func documents(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, pattern := range []string{"*.md", "docs/*.md", "deploy/*.md", "deploy/*/*.md", "cmd/*/*.md"} {
		found, err := fs.Glob(os.DirFS(root), pattern)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, found...)
	}
	if len(all) < 6 {
		t.Fatalf("only the documents %s were found", all)
	}
	return all
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

var (
	inlineLink = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	usedLink   = regexp.MustCompile(`\]\[(\w[\w -]*)\]`) // other brackets are text
	givenLink  = regexp.MustCompile(`(?m)^\[([^\]]+)\]: (\S+)$`)
	heading    = regexp.MustCompile(`^#+ (.*)$`)
)

// anchors returns the headings of a document as a link names them.
func anchors(text string) map[string]bool {
	all := map[string]bool{}
	for _, line := range prose(text) {
		m := heading.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		all[strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
				return unicode.ToLower(r)
			}
			return -1
		}, m[1])] = true
	}
	return all
}

// deadLinks returns the links of a document that lead nowhere in the repository, and the references that are not given.
func deadLinks(fsys fs.FS, name, text string) (dead []string) {
	body := strings.Join(prose(text), "\n")
	var targets []string
	for _, m := range inlineLink.FindAllStringSubmatch(body, -1) {
		targets = append(targets, m[1])
	}
	given := map[string]bool{}
	for _, m := range givenLink.FindAllStringSubmatch(body, -1) {
		given[m[1]] = true
		targets = append(targets, m[2])
	}
	for _, m := range usedLink.FindAllStringSubmatch(body, -1) {
		if !given[m[1]] {
			dead = append(dead, "["+m[1]+"]")
		}
	}
	for _, target := range targets {
		if u, err := url.Parse(target); err == nil && u.Scheme != "" {
			continue
		}
		file, anchor, _ := strings.Cut(target, "#")
		at := name
		if file != "" {
			at = path.Join(path.Dir(name), file)
		}
		_, err := fs.Stat(fsys, at)
		if err == nil && anchor != "" {
			text, readErr := fs.ReadFile(fsys, at)
			if err = readErr; err == nil && !anchors(string(text))[anchor] {
				err = fs.ErrNotExist
			}
		}
		if err != nil {
			dead = append(dead, target)
		}
	}
	return dead
}

func TestDocumentsHaveNoDeadLinks(t *testing.T) {
	for _, name := range documents(t) {
		for _, link := range deadLinks(os.DirFS(root), name, read(t, name)) {
			t.Errorf("%s: %s leads nowhere", name, link)
		}
	}
}

func TestDeadLinks(t *testing.T) {
	text := "# A b\n[x](#a-b) [x](#c) [x](b.md#a-b) [x](no.md) [x](https://example.com/no) [x][y] [x][z]\n\n[y]: c/none.md\n"
	fsys := fstest.MapFS{"a.md": {Data: []byte(text)}, "b.md": {Data: []byte(text)}}
	if got := strings.Join(deadLinks(fsys, "a.md", text), " "); got != "[z] #c no.md c/none.md" {
		t.Errorf("dead: %s", got)
	}
}

// namedPath matches a file or folder of the code in a document; NAME in it is for the reader to fill in.
var namedPath = regexp.MustCompile("(?:^|[\\s`(]|\\./)((?:cmd|proxy|policy|store|topics|embed|internal|deploy)/[\\w./*-]*[\\w*])")

// TestDocumentsNameRealPaths: each file and folder of the code that a document or a command in it names exists.
func TestDocumentsNameRealPaths(t *testing.T) {
	found := 0
	for _, name := range documents(t) {
		if name == "CHANGELOG.md" { // history
			continue
		}
		for _, m := range namedPath.FindAllStringSubmatch(read(t, name), -1) {
			at := strings.TrimSuffix(m[1], "/...")
			if slices.Contains(strings.FieldsFunc(at, func(r rune) bool { return r == '/' || r == '.' }), "NAME") {
				continue
			}
			found++
			here, _ := filepath.Glob(filepath.Join(root, at))
			beside, _ := filepath.Glob(filepath.Join(root, path.Dir(name), at))
			if len(here)+len(beside) == 0 && at != "deploy/secrets" { // an operator makes that one
				t.Errorf("%s: there is no %s", name, at)
			}
		}
	}
	if found < 20 {
		t.Errorf("%d paths were found: the test reads the documents wrongly", found)
	}
}

// TestEachAlertIsDocumented: docs/operations.md has a line for each alert, and the runbook an entry.
func TestEachAlertIsDocumented(t *testing.T) {
	running, runbook := read(t, "docs/operations.md"), anchors(read(t, "deploy/RUNBOOK.md"))
	alerts := regexp.MustCompile(`- alert: (\S+)`).FindAllStringSubmatch(read(t, "deploy/prometheus-alerts.yaml"), -1)
	if len(alerts) < 10 {
		t.Fatalf("%d alerts", len(alerts))
	}
	for _, a := range alerts {
		if !strings.Contains(running, "["+a[1]+"](") || !runbook[strings.ToLower(a[1])] {
			t.Errorf("%s is missing in docs/operations.md or the runbook", a[1])
		}
	}
}

var (
	commentBreak = regexp.MustCompile(`\s*\n\s*//\s*`)
	ruleNames    = regexp.MustCompile(`[Ll]ines? ([\d, and]+) of the list in SECURITY\.md`)
	ruleNumber   = regexp.MustCompile(`\d+`)
)

// TestSecurityRulesHaveTests: each numbered rule of SECURITY.md is named by a test, as "line 5 of the list in SECURITY.md".
func TestSecurityRulesHaveTests(t *testing.T) {
	rules := regexp.MustCompile(`(?m)^(\d+)\. `).FindAllStringSubmatch(read(t, "SECURITY.md"), -1)
	if len(rules) < 25 {
		t.Fatalf("SECURITY.md has %d rules; the test reads it wrongly", len(rules))
	}
	all, err := readSources(os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	tested := map[string]bool{}
	for _, s := range all {
		if !s.isTest() {
			continue
		}
		for _, m := range ruleNames.FindAllStringSubmatch(commentBreak.ReplaceAllString(string(s.text), " "), -1) {
			for _, n := range ruleNumber.FindAllString(m[1], -1) {
				tested[n] = true
			}
		}
	}
	for i, r := range rules {
		if r[1] != strconv.Itoa(i+1) {
			t.Errorf("SECURITY.md has rule %s in place %d", r[1], i+1)
		}
		if !tested[r[1]] {
			t.Errorf("no test names line %s of the list in SECURITY.md", r[1])
		}
	}
}
