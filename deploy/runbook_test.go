package deploy_test

import (
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"reprise/internal/built"
	"reprise/internal/needs"
	"reprise/internal/redistest"
)

// alert is one rule as its lines read.
type alert struct{ name, severity, summary, description, runbook string }

var field = regexp.MustCompile(`^\s+(?:labels: \{severity: (\w+)\}|(summary|description|runbook_url): (.+))$`)

// alerts reads the rules line by line, which suffices for how they are written; promtool reads the YAML.
func alerts(t *testing.T) (all []*alert) {
	t.Helper()
	for line := range strings.SplitSeq(read(t, "prometheus-alerts.yaml"), "\n") {
		if _, name, ok := strings.Cut(line, "- alert: "); ok {
			all = append(all, &alert{name: name})
		}
		m := field.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		a := all[len(all)-1]
		switch {
		case m[1] != "":
			a.severity = m[1]
		case m[2] == "summary":
			a.summary = m[3]
		case m[2] == "description":
			a.description = m[3]
		default:
			a.runbook = m[3]
		}
	}
	return all
}

// TestAlertsAreInTheRunbook: there are 18, each says what it is and how bad, and its place in the runbook has the four parts; the runbook has no
// other places.
func TestAlertsAreInTheRunbook(t *testing.T) {
	all := alerts(t)
	if len(all) != 18 {
		t.Errorf("%d alerts, not 18", len(all))
	}
	runbook := map[string]string{}
	for i, section := range strings.Split(read(t, "RUNBOOK.md"), "\n## ") {
		if heading, text, _ := strings.Cut(section, "\n"); i > 0 {
			runbook[heading] = text
		}
	}
	for _, a := range all {
		if a.summary == "" || a.description == "" || !slices.Contains([]string{"info", "warning", "critical"}, a.severity) {
			t.Errorf("%s has the severity %q, the summary %q and the description %q", a.name, a.severity, a.summary, a.description)
		}
		if want := "deploy/RUNBOOK.md#" + strings.ToLower(a.name); a.runbook != want {
			t.Errorf("%s has the runbook %q, not %q", a.name, a.runbook, want)
		}
		for _, part := range []string{"Meaning", "Check", "Do", "Wake"} {
			if !strings.Contains(runbook[a.name], "\n**"+part+".**") {
				t.Errorf("the runbook has no %s for %s", part, a.name)
			}
		}
		delete(runbook, a.name)
	}
	for heading := range runbook {
		t.Errorf("the runbook has %s, which is no alert", heading)
	}
}

// commands are the lines of the runbook's code that can be run here: all but those of kubectl.
func commands(t *testing.T) (found []string) {
	code := false
	for line := range strings.SplitSeq(read(t, "RUNBOOK.md"), "\n") {
		if strings.HasPrefix(line, "```") {
			code = !code
		} else if code && (strings.HasPrefix(line, "curl") || strings.HasPrefix(line, "redis-cli")) {
			found = append(found, line)
		}
	}
	if len(found) < 20 {
		t.Fatalf("%d commands: the test reads the runbook wrongly", len(found))
	}
	return found
}

// TestRunbookCommandsWork runs the commands of the runbook against a proxy and its Redis: each finds what it looks for.
func TestRunbookCommandsWork(t *testing.T) {
	shell := needs.Program(t, "bash")
	needs.Program(t, "curl")
	needs.Program(t, "redis-cli")
	server := redistest.Start(t, redistest.Options{Password: "sesame-open"})
	p := built.Start(t, "REPRISE_STORE=redis://"+server.Addr, "REPRISE_REDIS_PASSWORD=sesame-open", "REPRISE_ADMIN_TOKEN=token-of-the-operator",
		"REPRISE_UPSTREAM=a=http://127.0.0.1:1/v1,b=http://127.0.0.1:2/v1")
	purge(t, p.Admin, "token-of-the-operator") // the log exists from the first change on
	for _, command := range commands(t) {
		c := exec.CommandContext(t.Context(), shell, "-o", "pipefail", "-c", command)
		c.Env = append(os.Environ(), "ADMIN="+p.Admin, "API="+p.API, "TOKEN=token-of-the-operator", "REDIS=redis://"+server.Addr, "REDISCLI_AUTH=sesame-open")
		out, err := c.CombinedOutput()
		if answer := string(out); err != nil || answer == "" || strings.HasPrefix(command, "redis-cli") && strings.Contains(answer, "ERR") {
			t.Errorf("%s: %v\n%s", command, err, out)
		}
	}
}

// purge purges everything, until that is confirmed: a machine that is busy for a second can keep Redis from answering in time.
func purge(t *testing.T, admin, token string) {
	t.Helper()
	until(t, "a purge", func() bool { return purged(t, admin, token) == http.StatusOK })
}

func purged(t *testing.T, admin, token string) (status int) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, admin+"/admin/purge", strings.NewReader(`{"all":true,"dry_run":false}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	return resp.StatusCode
}
