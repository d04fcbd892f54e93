package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"reprise/cmd/reprise/internal/config"
	"reprise/internal/needs"
)

func readme(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestReadmeSession runs README's terminal session: the demo, and each curl with the headers shown below it.
func TestReadmeSession(t *testing.T) {
	needs.Program(t, "curl")
	session := regexp.MustCompile("(?s)```console\n(.*?)```").FindStringSubmatch(readme(t))
	if session == nil {
		t.Fatal("README has no terminal session")
	}
	api, _ := startDemo(t)
	commands := strings.Split(session[1], "\n$ ")[1:]
	if len(commands) != 2 {
		t.Fatalf("%d commands, want 2", len(commands))
	}
	for _, c := range commands {
		command, shown, _ := strings.Cut(c, "\n")
		out, err := exec.Command("sh", "-c", strings.ReplaceAll(command, "http://127.0.0.1:8080", api)).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", command, err, out)
		}
		got := strings.ReplaceAll(string(out), "\r", "")
		for line := range strings.Lines(shown) {
			line = regexp.MustCompile(`ttl=\d+`).ReplaceAllString(strings.TrimSpace(line), "ttl=")
			if !strings.Contains(regexp.MustCompile(`ttl=\d+`).ReplaceAllString(got, "ttl="), line) {
				t.Errorf("%s\nshows no %q:\n%s", command, line, got)
			}
		}
	}
}

// TestReadmeClients runs the two clients that README shows, curl and Python, against the demo in place of an API.
func TestReadmeClients(t *testing.T) {
	api, _ := startDemo(t)
	run := func(t *testing.T, c *exec.Cmd, want string) {
		t.Helper()
		c.Env = append(os.Environ(), "OPENAI_API_KEY=sk-of-the-reader", "http_proxy=")
		if out, err := c.CombinedOutput(); err != nil || !strings.Contains(string(out), want) {
			t.Errorf("%v, no %q in\n%s", err, want, out)
		}
	}
	block := func(t *testing.T, language, with string) string {
		t.Helper()
		for _, m := range regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllStringSubmatch(readme(t), -1) {
			if strings.Contains(m[1], with) {
				return strings.ReplaceAll(m[1], "http://127.0.0.1:8080", api)
			}
		}
		t.Fatalf("README has no %s with %s", language, with)
		return ""
	}
	t.Run("curl", func(t *testing.T) {
		needs.Program(t, "curl")
		run(t, exec.Command("sh", "-c", block(t, "sh", "$OPENAI_API_KEY")), `"choices"`)
	})
	t.Run("python", func(t *testing.T) {
		python := needs.Program(t, "python3")
		if exec.Command(python, "-c", "import openai").Run() != nil {
			needs.Missing(t, "python3", "the package openai of Python is not installed")
		}
		run(t, exec.Command(python, "-c", block(t, "python", "OpenAI(")), "exact") // curl has asked the same before, or it was a miss
	})
}

// TestRunningCommands runs the commands of docs/operations.md against a proxy with an admin token: each is answered.
func TestRunningCommands(t *testing.T) {
	needs.Program(t, "curl")
	text, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	p := start(t, "REPRISE_STORE=memory", "REPRISE_UPSTREAM=http://127.0.0.1:9/v1", "REPRISE_ADMIN_TOKEN=token-of-the-operator", "REPRISE_MODE=exact")
	commands := regexp.MustCompile(`(?m)^curl .*\$ADMIN.*$`).FindAllString(string(text), -1)
	if len(commands) < 6 {
		t.Fatalf("%d commands: the test reads the page wrongly", len(commands))
	}
	for _, command := range commands {
		c := exec.Command("sh", "-c", strings.Replace(command, "curl -s ", "curl -fsS ", 1))
		c.Env = append(os.Environ(), "ADMIN="+p.Admin, "TOKEN=token-of-the-operator")
		out, err := c.CombinedOutput()
		if err != nil || len(out) == 0 {
			t.Errorf("%s: %v\n%s", command, err, out)
		}
		if strings.Contains(command, "/admin/config") && !strings.Contains(string(out), `"source": "environment"`) {
			t.Errorf("%s shows no source:\n%s", command, out)
		}
		if strings.Contains(command, "/admin/purge") && strings.Contains(string(out), `"dry_run": true`) {
			t.Errorf("%s removes nothing:\n%s", command, out)
		}
	}
}

// TestReadmeNamesRealSettings: every variable in README is a setting or a variable of the tests.
func TestReadmeNamesRealSettings(t *testing.T) {
	known := map[string]bool{"REPRISE_DATA": true}
	l := config.NewLoader(false)
	cfg, err := l.Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range cfg.Effective() {
		known[v.Name] = true
	}
	for path, text := range documents(t) {
		if path == "docs/reference.md" { // which lists removed ones too, and is made from the code
			continue
		}
		for _, name := range regexp.MustCompile(`REPRISE_[A-Z_]+[A-Z]`).FindAllString(text, -1) {
			if !known[name] {
				t.Errorf("%s names %s, which is no setting", path, name)
			}
		}
	}
}

// documents are README and the pages of docs, by their paths.
func documents(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{"README.md": readme(t)}
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatal("no pages in docs: ", err)
	}
	for _, path := range pages {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all["docs/"+filepath.Base(path)] = string(text)
	}
	return all
}

// TestDocumentsAskTheAdminAPI: each command with curl that asks the admin API has an answer.
func TestDocumentsAskTheAdminAPI(t *testing.T) {
	needs.Program(t, "curl")
	api, admin := startDemo(t, "--mode", "shadow")
	asked := 0
	for path, text := range documents(t) {
		for _, command := range regexp.MustCompile(`(?m)^(?:\$ )?(curl -s '?http://127\.0\.0\.1:8081/.*)$`).FindAllStringSubmatch(text, -1) {
			command := strings.NewReplacer("curl -s", "curl -fsS", "http://127.0.0.1:8081", admin, "http://127.0.0.1:8080", api).Replace(command[1])
			if out, err := exec.Command("sh", "-c", command).CombinedOutput(); err != nil || len(out) == 0 {
				t.Errorf("%s: %s: %v\n%s", path, command, err, out)
			}
			asked++
		}
	}
	if asked < 8 {
		t.Errorf("only %d commands found", asked)
	}
}

// startDemo runs a short demo that stays up, and returns the URLs of its API and of its admin listener. Without an error rate nothing is
// explored, which is decided at random.
func startDemo(t *testing.T, flags ...string) (api, admin string) {
	t.Helper()
	_, output, before := demoProcess(t, "/admin/topics", append([]string{"--requests", "20", "--max-error-rate", "0"}, flags...)...)
	go io.Copy(io.Discard, output) // a full pipe would block the demo
	return between(t, before, "stays up at ", "/v1"), between(t, before, "page: ", "/\n")
}
