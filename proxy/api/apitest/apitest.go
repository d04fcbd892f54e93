// Package apitest is the conformance suite of an API: its package calls [Run] with requests and answers as recorded.
package apitest

import (
	"os"
	"path/filepath"
	"testing"

	"reprise/proxy/answer"
	"reprise/proxy/api"
)

// Run checks f with the files in testdata/NAME of the calling package, NAME being that of f. requests/X.json is a request, and X.golden how
// it is read; answers/X.json, X.sse and X.ndjson are answers, and X.json.golden the other form of each, or why it has none. verdicts are those on the
// answers, by file name. With update the golden files are rewritten.
func Run(t *testing.T, f api.Family, update bool, verdicts map[string]answer.Verdict) {
	family := api.NewRegistry(f).Families()[0]
	t.Run("requests", func(t *testing.T) { testRequests(t, family, update) })
	x := suite{family, Answers(t, "testdata/"+f.Name), update}
	if len(x.answers) == 0 {
		t.Fatal("no answers in testdata")
	}
	t.Run("verdicts", func(t *testing.T) { x.testVerdicts(t, verdicts) })
	t.Run("cut anywhere", x.testCutAnywhere)
	t.Run("replay in the same form", x.testSameForm)
	t.Run("replay in the other form", x.testOtherForm)
	t.Run("ids that link", x.testLinks)
	if f.Answers.Streams != nil {
		t.Run("conversion is stable", x.testStable)
		t.Run("an object survives the stream", x.testObjectSurvives)
	}
	if f.UsageOption {
		t.Run("usage filter", x.testUsageFilter)
	}
}

// Answer is one recorded answer.
type Answer struct {
	Name        string // of its file
	Stream      bool
	ContentType string
	Body        []byte
}

// Answers returns the recorded answers below a folder such as testdata/chat.
func Answers(t testing.TB, dir string) (all []Answer) {
	t.Helper()
	for ext, contentType := range map[string]string{".json": "application/json", ".sse": "text/event-stream", ".ndjson": "application/x-ndjson"} {
		for _, path := range files(t, filepath.Join(dir, "answers/*"+ext)) {
			all = append(all, Answer{filepath.Base(path), ext != ".json", contentType, read(t, path)})
		}
	}
	return all
}

// Requests returns the recorded requests below a folder such as testdata/chat.
func Requests(t testing.TB, dir string) (bodies [][]byte) {
	t.Helper()
	for _, path := range files(t, filepath.Join(dir, "requests/*.json")) {
		bodies = append(bodies, read(t, path))
	}
	return bodies
}

func files(t testing.TB, pattern string) []string {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	body, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// golden compares got with a golden file, or writes it with update.
func golden(t *testing.T, path, got string, update bool) {
	t.Helper()
	if update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want := read(t, path); got != string(want) {
		t.Errorf("%s: got\n%s\nwant\n%s", path, got, want)
	}
}
