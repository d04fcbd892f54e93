package reuse_test

import (
	"cmp"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"reprise/internal/dataset"
	"reprise/topics/reuse/edits"
	"reprise/topics/reuse/normal"
)

// labelled is a set of prompts with one answer, and a label: sets with one label are near each other.
type labelled struct {
	label string
	texts []string
}

// worldOf makes classes of sets, and a group of each label. Sets of one label that the normal form calls equal, or the list explains in both
// directions, become one class: their authors wrote the same question twice, and the labels do not say so. Across labels only sets with an
// equal text are joined.
func worldOf(name string, sets []labelled) *world {
	slices.SortStableFunc(sets, func(a, b labelled) int { return cmp.Compare(a.label, b.label) })
	var classes [][]string
	var groups []int
	var forms [][]*normal.Form
	group, start, classOf := -1, 0, map[string]int{}
	for i, set := range sets {
		if i == 0 || sets[i-1].label != set.label {
			group, start = group+1, len(classes)
		}
		var own []*normal.Form
		for _, text := range set.texts {
			own = append(own, normal.Of(text))
		}
		into := len(classes)
		for _, text := range set.texts {
			if class, ok := classOf[text]; ok {
				into = class
			}
		}
		for class := start; class < len(classes); class++ {
			if same(own, forms[class]) {
				into = class
			}
		}
		if into == len(classes) {
			classes, groups, forms = append(classes, nil), append(groups, group), append(forms, nil)
		}
		forms[into] = append(forms[into], own...)
		for _, text := range set.texts {
			classOf[text] = into
			for _, decorate := range decorations {
				classes[into] = append(classes[into], decorate(text))
			}
		}
	}
	return newWorld(name, classes, groups)
}

func same(a, b []*normal.Form) bool {
	for _, f := range a {
		for _, g := range b {
			_, there := edits.Explain(f, g)
			_, back := edits.Explain(g, f)
			if there && back {
				return true
			}
		}
	}
	return false
}

// rows reads a file of the data.
func rows[T any](t *testing.T, path ...string) (all []T) {
	t.Helper()
	for row, err := range dataset.Rows[T](filepath.Join(append([]string{os.Getenv("REPRISE_DATA")}, path...)...)) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, row)
	}
	return all
}

// sample draws at most n sets of each label.
func sample(sets []labelled, n int) (drawn []labelled) {
	rng := rand.New(rand.NewPCG(31, 31))
	rng.Shuffle(len(sets), func(i, j int) { sets[i], sets[j] = sets[j], sets[i] })
	of := map[string]int{}
	for _, s := range sets {
		if of[s.label]++; of[s.label] <= n {
			drawn = append(drawn, s)
		}
	}
	return drawn
}

// backTranslated are utterances of CLINC150 with their back-translations, by intent.
func backTranslated(t *testing.T) (sets []labelled) {
	intents := map[string]string{}
	for _, row := range rows[struct{ Text, Intent string }](t, "intent", "clinc150.jsonl.gz") {
		intents[row.Text] = row.Intent
	}
	for _, row := range rows[struct{ A, B string }](t, "paraphrase", "clinc150_backtranslated.jsonl.gz") {
		sets = append(sets, labelled{intents[row.A], []string{row.A, row.B}})
	}
	return sample(sets, 8)
}

// intents are utterances, each a class of its own.
func intents(file string) func(*testing.T) []labelled {
	return func(t *testing.T) (sets []labelled) {
		for _, row := range rows[struct{ Text, Intent string }](t, "intent", file) {
			sets = append(sets, labelled{row.Intent, []string{row.Text}})
		}
		return sample(sets, 12)
	}
}

func medical(t *testing.T) (sets []labelled) {
	seen := map[string]bool{}
	for _, row := range rows[struct{ Anchor, Positive, Negative, Specialty string }](t, "paraphrase", "medical_triplets.jsonl.gz") {
		if !seen[row.Anchor] {
			sets = append(sets, labelled{row.Specialty, []string{row.Anchor, row.Positive}})
		}
		if !seen[row.Negative] {
			sets = append(sets, labelled{row.Specialty, []string{row.Negative}})
		}
		seen[row.Anchor], seen[row.Negative] = true, true
	}
	return sets
}

func rewrites(t *testing.T) (sets []labelled) {
	for i, row := range rows[struct{ Origin, Similar string }](t, "paraphrase", "gptcache_mock.jsonl.gz") {
		sets = append(sets, labelled{string(rune('a' + i/40)), []string{row.Origin, row.Similar}})
	}
	return sets
}

// turns are questions of users, of six words or more, by service.
func turns(t *testing.T) (sets []labelled) {
	seen := map[string]bool{}
	for _, row := range rows[struct {
		Services []string
		Turns    [][2]string
	}](t, "dialogue", "sgd.jsonl.gz") {
		for _, turn := range row.Turns {
			if text := turn[1]; turn[0] == "U" && len(strings.Fields(text)) >= 6 && strings.Contains(text, "?") && !seen[text] {
				seen[text] = true
				sets = append(sets, labelled{row.Services[0], []string{text}})
			}
		}
	}
	return sample(sets, 30)
}

// TestErrorsOnData answers streams made of public data below the folder that REPRISE_DATA names, with the built-in embedder and with
// simulated ones, whose comparator makes errors in one case.
//
//	REPRISE_DATA=DIR go test ./topics/reuse -run ErrorsOnData -v | grep SUM
func TestErrorsOnData(t *testing.T) {
	if os.Getenv("REPRISE_DATA") == "" {
		t.Skip("REPRISE_DATA is not set: no stream is answered")
	}
	for _, of := range []struct {
		name string
		sets func(*testing.T) []labelled
	}{
		{"clinc150 back-translated", backTranslated}, {"banking77", intents("banking77.jsonl.gz")}, {"hwu64", intents("hwu64.jsonl.gz")},
		{"medical", medical}, {"gptcache", rewrites}, {"sgd", turns},
	} {
		w := worldOf(of.name, of.sets(t))
		t.Logf("%s: %d prompts of %d classes", of.name, len(w.questions), len(w.byClass))
		const n, seeds = 3000, 5
		if !w.online(t, "built-in", setting{words: true, gate: 0.6, compare: oracle}, nil, n, seeds) {
			t.Errorf("%s, built-in: the error is over 1.5 δ", of.name)
		}
		for i := range qualities {
			q := &qualities[i]
			ok := w.online(t, q.name, setting{gate: simulatedGate, compare: oracle}, q, n, seeds)
			if !ok && q.name != "bad" {
				t.Errorf("%s, %s: the error is over 1.5 δ", of.name, q.name)
			}
		}
		for i := range qualities {
			q := &qualities[i]
			if !w.online(t, q.name+", erring", setting{gate: simulatedGate, compare: erring}, q, n, seeds) && q.name != "bad" {
				t.Errorf("%s, %s, erring: the error is over 1.5 δ", of.name, q.name)
			}
		}
	}
}
