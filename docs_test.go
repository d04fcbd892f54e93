package reprise_test

import (
	"io/fs"
	"net/url"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
	"unicode"
)

var (
	inlineLink = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	usedLink   = regexp.MustCompile(`\]\[([^\]]+)\]`)
	givenLink  = regexp.MustCompile(`(?m)^\[([^\]]+)\]: (\S+)$`)
	heading    = regexp.MustCompile(`^#+ (.*)$`)
)

// anchors are the headings of a document as a link names them.
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

// deadLinks are the links of a document that lead nowhere in the repository, and the references that are not given.
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
	for _, t := range targets {
		u, err := url.Parse(t)
		if err == nil && u.Scheme != "" {
			continue
		}
		file, anchor, _ := strings.Cut(t, "#")
		at := name
		if file != "" {
			at = path.Join(path.Dir(name), file)
		}
		if _, err := fs.Stat(fsys, at); err != nil {
			dead = append(dead, t)
			continue
		}
		if anchor == "" {
			continue
		}
		if text, err := fs.ReadFile(fsys, at); err != nil || !anchors(string(text))[anchor] {
			dead = append(dead, t)
		}
	}
	return dead
}

func TestDocumentsHaveNoDeadLinks(t *testing.T) {
	fsys := os.DirFS(".")
	for _, name := range documents(fsys) {
		if path.Ext(name) != ".md" {
			continue
		}
		text, err := fs.ReadFile(fsys, name)
		if err != nil {
			t.Fatal(err)
		}
		for _, link := range deadLinks(fsys, name, string(text)) {
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

// TestRunningNamesEveryAlert: docs/running.md has a line for each alert, and each alert has its entry in the runbook.
func TestRunningNamesEveryAlert(t *testing.T) {
	read := func(name string) string {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	running, runbook := read("docs/running.md"), anchors(read("deploy/RUNBOOK.md"))
	alerts := regexp.MustCompile(`- alert: (\S+)`).FindAllStringSubmatch(read("deploy/prometheus-alerts.yaml"), -1)
	if len(alerts) < 10 {
		t.Fatalf("%d alerts", len(alerts))
	}
	for _, a := range alerts {
		if !strings.Contains(running, "["+a[1]+"](") || !runbook[strings.ToLower(a[1])] {
			t.Errorf("%s is missing in docs/running.md or the runbook", a[1])
		}
	}
}
