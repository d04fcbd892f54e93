// Package deploy_test checks the files of this folder against the program that they run.
package deploy_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// declared finds the metrics and their labels in the calls that make them: counter and histogram, with a name, a help text
// and a label, and describe, with several labels.
func declared(t *testing.T) map[string][]string {
	metrics := map[string][]string{}
	for _, file := range []string{"../proxy/metrics.go", "../proxy/admin/metrics.go"} {
		tree, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		declaredIn(tree, metrics)
	}
	return metrics
}

func declaredIn(tree *ast.File, metrics map[string][]string) {
	ast.Inspect(tree, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		made, ok := call.Fun.(*ast.Ident)
		if !ok || !slices.Contains([]string{"counter", "histogram", "describe"}, made.Name) {
			return true
		}
		var words []string
		for _, arg := range call.Args {
			if lit, ok := arg.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				word, _ := strconv.Unquote(lit.Value) // a literal that was parsed
				words = append(words, word)
			}
		}
		for _, suffix := range map[bool][]string{true: {"_bucket", "_sum", "_count"}, false: {""}}[made.Name == "histogram"] {
			metrics["reprise_"+words[0]+suffix] = words[2:]
		}
		return true
	})
}

var (
	selector = regexp.MustCompile(`(reprise_\w+)(?:\{([^}]*)\})?`)
	matcher  = regexp.MustCompile(`(\w+)\s*(?:=~|!~|!=|=)`)
)

func TestAlertsNameMetricsThatExist(t *testing.T) {
	metrics := declared(t)
	if len(metrics) < 10 {
		t.Fatalf("only %d metrics were found in package proxy and its admin API: the test reads them wrongly", len(metrics))
	}
	rules, err := os.ReadFile("prometheus-alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	found := selector.FindAllStringSubmatch(string(rules), -1)
	if len(found) == 0 {
		t.Fatal("the rules name no metric")
	}
	for _, m := range found {
		labels, ok := metrics[m[1]]
		if !ok {
			t.Errorf("no metric %s", m[1])
		}
		for _, l := range matcher.FindAllStringSubmatch(m[2], -1) {
			if !slices.Contains(append(labels, "job", "instance"), l[1]) {
				t.Errorf("metric %s has no label %s", m[1], l[1])
			}
		}
	}
}

// TestSettingsExist looks for every setting that the files here name in the program's own help.
func TestSettingsExist(t *testing.T) {
	help, err := exec.Command("go", "run", "../cmd/reprise", "serve", "--help").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"Dockerfile", "compose.yaml", "reprise.service", "prometheus-alerts.yaml", "README.md"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, setting := range regexp.MustCompile(`REPRISE_[A-Z_]+`).FindAllString(string(text), -1) {
			if !strings.Contains(string(help), setting) {
				t.Errorf("%s: there is no setting %s", name, setting)
			}
		}
	}
}
