package clienttest

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"reprise/internal/needs"
)

// node runs the scenarios of one module of folder node.
func node(module string) func(*testing.T, string, []string) map[string]any {
	return func(t *testing.T, site string, scenarios []string) map[string]any {
		t.Helper()
		return nodeAt(t, module, []string{site}, scenarios)[0]
	}
}

// nodeAt runs them at several sites, one after the other.
func nodeAt(t *testing.T, module string, sites, scenarios []string) []map[string]any {
	t.Helper()
	return scripted(t, len(sites), nil, append([]string{"node", nodeRunner(t), module, strings.Join(sites, ",")}, scenarios...)...)
}

// scripted runs a command that prints the results of scenarios at so many sites, with more variables in its environment.
func scripted(t *testing.T, sites int, env []string, command ...string) []map[string]any {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute) // bounds a hang; it is no measure of speed
	defer cancel()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Env = append(os.Environ(), env...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s%s", strings.Join(command, " "), err, out, &stderr)
	}
	return results(t, sites, out)
}

// results parses the output of a runner: a line for each scenario at each site.
func results(t *testing.T, sites int, out []byte) []map[string]any {
	t.Helper()
	got := make([]map[string]any, sites)
	for i := range got {
		got[i] = map[string]any{}
	}
	for dec := json.NewDecoder(bytes.NewReader(out)); dec.More(); {
		var line struct {
			Site            int
			Scenario, Error string
			Result          any
		}
		if err := dec.Decode(&line); err != nil {
			t.Fatalf("read the runner's output: %v", err)
		}
		if line.Error != "" {
			t.Errorf("%s, site %d: %s", line.Scenario, line.Site, line.Error)
		}
		got[line.Site][line.Scenario] = line.Result
	}
	return got
}

// nodeRunner is the path of the runner, beside installed packages. Without node or packages the test is skipped, unless
// REPRISE_TEST_REQUIRE names node.
func nodeRunner(t *testing.T) string {
	t.Helper()
	needs.Program(t, "node")
	modules := os.Getenv("REPRISE_NODE_MODULES")
	if modules == "" {
		modules = filepath.Join("node", "node_modules")
	}
	for _, pkg := range []string{"openai", "ai", "@ai-sdk/openai", "@mastra/core"} {
		if _, err := os.Stat(filepath.Join(modules, pkg, "package.json")); err != nil {
			needs.Missing(t, "node", "node_modules not installed: run npm ci in proxy/clienttest/node")
		}
	}
	return besides(t, modules)
}

// besides copies the runner next to the installed packages, unless it is there: node searches for packages in the folders
// above a script.
func besides(t *testing.T, modules string) string {
	t.Helper()
	if os.Getenv("REPRISE_NODE_MODULES") == "" {
		return filepath.Join("node", "runner.mjs")
	}
	dir := t.TempDir()
	target, err := filepath.Abs(modules)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	scripts, err := filepath.Glob(filepath.Join("node", "*.mjs"))
	if err != nil {
		t.Fatal(err)
	}
	for _, script := range scripts {
		b, err := os.ReadFile(script)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, filepath.Base(script)), b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "runner.mjs")
}
