package normal

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reprise/internal/dataset"
)

// turns returns what users say in public dialogues below the folder that REPRISE_DATA names, by the name of the set.
func turns(t *testing.T) map[string][][]string {
	t.Helper()
	dir := os.Getenv("REPRISE_DATA")
	if dir == "" {
		t.Skip("REPRISE_DATA is not set: dialogues are not replayed")
	}
	sets := map[string][][]string{}
	for row, err := range dataset.Rows[struct{ Turns [][2]string }](filepath.Join(dir, "dialogue/sgd.jsonl.gz")) {
		if err != nil {
			t.Fatal(err)
		}
		var said []string
		for _, turn := range row.Turns {
			if turn[0] == "U" {
				said = append(said, turn[1])
			}
		}
		sets["sgd"] = append(sets["sgd"], said)
	}
	last := ""
	for row, err := range dataset.Rows[struct {
		QuAC_dialog_id, Question string
	}](filepath.Join(dir, "dialogue/canard.jsonl.gz")) {
		if err != nil {
			t.Fatal(err)
		}
		if row.QuAC_dialog_id != last {
			sets["canard"] = append(sets["canard"], nil)
		}
		last = row.QuAC_dialog_id
		all := sets["canard"]
		all[len(all)-1] = append(all[len(all)-1], row.Question)
	}
	for _, name := range []string{"evaluation_topics_v1.0", "2020_manual_evaluation_topics_v1.0"} {
		sets["cast"] = append(sets["cast"], cast(t, filepath.Join(dir, "dialogue/cast", name+".json.gz"))...)
	}
	return sets
}

func cast(t *testing.T, path string) (all [][]string) {
	t.Helper()
	var text strings.Builder
	for line, err := range dataset.Lines(path) {
		if err != nil {
			t.Fatal(err)
		}
		text.Write(line)
	}
	for _, topic := range castTopics(t, text.String()) {
		var said []string
		for _, turn := range topic.Turn {
			said = append(said, turn.Raw)
		}
		all = append(all, said)
	}
	return all
}

type castTopic struct {
	Turn []struct {
		Raw string `json:"raw_utterance"`
	}
}

func castTopics(t *testing.T, text string) (topics []castTopic) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &topics); err != nil {
		t.Fatal(err)
	}
	return topics
}

// frames are courtesy that people put around a turn, written for this test.
var around = []struct{ before, after string }{
	{"", " Thank you!"}, {"Quick question: ", ""}, {"Hi there! ", ""}, {"", " Thanks in advance."}, {"Hello, ", ""},
	{"", " Many thanks for your help!"}, {"Excuse me, ", ""}, {"Good evening. ", " Cheers!"}, {"Hey, ", " Thanks a lot!"},
	{"Sorry to bother you. ", ""}, {"", " Kind regards"}, {"I have a question. ", " Thank you very much."},
}

var contract = strings.NewReplacer(" do not ", " don't ", " does not ", " doesn't ", " is not ", " isn't ", " can not ", " can't ", " cannot ", " can't ",
	"I am ", "I'm ", "I would like", "I'd like", "I will ", "I'll ", "I have got ", "I've got ", "What is ", "What's ", "what is ", "what's ", "That is ", "That's ",
	"It is ", "It's ", " it is ", " it's ", "don't ", "do not ", "doesn't ", "does not ", "can't ", "cannot ", "I'm ", "I am ", "I'd like", "I would like",
	"I'll ", "I will ", "What's ", "What is ", "what's ", "what is ", "That's ", "That is ", "that's ", "that is ", "It's ", "It is ", "it's ", "it is ",
	"There's ", "There is ", "Where's ", "Where is ", "didn't ", "did not ", "isn't ", "is not ", "won't ", "will not ")

// polite adds please and turns contractions into words and words into contractions.
func polite(i int, turn string) string {
	turn = contract.Replace(turn)
	switch end := strings.TrimRight(turn, " .!?"); {
	case i%3 == 0:
		return "Please, " + strings.ToLower(turn[:1]) + turn[1:]
	case i%3 == 1 && len(end) < len(turn):
		return end + ", please" + turn[len(end):]
	}
	return strings.TrimRight(turn, " ") + " Please."
}

// TestDialogues replays dialogues, and reports the share of turns that keep their form, and of turns of which all turns before do, too: in
// a conversation, an answer that misses ends the hits behind it.
func TestDialogues(t *testing.T) {
	sets := turns(t)
	for _, way := range []struct {
		name  string
		want  float64 // the goal
		least float64 // what is reached in every set: the rest would be wrong elsewhere
		write func(i int, turn string) string
	}{
		{"lower case", 0.99, 0.98, func(_ int, turn string) string { return strings.ToLower(turn) }},
		{"please and contractions", 0.95, 0.90, polite},
		{"courtesy", 0.90, 0.90, func(i int, turn string) string {
			a := around[i%len(around)]
			return a.before + strings.TrimSpace(turn) + a.after
		}},
	} {
		for _, name := range []string{"sgd", "canard", "cast"} {
			all, same, chained, lost := 0, 0, 0, map[string]int{}
			for d, dialogue := range sets[name] {
				chain := true
				for i, turn := range dialogue {
					if strings.TrimSpace(turn) == "" {
						continue
					}
					all++
					written := way.write(d+i, turn)
					equal := Of(turn).Equal(Of(written))
					if equal {
						same++
					} else if lost[name]++; lost[name]%97 == 1 {
						t.Logf("%q\n  %s\n  %s", turn, state(Of(turn)), state(Of(written)))
					}
					if chain = chain && equal; chain {
						chained++
					}
				}
			}
			share := float64(same) / float64(all)
			t.Logf("%s, %s: %d turns, %.4f with one form (the goal is %.2f), %.4f with all before them", name, way.name, all, share, way.want, float64(chained)/float64(all))
			if share < way.least {
				t.Errorf("%s, %s: %.4f of turns have one form, want %.2f", name, way.name, share, way.least)
			}
		}
	}
}

// TestMerged reports how many turns and questions of the public data have the form of another that differs by more than letter case and
// marks, and lists some, to be read.
func TestMerged(t *testing.T) {
	dir := os.Getenv("REPRISE_DATA")
	if dir == "" {
		t.Skip("REPRISE_DATA is not set: merged turns are not listed")
	}
	bare := func(text string) string {
		return strings.Join(strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return strings.ContainsRune(" \n.,!?'’\"", r) }), " ")
	}
	first, seen := map[string]string{}, map[string]bool{}
	var pairs [][2]string
	err := dataset.UserTexts(dir, func(text string) {
		b := bare(text)
		if seen[b] {
			return
		}
		seen[b] = true
		form := string(Of(text).Append(nil))
		if other, ok := first[form]; ok {
			pairs = append(pairs, [2]string{other, text})
		} else {
			first[form] = text
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d texts, %d have the form of another", len(seen), len(pairs))
	for i := 0; i < len(pairs); i += max(len(pairs)/50, 1) {
		t.Logf("%q = %q", pairs[i][0], pairs[i][1])
	}
}
