// Package deploy_test checks the files of this folder against the program that they run.
package deploy_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// declared finds the metrics and their labels in the calls that make them: Count, Gauge and Flag of a page, counter and histogram, each with a
// name, a help text and labels; and NewDesc and CounterOpts of Prometheus, with the whole name.
func declared(t *testing.T) map[string][]string {
	metrics := map[string][]string{}
	err := filepath.WalkDir("../proxy", func(path string, _ os.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		tree, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err == nil {
			declaredIn(tree, metrics)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return metrics
}

func declaredIn(tree *ast.File, metrics map[string][]string) {
	ast.Inspect(tree, func(n ast.Node) bool {
		if name, labels := whole(n); name != "" {
			metrics[name] = labels
		}
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		made := ""
		switch f := call.Fun.(type) {
		case *ast.Ident:
			made = f.Name
		case *ast.SelectorExpr:
			made = f.Sel.Name
		}
		words := literals(call.Args)
		if len(words) < 2 || !slices.Contains([]string{"counter", "histogram", "Count", "Gauge", "Flag"}, made) {
			return true
		}
		for _, suffix := range map[bool][]string{true: {"_bucket", "_sum", "_count"}, false: {""}}[made == "histogram"] {
			metrics["reprise_"+words[0]+suffix] = words[2:]
		}
		return true
	})
}

// whole is the name of a metric that n declares in full, with its labels; "": it declares none.
func whole(n ast.Node) (name string, labels []string) {
	switch n := n.(type) {
	case *ast.KeyValueExpr: // of CounterOpts
		if key, ok := n.Key.(*ast.Ident); ok && key.Name == "Name" {
			if words := literals([]ast.Expr{n.Value}); len(words) == 1 && strings.HasPrefix(words[0], "reprise_") {
				return words[0], nil
			}
		}
	case *ast.CallExpr:
		made, ok := n.Fun.(*ast.SelectorExpr)
		if words := literals(n.Args); ok && made.Sel.Name == "NewDesc" && len(words) > 0 && strings.HasPrefix(words[0], "reprise_") {
			if list, ok := n.Args[2].(*ast.CompositeLit); ok {
				labels = literals(list.Elts)
			}
			return words[0], labels
		}
	}
	return "", nil
}

// literals are the strings among expressions. A sum of strings, which only help texts are, counts as its last part.
func literals(all []ast.Expr) (words []string) {
	for _, x := range all {
		if sum, ok := x.(*ast.BinaryExpr); ok && sum.Op == token.ADD {
			x = sum.Y
		}
		if lit, ok := x.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			word, _ := strconv.Unquote(lit.Value) // a literal that was parsed
			words = append(words, word)
		}
	}
	return words
}

var (
	selector = regexp.MustCompile(`(reprise_\w+)(?:\{([^}]*)\})?`)
	matcher  = regexp.MustCompile(`(\w+)\s*(?:=~|!~|!=|=)`)
)

// scraped are labels that Prometheus adds.
var scraped = []string{"job", "instance", "namespace"}

// TestMetricsExist: every metric that the alerts, the dashboard, the runbook, docs and README name is one of the program, with the labels that they use.
func TestMetricsExist(t *testing.T) {
	metrics := declared(t)
	if len(metrics) < 60 {
		t.Fatalf("only %d metrics were found in package proxy and its admin API: the test reads them wrongly", len(metrics))
	}
	for name, least := range map[string]int{"prometheus-alerts.yaml": 30, "helm/reprise/files/dashboard.json": 50, "RUNBOOK.md": 10, "README.md": 2,
		"../docs/operations.md": 12, "../docs/answers.md": 5, "../docs/tuning.md": 1, "../docs/how-it-works.md": 1} {
		text := strings.ReplaceAll(read(t, name), `\"`, `"`)
		found := selector.FindAllStringSubmatch(text, -1)
		if len(found) < least {
			t.Errorf("%s names %d metrics: the test reads it wrongly", name, len(found))
		}
		for _, m := range found {
			labels, ok := metrics[m[1]]
			if ok || !matchesSome(name, m[1], metrics) {
				checkLabels(t, name, m[1], m[2], ok, labels)
			}
		}
	}
}

// matchesSome reports whether a name in a document is that of a histogram, or the beginning of metrics as in grep '^reprise_store_' in the runbook and
// in reprise_shared_*.
func matchesSome(file, name string, metrics map[string][]string) bool {
	if _, histogram := metrics[name+"_bucket"]; histogram && filepath.Ext(file) == ".md" {
		return true
	}
	part := file == "RUNBOOK.md" || filepath.Ext(file) == ".md" && strings.HasSuffix(name, "_")
	return part && slices.ContainsFunc(slices.Collect(maps.Keys(metrics)), func(m string) bool { return strings.HasPrefix(m, name) })
}

func checkLabels(t *testing.T, file, metric, matchers string, exists bool, labels []string) {
	t.Helper()
	if !exists {
		t.Errorf("%s: no metric %s", file, metric)
		return
	}
	for _, l := range matcher.FindAllStringSubmatch(matchers, -1) {
		if !slices.Contains(slices.Concat(labels, scraped), l[1]) {
			t.Errorf("%s: metric %s has no label %s", file, metric, l[1])
		}
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestSettingsExist looks for every setting that the files here name in the program's own help.
func TestSettingsExist(t *testing.T) {
	help, err := exec.Command(program(t), "serve", "--help-all").Output()
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"Dockerfile", "compose.yaml", "compose.replicas.yaml", "reprise.service", "prometheus-alerts.yaml", "README.md", "RUNBOOK.md",
		"replicas/haproxy.cfg", "helm/reprise/README.md", "helm/reprise/values.yaml", "helm/reprise/files/dashboard.json"}
	for _, pattern := range []string{"helm/reprise/templates/*", "helm/reprise/examples/*"} {
		more, err := filepath.Glob(pattern)
		if err != nil || len(more) < 3 {
			t.Fatalf("%s: %d files, %v", pattern, len(more), err)
		}
		names = append(names, more...)
	}
	for _, name := range names {
		if info, err := os.Stat(name); err != nil || info.IsDir() {
			continue
		}
		for _, setting := range regexp.MustCompile(`REPRISE_[A-Z_]+`).FindAllString(read(t, name), -1) {
			if !strings.Contains(string(help), setting) && setting != "REPRISE_PORT" { // a variable of Kubernetes that the chart keeps away
				t.Errorf("%s: there is no setting %s", name, setting)
			}
		}
	}
}
