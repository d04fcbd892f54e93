package edits

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reprise/policy/reuse/normal"
)

// explained is how a pair is explained: the classes with a plus between them, "=" for equal forms, or "no".
func explained(stored, asked string) string {
	list, ok := Explain(normal.Of(stored), normal.Of(asked))
	if !ok {
		return "no"
	}
	var names []string
	for _, e := range list {
		names = append(names, e.Class.Name())
	}
	if len(names) == 0 {
		return "="
	}
	return strings.Join(names, "+")
}

// rows are the lines of a file of pairs, with their fields.
func rows(t testing.TB, path string) (all [][]string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	unescape := strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\t`, "\t")
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if line := lines.Text(); line != "" && line[0] != '#' {
			fields := strings.Split(line, "\t")
			for i := range fields {
				fields[i] = unescape.Replace(fields[i])
			}
			all = append(all, fields)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// templates are long texts in front of a prompt, as applications put them there.
func templates() []string {
	const line = "You are the assistant of a shop for garden tools. Answer the customer politely and name the page of the manual where that helps, but do not invent prices. "
	return []string{"", strings.Repeat(line, 2), strings.Repeat(line, 11) + "Question: "}
}

// TestDifferent reads pairs of different meaning: none may be explained, as it is or behind a template, in either direction.
func TestDifferent(t *testing.T) {
	for _, file := range []string{"different.tsv", "planted.tsv"} {
		for _, row := range rows(t, filepath.Join("..", "testdata", file)) {
			for i, template := range templates() {
				for _, p := range [][2]string{{row[1], row[2]}, {row[2], row[1]}} {
					if e := explained(template+p[0], template+p[1]); e != "no" && e != "=" {
						t.Errorf("%s: %s: template %d: %q, %q: explained by %s", file, row[0], i, p[0], p[1], e)
					}
				}
			}
		}
	}
}

// TestClasses reads, for each class, pairs that it explains, alone and behind a template, and pairs that are not explained.
func TestClasses(t *testing.T) {
	refused := map[string]int{}
	for _, row := range rows(t, filepath.Join("testdata", "classes.tsv")) {
		class, want, stored, asked := row[0], "no", row[2], row[3]
		if row[1] == "yes" {
			want = class
		} else {
			refused[class]++
		}
		for i, template := range templates() {
			if e := explained(template+stored, template+asked); e != want {
				t.Errorf("template %d: %q, %q: explained by %s, want %s", i, stored, asked, e, want)
			}
			if class == "why" {
				continue // it has a direction
			}
			if e := explained(template+asked, template+stored); e != want {
				t.Errorf("template %d: %q, %q: explained by %s, want %s", i, asked, stored, e, want)
			}
		}
	}
	for _, row := range Table[1:] {
		if refused[row.Name] < 10 {
			t.Errorf("class %s: %d pairs that are not explained, want 10", row.Name, refused[row.Name])
		}
	}
}
