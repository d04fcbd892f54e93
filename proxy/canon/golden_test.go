package canon_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reprise/proxy/canon"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestGolden notices a change of keys: stored answers would be lost by it.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden requests: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			body, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := dump(parse(t, familyOf(file), string(body)))
			golden := strings.TrimSuffix(file, ".json") + ".golden"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("got\n%swant\n%s", got, want)
			}
		})
	}
}

// familyOf reads the family from the first word of a file's name.
func familyOf(file string) canon.Family {
	name, _, _ := strings.Cut(filepath.Base(file), "-")
	for _, f := range families {
		if f.String() == name {
			return f
		}
	}
	panic("no family: " + file)
}

var families = []canon.Family{canon.Chat, canon.Completions, canon.Responses, canon.Embeddings}

func dump(r *canon.Request) string {
	var b strings.Builder
	fmt.Fprintf(&b, "model %q stream %v usage %v\n", r.Model, r.Stream, r.IncludeUsage)
	fmt.Fprintf(&b, "key %x\nscope %x\n", r.Key, r.Scope)
	fmt.Fprintf(&b, "prompt %q\nuncacheable %q exact only %q\n", r.Prompt, r.Uncacheable, r.ExactOnly)
	fmt.Fprintf(&b, "directive %+v\n", r.Directive)
	for _, t := range r.Turns {
		fmt.Fprintf(&b, "turn key %x\n     ask %x\n     answer %x\n     text %x\n", t.Key, t.Ask, t.Answer, t.AnswerText)
	}
	return b.String()
}
