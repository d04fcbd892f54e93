package config

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"reprise/proxy"
	"reprise/proxy/admin"
)

// TestReference compares docs/reference.md with the code. To write it again:
//
//	go test ./cmd/reprise/internal/config -run TestReference -update
func TestReference(t *testing.T) {
	const path = "../../../../docs/reference.md"
	want := reference()
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("docs/reference.md is not what the code says (%v): go test ./cmd/reprise/internal/config -run TestReference -update", err)
	}
}

// escaped has what would end a cell, or begin a link.
var escaped = strings.NewReplacer("|", `\|`, "\n", " ", "][", `]\[`)

// reference returns the page of all settings, header fields and paths.
func reference() string {
	var b strings.Builder
	row := func(cells ...string) {
		for i, c := range cells {
			cells[i] = escaped.Replace(c)
		}
		b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
	}
	table := func(heads ...string) {
		row(heads...)
		b.WriteString(strings.Repeat("|---", len(heads)) + "|\n")
	}
	fmt.Fprintf(&b, `# Reference

Every setting, header and path of the admin API. A test makes this page from the code: do not edit it. Which answers of which upstreams are
not kept is in [answers](answers.md#what-an-upstream-must-send-to-be-kept).

## Settings

A setting is a variable such as %[1]sREPRISE_TTL=1h%[1]s, a flag such as %[1]s--ttl 1h%[1]s, and a line such as %[1]sttl: 1h%[1]s below %[1]ssettings:%[1]s in the YAML file that
%[1]sREPRISE_CONFIG%[1]s names. The flag wins, then the environment, then the file. A secret can be given as a file too: %[1]sREPRISE_UPSTREAM_KEY_FILE=PATH%[1]s. Durations are
written 90s, 24h or 30d, sizes 512MiB or 4GiB. *again*: SIGHUP, and a change of the file, puts a new value in force without a restart.
`, "`")
	for _, g := range (&Config{}).table() {
		fmt.Fprintf(&b, "\n### %s\n\n", g.title)
		table("variable", "default", "allowed", "meaning", "")
		for _, s := range g.rows {
			value := "–"
			if s.Default != "" {
				value = "`" + s.Default + "`"
			}
			var marks []string
			if s.Secret {
				marks = append(marks, "secret")
			}
			if s.Reload {
				marks = append(marks, "again")
			}
			row("`"+s.Env()+"`", value, s.Allowed, s.Help, strings.Join(marks, ", "))
		}
	}
	b.WriteString("\n### Removed\n\nThe proxy does not start with one of these.\n\n")
	table("variable", "instead")
	for _, r := range removed {
		row("`"+Prefix+r.Name+"`", r.Instead)
	}
	b.WriteString("\n## Headers\n\nOf a request, by clients. A client can only narrow what the operator allows.\n\n")
	table("header", "meaning")
	for _, h := range proxy.HeadersRead() {
		row("`"+h.Name+"`", h.Meaning)
	}
	b.WriteString("\nOf an answer.\n\n")
	table("header", "meaning")
	for _, h := range proxy.HeadersWritten() {
		row("`"+h.Name+"`", h.Meaning)
	}
	b.WriteString("\n## Admin API\n\nAt `REPRISE_ADMIN_LISTEN`, with `Authorization: Bearer` and `REPRISE_ADMIN_TOKEN`. `/healthz`, `/readyz` and `/metrics` need no token; `/` is the page.\n" +
		"`/admin/debug/pprof/` has Go's profiles.\n\n")
	table("path", "does")
	for _, r := range admin.Routes() {
		row("`"+r.Method+" "+r.Path+"`", r.Does)
	}
	return b.String()
}
