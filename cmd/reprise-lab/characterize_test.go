package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reprise/cmd/internal/cli"
	"reprise/cmd/reprise-lab/sim/blocks/profile"
)

// twoChats writes requests of two conversations in the format blocks, and returns the path.
func twoChats(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "chats.jsonl")
	text := `{"format":"blocks","block_size":16}
{"at":0,"prompt":48,"answer":5,"blocks":[1,2,3],"session":1,"kind":"chat"}
{"at":10,"prompt":48,"answer":5,"blocks":[1,2,9],"session":2,"kind":"chat"}
{"at":20,"prompt":64,"answer":5,"blocks":[1,2,3,4],"session":1,"turn":2,"kind":"chat"}
`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestCharacterize: text, page and JSON have the same figures: 5 of 10 blocks were there before.
func TestCharacterize(t *testing.T) {
	path := twoChats(t)
	page, out := runReport(t, "characterize", "--trace", path, "--window", "10s")
	for _, want := range []string{"50.0 %", "Ideal hit ratio", "chats.jsonl: 3 requests in 20 s", "2 conversations", "Windows are of 10 s"} {
		if !strings.Contains(page, want) || !strings.Contains(out, want) {
			t.Errorf("no %q in the page or the output:\n%s", want, out)
		}
	}
	if !strings.Contains(page, "reprise-lab characterize --html report.html --trace "+path+" --window 10s") {
		t.Errorf("the command is not in the page")
	}
	lines, messages, code := run("characterize", "--trace", path+",generate:qwen-b:requests=500", "--json", "--sample", "0.01")
	if code != cli.ExitOK {
		t.Fatalf("exit %d: %s", code, messages)
	}
	var all []profile.Profile
	for text := range strings.Lines(lines) {
		var p profile.Profile
		if err := json.Unmarshal([]byte(text), &p); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		all = append(all, p)
	}
	if len(all) != 2 || all[0].HitRatio != 0.5 || all[0].Generated || !all[1].Generated || all[1].Requests != 500 || all[0].Turns == nil {
		t.Errorf("%+v", all)
	}
}

// TestCharacterizeBytesPerToken: capacities in bytes are those of the given model.
func TestCharacterizeBytesPerToken(t *testing.T) {
	path := writeBlocks(t)
	if out, _, code := run("characterize", "--trace", path, "--bytes-per-token", "327680"); code != cli.ExitOK || !strings.Contains(out, "GiB at 320 KiB a") {
		t.Errorf("exit %d: %s", code, out)
	}
	if _, messages, code := run("characterize", "--trace", path, "--bytes-per-token", "0"); code != cli.ExitUsage || !strings.Contains(messages, "--bytes-per-token 0: want 1 or more") {
		t.Errorf("exit %d: %s", code, messages)
	}
}
