package api_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"reprise/proxy/answer"
)

// readers write each line of JSON as they have understood it.
var readers = map[string][]string{
	"python3": {"-c", "import sys, json\nfor line in sys.stdin.buffer: print(json.dumps(json.loads(line)))"},
	"node":    {"-e", `require("fs").readFileSync(0, "utf8").split("\n").forEach(line => line && console.log(JSON.stringify(JSON.parse(line))))`},
}

// TestStrictAnswersAreReadAlike shows documents that may be kept to the JSON readers of clients.
func TestStrictAnswersAreReadAlike(t *testing.T) {
	lines := strictLines(t)
	for name, args := range readers {
		t.Run(name, func(t *testing.T) {
			if _, err := exec.LookPath(name); err != nil {
				t.Skip(err)
			}
			cmd := exec.Command(name, args...)
			cmd.Stdin = strings.NewReader(strings.Join(lines, "\n") + "\n")
			out, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			got := strings.Split(strings.TrimSpace(string(out)), "\n")
			if len(got) != len(lines) {
				t.Fatalf("%d lines of %d", len(got), len(lines))
			}
			for i := range lines {
				var here, there any
				if json.Unmarshal([]byte(lines[i]), &here) != nil || json.Unmarshal([]byte(got[i]), &there) != nil || !reflect.DeepEqual(here, there) {
					t.Errorf("%s is %s", lines[i], got[i])
				}
			}
		})
	}
}

// strictLines are the recorded answers, each event of a stream by itself, and odd ones that pass, each in one line.
func strictLines(t *testing.T) (lines []string) {
	t.Helper()
	add := func(document []byte) {
		var flat bytes.Buffer
		if strict(false, document) && json.Compact(&flat, document) == nil {
			lines = append(lines, flat.String())
		}
	}
	files, _ := filepath.Glob("*/testdata/*/answers/*")
	for _, f := range files {
		body, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Ext(f) == ".json" {
			add(body)
			continue
		}
		for ev := range answer.EventsOf(body).All() {
			add(ev.Data)
		}
	}
	for _, odd := range []string{`"\u0000\u001f\u2028\u2029\u007f"`, `"\ud83d\ude00 😀"`, `"\/\b\f\n\r\t\"\\"`, `["",null,true,1e308,-0,0.1,5e-324,9007199254740991]`,
		`{"":1," ":2,"a":{"a":{"a":1}},"__proto__x":3,"Größe":4,"größe":5}`} {
		add([]byte(chatAnswer(odd)))
	}
	if len(lines) < 30 {
		t.Errorf("%d documents were found", len(lines))
	}
	return lines
}
