package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"reprise/cmd/internal/cli"
	"reprise/cmd/reprise/internal/demo"
	"reprise/internal/needs"
)

// free are the flags of a demo on free ports.
var free = []string{"--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0"}

// playJSON runs a demo and returns its one object.
func playJSON(t *testing.T, args ...string) (sum demo.Summary, talk string) {
	t.Helper()
	out, talk, code := run(nil, append(append([]string{"demo", "--json"}, free...), args...)...)
	if code != cli.ExitOK {
		t.Fatalf("exit %d: %s", code, talk)
	}
	d := json.NewDecoder(strings.NewReader(out))
	d.DisallowUnknownFields()
	if err := d.Decode(&sum); err != nil || d.More() {
		t.Fatalf("want exactly one object on the output, got %q: %v", out, err)
	}
	return sum, talk
}

func balance(s demo.Summary) int64 {
	return s.Exact + s.Semantic + s.Shared + s.Stale + s.Bypass + s.Misses
}

func TestDemo(t *testing.T) {
	s, talk := playJSON(t, "--requests", "250", "--capacity", "40", "--concurrency", "16")
	if s.Requests != 250 || balance(s) != s.Requests {
		t.Errorf("the counts do not add up: %+v\n%s", s, talk)
	}
	if s.Exact == 0 || s.Semantic == 0 || s.Misses == 0 || s.Stored == 0 || s.Evictions == 0 || s.Topics == 0 || s.TokensSaved == 0 ||
		s.UpstreamSecondsSaved <= 0 || s.Seconds <= 0 {
		t.Errorf("want some of everything: %+v", s)
	}
	if s.Currency != "USD" || s.CostSaved <= 0 || s.CostSpent <= 0 {
		t.Errorf("no money: %+v", s)
	}
	if s.Stored-s.Evictions > 40 {
		t.Errorf("more was kept than the capacity: %+v", s)
	}
}

// TestDemoInput plays files of each format of conversations and compares figures that are known in advance.
func TestDemoInput(t *testing.T) {
	for _, c := range []struct {
		name, file                              string
		requests, exact, semantic, miss, bypass int64
	}{
		// The second conversation equals the first one; the third differs in case, which no scope trusts yet; the fourth has another second turn.
		{"sgd", `{"turns":[["U","Where is the station?"],["S","There."],["U","And the bus stop?"]]}
{"turns":[["U","Where is the station?"],["S","There."],["U","And the bus stop?"]]}
{"turns":[["U","where is the station"]]}
{"turns":[["U","Which train goes to the sea?"],["U","And the bus stop?"]]}
`, 7, 2, 0, 5, 0},
		// The part that branches share is asked once.
		{"oasst", `{"idx":0,"tree":0,"parent_idx":null,"role":"prompter","text":"Tell me of whales."}
{"idx":1,"tree":0,"parent_idx":0,"role":"assistant","text":"They sing."}
{"idx":2,"tree":0,"parent_idx":1,"role":"prompter","text":"Why do they?"}
{"idx":3,"tree":0,"parent_idx":1,"role":"prompter","text":"Where do they live?"}
{"idx":4,"tree":0,"parent_idx":1,"role":"prompter","text":"Why do they?"}
`, 4, 1, 0, 3, 0},
		{"bodies", `{"model":"any","messages":[{"role":"user","content":"Hello there, proxy."}]}
{"messages":[{"content":"Hello there, proxy.","role":"user"}],"model":"any"}
{"model":"any","n":2,"messages":[{"role":"user","content":"Hello there, proxy."}]}
`, 3, 1, 0, 1, 1},
	} {
		path := filepath.Join(t.TempDir(), c.name)
		if err := os.WriteFile(path, []byte(c.file), 0o600); err != nil {
			t.Fatal(err)
		}
		s, talk := playJSON(t, "--input", path, "--concurrency", "1", "--stream-every", "2")
		if s.Requests != c.requests || s.Exact != c.exact || s.Semantic != c.semantic || s.Misses != c.miss || s.Bypass != c.bypass {
			t.Errorf("%s: %+v\n%s", c.name, s, talk)
		}
		if s.Currency != "" {
			t.Errorf("%s: money in %s, though there are no prices for its models", c.name, s.Currency)
		}
	}
}

// TestDemoTakesOtherPrices: prices of the user go before those of the demo.
func TestDemoTakesOtherPrices(t *testing.T) {
	path := filepath.Join(t.TempDir(), "prices.yaml")
	if err := os.WriteFile(path, []byte("currency: EUR\nprices:\n  - {model: gpt-*, input: 1, output: 2}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, talk, code := run([]string{"REPRISE_PRICES=" + path}, append([]string{"demo", "--exit", "--requests", "40"}, free...)...)
	if code != cli.ExitOK || !strings.Contains(out, " EUR)") || strings.Contains(out, "deploy/prices.example.yaml") {
		t.Errorf("exit %d\n%s\n%s", code, out, talk)
	}
}

func TestDemoText(t *testing.T) {
	out, talk, code := run([]string{"REPRISE_MODE=exact"}, append([]string{"demo", "--exit", "--requests", "60"}, free...)...)
	if code != cli.ExitOK || !strings.Contains(out, "asked before in the same words") || !strings.Contains(out, "deploy/prices.example.yaml") || !strings.Contains(talk, "(exact, rac+, 150 entries)") {
		t.Errorf("exit %d\n%s\n%s", code, out, talk)
	}
}

// TestDemoExplains runs the command for explain in docs/tuning.md, whose token is not set in a demo.
func TestDemoExplains(t *testing.T) {
	needs.Program(t, "curl")
	page, err := os.ReadFile("../../docs/tuning.md")
	if err != nil {
		t.Fatal(err)
	}
	command := regexp.MustCompile(`(?s)curl -s http://127\.0\.0\.1:8080/v1/reprise/explain .*?]}'`).FindString(string(page))
	api, _ := startDemo(t)
	out, err := exec.Command("sh", "-c", strings.ReplaceAll(command, "http://127.0.0.1:8080", api)).CombinedOutput()
	if err != nil || command == "" || !strings.Contains(string(out), `"candidates"`) {
		t.Errorf("%s: %v\n%s", command, err, out)
	}
}

func TestDemoReportsSkippedRecords(t *testing.T) {
	path := filepath.Join(t.TempDir(), "in")
	if err := os.WriteFile(path, []byte(`{"messages":[{"role":"user","content":"hi"}]}`+"\n"+`{"messages":`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, talk := playJSON(t, "--input", path)
	if s.Requests != 1 || balance(s) != 0 || !strings.Contains(talk, "1 requests were answered with an error") ||
		!strings.Contains(talk, "1 records were left out") || !strings.Contains(talk, "line 2") {
		t.Errorf("%+v\n%s", s, talk)
	}
}

// TestQuoted: a quoted prompt can be put between single quotes in a shell.
func TestQuoted(t *testing.T) {
	if got, want := quoted("what's \"up\"\n"), `"what\u0027s \"up\"\n"`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestDemoLeavesTheStoreAlone: simulated answers are not written to the store of the environment.
func TestDemoLeavesTheStoreAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "real.db")
	_, talk, code := run([]string{"REPRISE_STORE=file:" + path}, append([]string{"demo", "--json", "--requests", "20"}, free...)...)
	if code != cli.ExitOK {
		t.Fatalf("exit %d: %s", code, talk)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("the demo wrote into the store of the environment")
	}
}
