package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestOverruled: a line of the settings file that has no effect is named, without its value, and no other line is.
func TestOverruled(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	secret, other := write("secret", "sk-of-the-operator\n"), write("other", "sk-of-nobody\n")
	path := filepath.Join(dir, "settings")
	const upstream = "REPRISE_UPSTREAM=http://h/v1"
	for _, c := range []struct {
		file  string
		env   []string
		flags []string
		want  string // the name, and what sets another value; empty: the line has an effect, or the same value
	}{
		{"REPRISE_MODE=exact", []string{"REPRISE_MODE=semantic"}, nil, "REPRISE_MODE|the environment"},
		{"REPRISE_MODE=exact", nil, []string{"--mode", "semantic"}, "REPRISE_MODE|a flag"},
		{"REPRISE_MODE=exact", []string{"REPRISE_MODE=exact"}, nil, ""},
		{"REPRISE_MODE=exact", []string{"REPRISE_MODE="}, nil, ""},
		{"REPRISE_MODE=", []string{"REPRISE_MODE=semantic"}, nil, ""},
		{"REPRISE_MODE=exact", []string{"REPRISE_TTL=1h"}, nil, ""},
		{"REPRISE_UPSTREAM_KEY=sk-of-nobody", []string{"REPRISE_UPSTREAM_KEY_FILE=" + secret}, nil, "REPRISE_UPSTREAM_KEY|the environment"},
		{"REPRISE_UPSTREAM_KEY_FILE=" + other, []string{"REPRISE_UPSTREAM_KEY=sk-of-the-operator"}, nil, "REPRISE_UPSTREAM_KEY|the environment"},
		{"REPRISE_UPSTREAM_KEY_FILE=" + secret, []string{"REPRISE_UPSTREAM_KEY=sk-of-the-operator"}, nil, ""},
	} {
		write("settings", c.file+"\n")
		cfg, err := load(t, append(c.env, upstream, "REPRISE_SETTINGS="+path), c.flags...)
		if err != nil {
			t.Errorf("%s: %v", c.file, err)
			continue
		}
		want := ""
		if name, by, ok := strings.Cut(c.want, "|"); ok {
			want = name + " in " + path + " has no effect: " + by + " sets another value, and wins"
		}
		if got := strings.Join(cfg.Overruled, "|"); got != want || strings.Join(cfg.Idle(), "|") != want {
			t.Errorf("%s, %q, %q: %q, want %q", c.file, c.env, c.flags, got, want)
		}
	}
}

// TestOverruledIsReadAgain: a reload names the lines of the file as it is then.
func TestOverruledIsReadAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "settings")
	read := func(text string) *Config {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := load(t, []string{"REPRISE_MODE=semantic", "REPRISE_SETTINGS=" + path})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	first := read("REPRISE_TTL=1h\n")
	merged, changed, _, err := first.Reloaded(read("REPRISE_TTL=1h\nREPRISE_MODE=exact\n"))
	if err != nil || len(changed) > 0 || len(first.Overruled) > 0 || len(merged.Overruled) != 1 {
		t.Fatalf("%v, %v, %v, %v", changed, first.Overruled, merged.Overruled, err)
	}
	if again, _, _, err := merged.Reloaded(read("REPRISE_TTL=1h\n")); err != nil || len(again.Overruled) > 0 {
		t.Errorf("%v, %v", again.Overruled, err)
	}
}
