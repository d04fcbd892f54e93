package reprise_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestSecurityRulesHaveTests: each numbered rule of SECURITY.md is named by a test, as "line 5 of the list in SECURITY.md".
func TestSecurityRulesHaveTests(t *testing.T) {
	page, err := os.ReadFile("SECURITY.md")
	if err != nil {
		t.Fatal(err)
	}
	rules := regexp.MustCompile(`(?m)^(\d+)\. `).FindAllStringSubmatch(string(page), -1)
	if len(rules) < 25 {
		t.Fatalf("SECURITY.md has %d rules; the test reads it wrongly", len(rules))
	}
	tested := map[string]bool{}
	err = filepath.WalkDir(".", func(path string, _ os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, n := range rulesNamed(string(text)) {
			tested[n] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
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

var (
	commentBreak = regexp.MustCompile(`\s*\n\s*//\s*`)
	ruleNames    = regexp.MustCompile(`[Ll]ines? ([\d, and]+) of the list in SECURITY\.md`)
	ruleNumber   = regexp.MustCompile(`\d+`)
)

// rulesNamed returns the numbers of the rules that comments in a source name.
func rulesNamed(source string) (numbers []string) {
	for _, m := range ruleNames.FindAllStringSubmatch(commentBreak.ReplaceAllString(source, " "), -1) {
		numbers = append(numbers, ruleNumber.FindAllString(m[1], -1)...)
	}
	return numbers
}
