package deploy_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"reprise/internal/needs"
)

// tool runs a program of the alerts, and fails the test with what it prints.
func tool(t *testing.T, name string, args ...string) {
	t.Helper()
	if out, err := exec.Command(needs.Program(t, name), args...).CombinedOutput(); err != nil {
		t.Errorf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
}

func TestRulesAreValid(t *testing.T) { tool(t, "promtool", "check", "rules", "prometheus-alerts.yaml") }

// TestAlertsFire plays series through the rules: each alert fires on what it is for, and none on a healthy day.
func TestAlertsFire(t *testing.T) {
	tests, err := filepath.Glob("alerts/*.test.yaml")
	if err != nil || len(tests) == 0 {
		t.Fatalf("no tests of alerts: %v", err)
	}
	tool(t, "promtool", slices.Concat([]string{"test", "rules"}, tests)...)
}

func TestScrapeIsValid(t *testing.T) {
	tool(t, "promtool", "check", "config", "--syntax-only", "replicas/prometheus.yml")
}

func TestAlertmanagerIsValid(t *testing.T) {
	tool(t, "amtool", "check-config", "replicas/alertmanager.yml")
}

// board is what the tests read of a dashboard.
type board struct {
	Templating struct{ List []struct{ Name string } }
	Panels     []panel
}

type panel struct {
	ID          int
	Type, Title string
	GridPos     struct{ H, W, X, Y int }
	Targets     []struct{ RefID, Expr string }
}

func readBoard(t *testing.T) (b board) {
	t.Helper()
	if err := json.Unmarshal([]byte(read(t, "helm/reprise/files/dashboard.json")), &b); err != nil {
		t.Fatal(err)
	}
	if len(b.Panels) < 20 {
		t.Fatalf("%d panels: the test reads the dashboard wrongly", len(b.Panels))
	}
	return b
}

var variable = regexp.MustCompile(`\$(\w+)`)

// TestDashboardIsWhole: panels have an id each and do not overlap, and use only variables that are declared.
func TestDashboardIsWhole(t *testing.T) {
	b := readBoard(t)
	ids, places := map[int]bool{}, map[[2]int]string{}
	for _, p := range b.Panels {
		if ids[p.ID] {
			t.Errorf("panel %q has the id of another", p.Title)
		}
		ids[p.ID] = true
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				if other, taken := places[[2]int{x, y}]; taken || x >= 24 {
					t.Fatalf("panel %q is over %q or the edge", p.Title, other)
				}
				places[[2]int{x, y}] = p.Title
			}
		}
		if (p.Type == "row") != (len(p.Targets) == 0) {
			t.Errorf("panel %q has %d queries", p.Title, len(p.Targets))
		}
		for _, target := range p.Targets {
			for _, m := range variable.FindAllStringSubmatch(target.Expr, -1) {
				if m[1] != "__rate_interval" && !slices.ContainsFunc(b.Templating.List, func(v struct{ Name string }) bool { return v.Name == m[1] }) {
					t.Errorf("panel %q: there is no variable %s", p.Title, m[1])
				}
			}
		}
	}
}

// TestDashboardQueriesAreValid checks the queries of the dashboard as rules that record them.
func TestDashboardQueriesAreValid(t *testing.T) {
	var rules strings.Builder
	rules.WriteString("groups:\n- name: dashboard\n  rules:\n")
	for _, p := range readBoard(t).Panels {
		for i, target := range p.Targets {
			expr := strings.NewReplacer("$__rate_interval", "5m", "$instance", ".*").Replace(target.Expr)
			fmt.Fprintf(&rules, "  - {record: 'panel:%d:%d', expr: %q}\n", p.ID, i, expr)
		}
	}
	path := filepath.Join(t.TempDir(), "dashboard.yaml")
	if err := os.WriteFile(path, []byte(rules.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	tool(t, "promtool", "check", "rules", path)
}
