package clienttest

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"reprise/internal/needs"
)

// libraries are the modules of folder python. Those that don't work with the newest version of OpenAI's library have packages of their own.
var libraries = []framework{
	{name: "litellm"}, {name: "agents"}, {name: "langchain"}, {name: "langgraph"}, {name: "llamaindex", packages: "openai2"}, {name: "anthropic"}, {name: "dspy"}, {name: "pydanticai"},
	{name: "instructor", packages: "openai2"}, {name: "haystack"}, {name: "smolagents"}, {name: "openai"}, {name: "openai2", packages: "openai2"}, {name: "gemini"},
}

// TestPythonLibraries is TestFrameworks for Python, where other interpreters, which order sets otherwise, run after the restart.
func TestPythonLibraries(t *testing.T) {
	python := pythonWithPackages(t)
	compareFrameworks(t, libraries, func(t *testing.T, f framework, sites []string) []map[string]any {
		packages := "PYTHONPATH=" + filepath.Join("python", "packages", cmp.Or(f.packages, "current"))
		return scripted(t, len(sites), []string{packages, "PYTHONDONTWRITEBYTECODE="}, append([]string{python, filepath.Join("python", "runner.py"), f.name, strings.Join(sites, ",")}, f.scenarios...)...)
	})
}

// pythonWithPackages returns the path of an interpreter that the packages support. Without it or them the test is skipped, unless
// REPRISE_TEST_REQUIRE names python.
func pythonWithPackages(t *testing.T) string {
	t.Helper()
	python := needs.Program(t, "python3")
	if exec.Command(python, "-c", "import sys; sys.exit(sys.version_info < (3, 10))").Run() != nil {
		needs.Missing(t, "python3", "python3 is older than 3.10")
	}
	for _, library := range []string{"current/openai", "openai2/llama_index"} {
		if _, err := os.Stat(filepath.Join("python", "packages", library)); err != nil {
			needs.Missing(t, "python3", "packages not installed: run proxy/clienttest/python/install")
		}
	}
	return python
}
