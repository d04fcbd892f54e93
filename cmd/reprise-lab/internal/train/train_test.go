package train

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"reprise/cmd/internal/cli/clitest"
	"reprise/cmd/reprise-lab/sim/blocks/files"
	"reprise/embed"
	"reprise/internal/traffic"
	"reprise/proxy/continuation"
)

// dialogues writes a file of conversations of up to four turns. goesOn decides after each prompt.
func dialogues(t *testing.T, n int, prompt func(*rand.Rand) string, goesOn func(string, *rand.Rand) bool) string {
	t.Helper()
	rng := rand.New(rand.NewPCG(9, 10))
	var b strings.Builder
	for i := range n {
		b.WriteString(`{"turns":[`)
		for turn := range 4 {
			text := prompt(rng)
			if turn > 0 {
				b.WriteString(",")
			}
			fmt.Fprintf(&b, `["U","%s %d"],["S","yes"]`, text, i)
			if !goesOn(text, rng) {
				break
			}
		}
		b.WriteString("]}\n")
	}
	path := filepath.Join(t.TempDir(), "talks.jsonl")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

var things = []string{"invoice", "passport", "bicycle", "contract", "garden", "engine"}

func ask(rng *rand.Rand) string {
	thing := things[rng.IntN(len(things))]
	if rng.IntN(2) == 0 {
		return "thanks, goodbye about the " + thing
	}
	return "what else is there about the " + thing
}

func run(t *testing.T, path string, o Options) (*Set, *Result) {
	t.Helper()
	s, err := Read(context.Background(), []string{path}, 1)
	if err != nil {
		t.Fatal(err)
	}
	o.Embedder, o.Seed = embed.NewBuiltin(), 1
	r, err := Run(context.Background(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	return s, r
}

// TestLearnsText: whether a conversation goes on is in the words.
func TestLearnsText(t *testing.T) {
	path := dialogues(t, 800, ask, func(text string, _ *rand.Rand) bool { return strings.HasPrefix(text, "what else") })
	_, r := run(t, path, Options{})
	// The fourth turn is the last one, whatever its words are.
	if got := r.Sources[0]; got.Model.MCC < 0.9 || got.Model.MCC < got.Turns.MCC+0.2 || got.Model.Brier > 0.05 {
		t.Errorf("model %+v\nturns %+v", got.Model, got.Turns)
	}
}

// TestLearnsNothing: where chance decides, predictions are the share of what goes on.
func TestLearnsNothing(t *testing.T) {
	path := clitest.Write(t, "talks.jsonl", memoryless(1200))
	_, r := run(t, path, Options{})
	got := r.Sources[0]
	if math.Abs(got.Model.MCC) > 0.08 || math.Abs(got.Model.Brier-got.Model.BrierBase) > 0.01 {
		t.Errorf("model %+v", got.Model)
	}
	for _, b := range got.Reliability {
		if b.Examples > 50 && math.Abs(b.P-got.Model.GoesOn) > 0.08 {
			t.Errorf("bin %+v, base rate %v", b, got.Model.GoesOn)
		}
	}
}

// memoryless are conversations that go on after each turn with the same probability.
func memoryless(n int) string {
	rng := rand.New(rand.NewPCG(11, 12))
	var b strings.Builder
	for i := range n {
		b.WriteString(`{"turns":[`)
		for turn := 0; turn == 0 || rng.IntN(5) < 3; turn++ {
			if turn > 0 {
				b.WriteString(",")
			}
			fmt.Fprintf(&b, `["U","%s %d"]`, ask(rng), i)
		}
		b.WriteString("]}\n")
	}
	return b.String()
}

// TestEqualRuns: two runs make the same bytes, and the number of workers does not matter.
func TestEqualRuns(t *testing.T) {
	path := dialogues(t, 200, ask, func(_ string, rng *rand.Rand) bool { return rng.IntN(2) == 0 })
	var models [][]byte
	var results []*Result
	for _, workers := range []int{1, 3} {
		_, r := run(t, path, Options{Ablations: true, Workers: workers})
		b, err := r.Model.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		models, results = append(models, b), append(results, r)
	}
	results[0].Model, results[1].Model = nil, nil
	if !bytes.Equal(models[0], models[1]) || !reflect.DeepEqual(results[0], results[1]) {
		t.Error("two runs differ")
	}
}

// TestModelPredictsAsMeasured: the file gives the probabilities of the report.
func TestModelPredictsAsMeasured(t *testing.T) {
	path := dialogues(t, 300, ask, func(text string, _ *rand.Rand) bool { return strings.HasPrefix(text, "what else") })
	s, r := run(t, path, Options{})
	b, err := r.Model.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	m, err := continuation.Load(b)
	if err != nil {
		t.Fatal(err)
	}
	p, err := NewPredictor(m, embed.NewBuiltin())
	if err != nil {
		t.Fatal(err)
	}
	var predicted []float64
	d := &data{set: s, which: s.pick(heldOutPart, all)}
	for _, e := range d.which {
		d.goesOn = append(d.goesOn, s.examples[e].GoesOn)
		if !p.HeldOut(s.examples[e].Prompts[0]) && s.examples[e].Turn == 1 {
			t.Fatalf("%q is not held out", s.examples[e].Prompts[0])
		}
		predicted = append(predicted, p.Predict(s.examples[e].Prompts, s.examples[e].Turn))
	}
	if got := scoreOf(predicted, d, m.Form().Threshold); math.Abs(got.Brier-r.Sources[0].Model.Brier) > 1e-6 || got.MCC != r.Sources[0].Model.MCC {
		t.Errorf("the file has %+v, the report %+v", got, r.Sources[0].Model)
	}
}

// TestFair: a replay with predictions has only conversations that training has not seen, whole.
func TestFair(t *testing.T) {
	path := dialogues(t, 300, ask, func(text string, _ *rand.Rand) bool { return strings.HasPrefix(text, "what else") })
	s, r := run(t, path, Options{})
	p, err := NewPredictor(r.Model, embed.NewBuiltin())
	if err != nil {
		t.Fatal(err)
	}
	whole, err := files.Open(path, files.SGD, files.Options{Tokens: 4, Seed: 1, Predict: p.Hook})
	if err != nil {
		t.Fatal(err)
	}
	fair := Fair(whole)
	if want := len(s.pick(heldOutPart, all)); len(fair.Requests) != want || len(whole.Requests) != len(s.examples) {
		t.Errorf("%d of %d requests, want %d", len(fair.Requests), len(whole.Requests), want)
	}
	for i, r := range fair.Requests {
		if r.Prob <= 0 || r.Prob >= 1 || (r.After > 0) != (r.Turn > 1) || r.After > 0 && fair.Requests[r.After-1].Session != r.Session {
			t.Fatalf("request %d: %+v", i, r)
		}
	}
	if p.Err() != nil {
		t.Error(p.Err())
	}
}

func TestReadRefuses(t *testing.T) {
	one := strings.Repeat(`{"turns":[["U","a single question"]]}`+"\n", 50)
	for _, c := range []struct{ name, text, want string }{
		{"one label", one, "50 end them"},
		{"no conversations", `{"a":1}`, "no known format"},
	} {
		_, err := Read(context.Background(), []string{clitest.Write(t, "talks.jsonl", c.text)}, 1)
		if err == nil || !strings.Contains(err.Error(), c.want) && !errors.Is(err, ErrNoExamples) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if _, err := Read(context.Background(), []string{"no-such-file"}, 1); err == nil {
		t.Error("a file that is not there is read")
	}
}

// TestExamples: every turn of a tree is an example; it goes on if any branch does.
func TestExamples(t *testing.T) {
	c := &traffic.Conversation{Turns: []traffic.Turn{{Text: "q", Parent: -1, Answer: "a"}, {Text: "left", Parent: 0}, {Text: "right", Parent: 0}, {Text: "deep", Parent: 2}}}
	var got []string
	for _, e := range examplesOf(c) {
		got = append(got, fmt.Sprintf("%d %v %s %d", e.Turn, e.GoesOn, strings.Join(e.Prompts, ">"), len(e.Answers)))
	}
	want := []string{"1 true q 1", "2 false q>left 2", "2 true q>right 2", "3 false q>right>deep 3"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

// TestChats: a log of chat requests repeats the turns before each; they are one tree.
func TestChats(t *testing.T) {
	var log chats
	for _, body := range []string{
		`{"messages":[{"role":"system","content":"s"},{"role":"user","content":"q"}]}`,
		`{"messages":[{"role":"system","content":"s"},{"role":"user","content":"q"},{"role":"assistant","content":"a"},{"role":"user","content":[{"type":"text","text":"left"}]}]}`,
		`{"messages":[{"role":"system","content":"s"},{"role":"user","content":"q"},{"role":"assistant","content":"a"},{"role":"user","content":"right"}]}`,
		`{"messages":[{"role":"system","content":"other"},{"role":"user","content":"q"}]}`,
	} {
		if !log.add([]byte(body)) {
			t.Errorf("refused %s", body)
		}
	}
	for _, body := range []string{`{"messages":[]}`, `{"messages":[{"role":"user","content":" "}]}`, `{`, `{"messages":[{"role":"user","content":7}]}`} {
		if log.add([]byte(body)) {
			t.Errorf("took %s", body)
		}
	}
	if len(log.all) != 2 || len(log.all[1].Turns) != 1 {
		t.Fatalf("%d conversations", len(log.all))
	}
	want := []traffic.Turn{{Text: "q", Parent: -1, Answer: "a"}, {Text: "left", Parent: 0}, {Text: "right", Parent: 0}}
	if !reflect.DeepEqual(log.all[0].Turns, want) {
		t.Errorf("turns %+v", log.all[0].Turns)
	}
}
