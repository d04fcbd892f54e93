package config

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"reprise/embed"
	"reprise/proxy/rules"
)

var update = flag.Bool("update", false, "write the golden files again")

// loadWith loads settings with a configuration file and lines NAME=VALUE of the environment.
func loadWith(path string, environ ...string) (*Config, error) {
	return NewLoader(false).Load(append(environ, "REPRISE_CONFIG="+path))
}

// TestWrongFiles: each file is refused, with a message that has its name, the line, the field, and what is allowed.
func TestWrongFiles(t *testing.T) {
	files, err := filepath.Glob("testdata/wrong/*.yaml")
	if err != nil || len(files) < 40 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			_, err := loadWith(file)
			if !errors.Is(err, ErrBad) {
				t.Fatalf("got %v", err)
			}
			golden := strings.TrimSuffix(file, ".yaml") + ".txt"
			if *update {
				if err := os.WriteFile(golden, []byte(err.Error()+"\n"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, _ := os.ReadFile(golden)
			if got := err.Error() + "\n"; got != string(want) {
				t.Errorf("got\n%swant\n%s", got, want)
			}
			if !strings.Contains(err.Error(), file) || strings.Contains(err.Error(), "abc") {
				t.Errorf("no name of the file, or a secret: %v", err)
			}
		})
	}
}

func write(t *testing.T, text string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "reprise.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestOrderOfSources: a flag, the environment, the configuration file.
func TestOrderOfSources(t *testing.T) {
	file := write(t, "settings:\n  mode: exact\n  TTL: 2h\n  ignore_headers: [X-A, X-B]\n  max_entry_bytes: 2MiB\n  client_keys_file: "+write(t, "first-key second-key")+"\n")
	l := NewLoader(false)
	fs := flag.NewFlagSet("", flag.ContinueOnError)
	l.Register(fs)
	if err := fs.Parse([]string{"--mode", "off"}); err != nil {
		t.Fatal(err)
	}
	c, err := l.Load([]string{"REPRISE_CONFIG=" + file, "REPRISE_MODE=shadow", "REPRISE_TTL=4h", "REPRISE_UPSTREAM_KEY=sk-1"})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"MODE": "off flag", "TTL": "4h environment", "MAX_ENTRY_BYTES": "2MiB " + file + ":5", "IGNORE_HEADERS": "X-A,X-B " + file + ":4", "STREAM_KEEPALIVE": "0 default"} {
		if v := c.value(name); v.Value+" "+v.Source != want {
			t.Errorf("%s: %+v, want %s", name, v, want)
		}
	}
	if len(c.ClientKeys) != 2 || c.value("CLIENT_KEYS").Value != "********" {
		t.Errorf("%q, %+v", c.ClientKeys, c.value("CLIENT_KEYS"))
	}
	if path, sum := l.FileRead(); path != file || sum != SumOf(file) || sum == SumOf("/absent") {
		t.Error("the digest of the file is another")
	}
	if _, err := NewLoader(true).Load([]string{"REPRISE_CONFIG=/absent"}); err != nil {
		t.Errorf("the demo: %v", err)
	}
	if _, err := loadWith("/absent"); err == nil || !strings.Contains(err.Error(), "REPRISE_CONFIG (environment): /absent: no such file") {
		t.Errorf("got %v", err)
	}
}

// TestOverruled: a line of the file that has no effect is named, without its value, and no other line is.
func TestOverruled(t *testing.T) {
	secret, other := write(t, "sk-of-the-operator\n"), write(t, "sk-of-nobody\n")
	for _, c := range []struct {
		line string
		env  []string
		args []string
		want string // the name, and what sets another value; empty: the line has an effect, or the same value
	}{
		{"mode: exact", []string{"REPRISE_MODE=semantic"}, nil, "REPRISE_MODE|environment"},
		{"mode: exact", nil, []string{"--mode", "semantic"}, "REPRISE_MODE|flag"},
		{"mode: exact", []string{"REPRISE_MODE=exact"}, nil, ""},
		{"mode: exact", []string{"REPRISE_MODE="}, nil, ""},
		{"mode: exact", []string{"REPRISE_TTL=1h"}, nil, ""},
		{"upstream_key: sk-of-nobody", []string{"REPRISE_UPSTREAM_KEY_FILE=" + secret}, nil, "REPRISE_UPSTREAM_KEY|environment"},
		{"upstream_key_file: " + other, []string{"REPRISE_UPSTREAM_KEY=sk-of-the-operator"}, nil, "REPRISE_UPSTREAM_KEY|environment"},
	} {
		path := write(t, "settings:\n  "+c.line+"\n")
		cfg, err := load(t, append(c.env, "REPRISE_UPSTREAM=http://h/v1", "REPRISE_CONFIG="+path), c.args...)
		if err != nil {
			t.Errorf("%s: %v", c.line, err)
			continue
		}
		want := ""
		if name, by, ok := strings.Cut(c.want, "|"); ok {
			want = name + " in " + path + " has no effect: the " + by + " sets another value, and wins"
		}
		if got := strings.Join(cfg.Overruled, "|"); got != want || strings.Join(cfg.Idle(), "|") != want {
			t.Errorf("%s, %q, %q: %q, want %q", c.line, c.env, c.args, got, want)
		}
	}
}

const ruled = `settings:
  mode: shadow
  hit_threshold: 0.9
  tenant_from: header:X-Team
rules:
  - name: support
    match: {model: [gpt-4o, gpt-4o-mini], path: /v1/chat/*, tenant: team-*, namespace: faq}
    mode: semantic
    threshold: 0.95
    max_error_rate: 0
    ttl: 1h
    tool_calls: off
    live_web: exact
    ignore_fields: [user, metadata]
  - name: plain
    match: {namespace: plain}
    ignore_fields: []
    ask: 'Question: (?P<ask>.+)$'
  - name: other
    match: {model: "*"}
    mode: "off"
    ignore_pattern: |
      (?P<id>req_\d+)
      (?P<time>\d\d:\d\d)
`

// TestRules: what a rule leaves out is that of the settings.
func TestRules(t *testing.T) {
	c, err := loadWith(write(t, ruled), "REPRISE_TTL=3h", "REPRISE_MAX_ERROR_RATE=0.02", "REPRISE_IGNORE_FIELDS=trace", `REPRISE_IGNORE_PATTERN=(?P<date>\d{4})`)
	if err != nil {
		t.Fatal(err)
	}
	all := c.RuleSet()
	if len(all) != 3 {
		t.Fatal(all)
	}
	a, plain, b := all[0], all[1], all[2]
	if f, p := plain.Ignore.Fields(), plain.Ignore.Patterns(); !slices.Equal(f, []string{"none"}) || !slices.Equal(p, []string{`(?P<date>\d{4})`}) {
		t.Errorf("%q, %q", f, p)
	}
	if plain.Ask == nil || plain.Ask.String() != "Question: (?P<ask>.+)$" || a.Ask != nil || b.Ask != nil {
		t.Errorf("%v, %v, %v", plain.Ask, a.Ask, b.Ask)
	}
	if a.Name != "support" || a.Mode != rules.Semantic || a.Threshold != 0.95 || a.MaxErrorRate != 0 || a.TTL.Hours() != 1 || a.ToolCalls || !a.LiveWeb {
		t.Errorf("%+v", a)
	}
	if len(a.Models) != 2 || a.Paths[0] != "/v1/chat/*" || a.Tenants[0] != "team-*" || a.Namespaces[0] != "faq" {
		t.Errorf("%+v", a.Match)
	}
	if b.Mode != rules.Off || b.Threshold != 0.9 || b.MaxErrorRate != 0.02 || b.TTL.Hours() != 3 || !b.ToolCalls || b.LiveWeb {
		t.Errorf("%+v", b)
	}
	if f, p := a.Ignore.Fields(), a.Ignore.Patterns(); !slices.Equal(f, []string{"metadata", "user"}) || !slices.Equal(p, []string{`(?P<date>\d{4})`}) {
		t.Errorf("%q, %q", f, p)
	}
	if f, p := b.Ignore.Fields(), b.Ignore.Patterns(); !slices.Equal(f, []string{"trace"}) || !slices.Equal(p, []string{`(?P<id>req_\d+)`, `(?P<time>\d\d:\d\d)`}) {
		t.Errorf("%q, %q", f, p)
	}
	x := c.InForce("support")
	if x.Place == "" || x.Sets[0] != (Value{Name: "mode", Value: "semantic", Source: c.File + ":8", given: "semantic"}) || x.Sets[3].Source != c.File+":11" {
		t.Errorf("%+v", x)
	}
	if x := c.InForce(""); x.Rule != "" || x.Sets[0].Value != "shadow" || x.Sets[0].Source != c.File+":2" || x.Sets[3] != (Value{Name: "ttl", Value: "3h", Source: "environment", given: "3h"}) {
		t.Errorf("%+v", x)
	}
	for i, want := range map[int]Value{4: {Name: "trust", Value: "earned"}, 5: {Name: "tool_calls", Value: "exact"}, 6: {Name: "live_web", Value: "off"}} {
		if want.Source = fromDefault; c.InForce("plain").Sets[i] != want {
			t.Errorf("%+v, want %+v", c.InForce("plain").Sets[i], want)
		}
	}
	if _, err := c.Gates(embed.Thresholds{Hit: .8, Route: .5, Edge: .4}); err != nil {
		t.Error(err)
	}
}

// TestThresholdOfRule: one below the threshold for all is refused, also where that is the embedder's own.
func TestThresholdOfRule(t *testing.T) {
	c, err := loadWith(write(t, "rules:\n- name: a\n  match: {model: a}\n  threshold: 0.85\n"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Gates(embed.Thresholds{Hit: .85, Route: .5, Edge: .4}); err != nil {
		t.Error(err)
	}
	_, err = c.Gates(embed.Thresholds{Hit: .86, Route: .5, Edge: .4})
	want := c.File + `:4: rules[0].threshold: "0.85" is below REPRISE_HIT_THRESHOLD=0.86 (embedder), the least that is looked for: allowed is 0.86 or more, at most 1; or lower the second`
	if !errors.Is(err, ErrBad) || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v", err)
	}
}

// TestReloadedRules: the rules and what they build on are replaced; a mode that compares by meaning needs a process that has done so.
func TestReloadedRules(t *testing.T) {
	load := func(text string) *Config {
		c, err := loadWith(write(t, text))
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	const some = "rules:\n- name: a\n  match: {model: a}\n  mode: exact\n"
	before := load("settings: {mode: exact, ttl: 1h}\n" + some)
	m, changed, restart, err := before.Reloaded(load("settings: {mode: 'off', ttl: 2h, policy: lru}\n" + some + "  ttl: 3h\n"))
	if err != nil || m.Mode != "off" || m.TTL.Hours() != 2 || m.Rules[0].set.TTL.Hours() != 3 {
		t.Fatalf("%+v, %v", m, err)
	}
	if got := strings.Join(changed, " "); got != "REPRISE_CONFIG (rules) REPRISE_CONFIG REPRISE_MODE REPRISE_TTL" {
		t.Errorf("changed %s", got)
	}
	if got := strings.Join(restart, " "); !strings.Contains(got, "REPRISE_POLICY") {
		t.Errorf("restart %s", got)
	}
	m, _, restart, err = before.Reloaded(load("settings: {mode: semantic}\n" + some))
	if err != nil || m.Mode != "exact" || !strings.Contains(strings.Join(restart, " "), "REPRISE_MODE") {
		t.Errorf("%v, %q, %v", m, restart, err)
	}
	if _, _, _, err = before.Reloaded(load("settings: {mode: exact}\nrules: [{name: a, match: {model: a}, mode: shadow}]\n")); err == nil || !strings.Contains(err.Error(), `rules[0].mode: "shadow" needs a restart`) {
		t.Errorf("got %v", err)
	}
	semantic := load("settings: {mode: exact}\nrules: [{name: a, match: {model: a}, mode: semantic}]\n")
	m, _, _, err = semantic.Reloaded(load("settings: {mode: 'off'}\n"))
	if err != nil || len(m.Rules) != 0 {
		t.Fatalf("%v, %v", m, err)
	}
	if m, _, _, err = m.Reloaded(load("settings: {mode: semantic}\n")); err != nil || m.Mode != "semantic" {
		t.Errorf("%v, %v", m, err)
	}
}
