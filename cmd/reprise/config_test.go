package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"reprise/cmd/internal/cli"
	"reprise/internal/built"
)

// mounted is a folder as Kubernetes mounts a ConfigMap: the file is a link through ..data, a link that is replaced.
type mounted struct {
	t       *testing.T
	folder  string
	version int
}

func mount(t *testing.T, text string) *mounted {
	m := &mounted{t: t, folder: t.TempDir()}
	m.swap(text)
	if err := os.Symlink(filepath.Join("..data", "reprise.yaml"), m.path()); err != nil {
		t.Fatal(err)
	}
	return m
}

func (m *mounted) path() string { return filepath.Join(m.folder, "reprise.yaml") }

// swap puts a text in place by the rename of a link.
func (m *mounted) swap(text string) {
	m.t.Helper()
	m.version++
	folder, link := fmt.Sprintf("..%d", m.version), filepath.Join(m.folder, "..data_tmp")
	for _, err := range []error{os.Mkdir(filepath.Join(m.folder, folder), 0o700), os.WriteFile(filepath.Join(m.folder, folder, "reprise.yaml"), []byte(text), 0o600),
		os.Symlink(folder, link), os.Rename(link, filepath.Join(m.folder, "..data"))} {
		if err != nil {
			m.t.Fatal(err)
		}
	}
}

// get returns the body of a path of the admin listener.
func (p *process) get(path string) string {
	p.t.Helper()
	return p.do(http.MethodGet, p.Admin+path, "").Body
}

// ruleOf is what GET /admin/config?request= shows: the rule and the value of one of its fields.
func (p *process) ruleOf(request, field string) string {
	p.t.Helper()
	var shown struct {
		Rule string
		Sets []struct{ Name, Value string }
	}
	text := p.get("/admin/config?request=" + url.QueryEscape(request))
	if err := json.Unmarshal([]byte(text), &shown); err != nil {
		p.t.Fatalf("%v: %s", err, text)
	}
	for _, s := range shown.Sets {
		if s.Name == field {
			return shown.Rule + "/" + s.Value
		}
	}
	return text
}

// becomes waits until a look at the process is as wanted.
func becomes(t *testing.T, want string, look func() string) {
	t.Helper()
	got := look()
	defer func() {
		if got != want {
			t.Logf("got %s, want %s", got, want)
		}
	}()
	built.Until(t, want, func() bool { got = look(); return got == want })
}

// again asks twice for a model, with a prompt of its own each time, and returns how the second request was answered.
func (p *process) again(model string) string {
	p.t.Helper()
	body := fmt.Sprintf(`{"model":%q,"messages":[{"role":"user","content":"What is %d?"}]}`, model, time.Now().UnixNano())
	p.ask(body).Body.Close()
	resp := p.ask(body)
	return resp.Header.Get("X-Cache")
}

// TestConfigFile: a process puts each change of its file in force, keeps what it has where the file is bad, and shows both.
func TestConfigFile(t *testing.T) {
	const rule = "rules:\n  - name: small models\n    match: {model: \"*-mini\"}\n    mode: "
	m := mount(t, rule+"exact\n")
	p := start(t, "REPRISE_STORE=memory", "REPRISE_UPSTREAM="+engineURL(t), "REPRISE_CONFIG="+m.path())
	mini := func() string { return p.ruleOf("model=gpt-4o-mini", "mode") }
	refused := func() string { return fmt.Sprint(p.metric("reprise_config_refused")) }
	inForce := func(rule, cache string) {
		t.Helper()
		becomes(t, rule, mini)
		if got := p.again("gpt-4o-mini"); got != cache {
			t.Errorf("under %s a repeat is %s, want %s", rule, got, cache)
		}
		if got := p.again("gpt-4o"); got != "exact" {
			t.Errorf("another model: a repeat is %s", got)
		}
	}
	inForce("small models/exact", "exact")

	m.swap(rule + "\"off\"\n")
	inForce("small models/off", "bypass")
	if line := p.waitFor("settings reloaded"); line["changed"] != "REPRISE_CONFIG (rules)" || line["need_restart"] != "none" {
		t.Errorf("%v", line)
	}

	m.swap(rule + "fast\n")
	becomes(t, "1", refused)
	inForce("small models/off", "bypass")
	line := p.waitFor("the settings cannot be used and were not reloaded; those from before stay in force")
	if err, _ := line["error"].(string); !strings.Contains(err, m.path()+`:4:11: rules[0].mode: "fast" is not allowed; allowed is semantic, exact, shadow or off`) {
		t.Errorf("%v", line)
	}

	m.swap(rule + "shadow\n    ttl: 1h\n")
	inForce("small models/shadow", "exact")
	becomes(t, "0", refused)
	if got := p.ruleOf(`{"model":"gpt-4o-mini","endpoint":"/v1/completions"}`, "ttl"); got != "small models/1h" {
		t.Error(got)
	}

	if err := os.Remove(m.path()); err != nil { // the file itself, and then one in its place
		t.Fatal(err)
	}
	becomes(t, "1", refused)
	inForce("small models/shadow", "exact")
	if err := os.WriteFile(m.path(), []byte("settings:\n  mode: 'off'\n"+rule+"exact\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	becomes(t, "small models/exact", mini)
	if a, b := p.again("gpt-4o-mini"), p.again("gpt-4o"); a != "exact" || b != "bypass" {
		t.Errorf("%s, %s", a, b)
	}
	becomes(t, "0", refused)
	p.Signal(syscall.SIGTERM)
	if code := p.end(); code != cli.ExitOK {
		t.Errorf("exit %d", code)
	}
	if n := strings.Count(p.Logs(), "were not reloaded"); n != 2 {
		t.Errorf("%d refusals are in the log, want one for each bad content:\n%s", n, p.Logs())
	}
}

// TestReadmeConfig: README's file is read, and its command shows what it says.
func TestReadmeConfig(t *testing.T) {
	text := regexp.MustCompile("(?s)```yaml\n(settings:.*?)```").FindStringSubmatch(documents(t)["docs/operations.md"])
	command := regexp.MustCompile(`--data-urlencode 'request=(\S+)' http://127.0.0.1:8081/admin/config`).FindStringSubmatch(documents(t)["docs/operations.md"])
	if text == nil || command == nil {
		t.Fatal("README has no such file or command")
	}
	p := start(t, "REPRISE_STORE=memory", "REPRISE_UPSTREAM=http://127.0.0.1:9/v1", "REPRISE_CONFIG="+mount(t, text[1]).path())
	for request, want := range map[string]string{
		command[1] + " ttl": "support bot/12h", command[1] + " mode": "support bot/semantic", "model=gpt-4o&tenant=sales mode": "/exact",
		"endpoint=/v1/responses&namespace=agents ttl": "agents/1h", "namespace=agents ttl": "/24h", "model=ft:gpt-4o:a mode": "experiments/off",
	} {
		request, field, _ := strings.Cut(request, " ")
		if got := p.ruleOf(request, field); got != want {
			t.Errorf("%s of %s is %s, want %s", field, request, got, want)
		}
	}
	for _, request := range []string{"models=a", "endpoint=/v1/files", `{"model":1}`, "model=a&model=b"} {
		if got := p.get("/admin/config?request=" + url.QueryEscape(request)); !strings.Contains(got, "allowed is a") {
			t.Errorf("%s: %s", request, got)
		}
	}
}

// TestSettingsWithoutEffect: the log names a line of the file that the environment overrules, at the start and at each reload.
func TestSettingsWithoutEffect(t *testing.T) {
	file := mount(t, "settings: {ttl: 1h}\n")
	p := start(t, "REPRISE_STORE=memory", "REPRISE_UPSTREAM=http://127.0.0.1:9/v1", "REPRISE_MODE=semantic", "REPRISE_TTL=2h", "REPRISE_CONFIG="+file.path())
	if text := p.Logs(); !strings.Contains(text, "REPRISE_TTL in "+file.path()+" has no effect: the environment sets another value, and wins") {
		t.Errorf("at the start: %s", text)
	}
	file.swap("settings: {mode: exact}\n")
	p.Signal(syscall.SIGHUP)
	if line := p.waitFor("REPRISE_MODE in " + file.path() + " has no effect: the environment sets another value, and wins"); line["level"] != "WARN" {
		t.Errorf("%v", line)
	}
}

// TestSettingsThatDoNotCome: a process that waits for a file of settings still ends.
func TestSettingsThatDoNotCome(t *testing.T) {
	settings := filepath.Join(t.TempDir(), "settings")
	if err := os.WriteFile(settings, []byte("settings: {ttl: 1h}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := start(t, "REPRISE_STORE=memory", "REPRISE_UPSTREAM=http://127.0.0.1:9/v1", "REPRISE_CONFIG="+settings)
	if err := os.Remove(settings); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(settings, 0o600); err != nil {
		t.Fatal(err)
	}
	p.Signal(syscall.SIGHUP)
	var pipe *os.File
	becomes(t, "<nil>", func() string {
		var err error
		pipe, err = os.OpenFile(settings, os.O_WRONLY|syscall.O_NONBLOCK, 0) // an error until it is read
		return fmt.Sprint(err)
	})
	defer pipe.Close()
	p.Signal(syscall.SIGTERM)
	if code := p.end(); code != cli.ExitOK {
		t.Errorf("exit %d", code)
	}
}
