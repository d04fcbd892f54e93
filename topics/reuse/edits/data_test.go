package edits

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"reprise/internal/dataset"
	"reprise/topics/reuse/normal"
)

// data is the folder of public data.
func data(t *testing.T) string {
	dir := os.Getenv("REPRISE_DATA")
	if dir == "" {
		t.Skip("REPRISE_DATA is not set: the list is not measured")
	}
	return dir
}

// TestParaphrases counts the public pairs of one meaning, and of two, that are explained, by class. Of two meanings none may be.
func TestParaphrases(t *testing.T) {
	dir := data(t)
	for _, set := range []struct {
		file, a, b string
		same       bool
	}{
		{"clinc150_backtranslated", "a", "b", true},
		{"medical_triplets", "anchor", "positive", true},
		{"medical_triplets", "anchor", "negative", false},
		{"gptcache_mock", "origin", "similar", true},
	} {
		pairs, equal, by := 0, 0, map[string]int{}
		for row, err := range dataset.Rows[map[string]any](filepath.Join(dir, "paraphrase", set.file+".jsonl.gz")) {
			if err != nil {
				t.Fatal(err)
			}
			a, _ := row[set.a].(string)
			b, _ := row[set.b].(string)
			if a == b {
				continue
			}
			pairs++
			switch e := explained(a, b); e {
			case "no":
			case "=":
				equal++
			default:
				by[e]++
				t.Logf("%s: %q, %q", e, a, b)
				if !set.same {
					t.Errorf("%s: different pair explained by %s: %q, %q", set.file, e, a, b)
				}
			}
		}
		t.Logf("%s, %s and %s: %d pairs, %d equal forms, explained %v", set.file, set.a, set.b, pairs, equal, by)
	}
}

// TestIntents compares all utterances of a set that begin or end with the same word, and prints those of two intents that are explained.
func TestIntents(t *testing.T) {
	dir := data(t)
	for _, file := range []string{"clinc150", "banking77", "hwu64", "snips"} {
		type utterance struct {
			form   *normal.Form
			intent string
		}
		groups := map[string][]utterance{}
		seen := map[string]bool{}
		for row, err := range dataset.Rows[map[string]any](filepath.Join(dir, "intent", file+".jsonl.gz")) {
			if err != nil {
				t.Fatal(err)
			}
			text, _ := row["text"].(string)
			intent, _ := row["intent"].(string)
			u := utterance{normal.Of(text), intent}
			n := len(u.form.Tokens)
			if seen[text] || n == 0 {
				continue
			}
			seen[text] = true
			groups["^"+u.form.Tokens[0].Text] = append(groups["^"+u.form.Tokens[0].Text], u)
			groups["$"+u.form.Tokens[n-1].Text] = append(groups["$"+u.form.Tokens[n-1].Text], u)
		}
		pairs, same, other := 0, 0, 0
		for _, key := range slices.Sorted(maps.Keys(groups)) {
			for i, u := range groups[key] {
				for _, v := range groups[key][i+1:] {
					pairs++
					if key[0] == '$' && u.form.Tokens[0].Text == v.form.Tokens[0].Text {
						continue
					}
					list, ok := Explain(u.form, v.form)
					if !ok || len(list) == 0 {
						continue
					}
					if u.intent == v.intent {
						same++
						t.Logf("one intent, %s: %q, %q", list[0].Class.Name(), u.form.Prompt, v.form.Prompt)
					} else {
						other++
						t.Logf("TWO INTENTS %s, %s: %s: %q, %q", u.intent, v.intent, list[0].Class.Name(), u.form.Prompt, v.form.Prompt)
					}
				}
			}
		}
		t.Logf("%s: %d pairs, explained %d of one intent, %d of two", file, pairs, same, other)
	}
}
