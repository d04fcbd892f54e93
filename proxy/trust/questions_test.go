package trust

import (
	"hash/fnv"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode"

	"reprise/topics/reuse/normal"
)

// questions returns n questions of package reuse, of which no two have one normal form.
func questions(t testing.TB, n int) (all []string) {
	t.Helper()
	seen := map[string]bool{}
	for _, file := range []string{"courtesy.tsv", "paraphrases.tsv"} {
		text, err := os.ReadFile("../../topics/reuse/testdata/" + file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			fields := strings.Split(strings.TrimSpace(line), "\t")
			if len(fields) != 3 || !single(fields[1]) {
				continue
			}
			form := normal.Of(fields[1])
			if key := string(form.Append(nil)); form.Fixed == "" && !seen[key] {
				seen[key] = true
				all = append(all, fields[1])
			}
		}
	}
	rand.New(rand.NewPCG(1, 27)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	if len(all) < n {
		t.Fatalf("%d questions, want %d", len(all), n)
	}
	return all[:n]
}

// single reports whether a text is one question without courtesy.
func single(text string) bool {
	q, asks := strings.CutSuffix(text, "?")
	if !asks || strings.ContainsAny(q, "?.!:\\") || q == strings.ToLower(q) || q == strings.ToUpper(q) {
		return false
	}
	for _, word := range []string{"please", "could", "can you", "tell", "would", "excuse", "any", "know", "hey", "good", "quick", "may i"} {
		if strings.HasPrefix(strings.ToLower(q), word) {
			return false
		}
	}
	return true
}

// wordings are how people write one question.
var wordings = []func(q string) string{
	func(q string) string { return q },
	strings.ToLower,
	func(q string) string { return strings.TrimSuffix(q, "?") },
	func(q string) string {
		if strings.ContainsAny(q[:1], "HW") { // how, what, why
			return "Please tell me " + small(q)
		}
		return "Please tell me, " + small(q)
	},
	func(q string) string { return "Hi! " + q + " Thanks!" },
	func(q string) string { return "Could you tell me " + small(q) },
	func(q string) string {
		return strings.Replace(strings.ReplaceAll(strings.TrimSuffix(q, "?"), "'", "’"), " ", "  ", 1) + " ? "
	},
}

// small is a question that does not begin its sentence.
func small(q string) string {
	first, _, _ := strings.Cut(q, " ")
	if strings.HasPrefix(first, "I") && strings.Trim(first, "I'’mved") == "" { // I, I'm, I've
		return q
	}
	return strings.ToLower(q[:1]) + q[1:]
}

// bare is the question behind a wording, in small letters, without marks and courtesy.
func bare(text string) string {
	text = strings.ReplaceAll(strings.ToLower(strings.TrimSpace(text)), "’", "'")
	for _, front := range []string{"hi! ", "please tell me, ", "please tell me ", "could you tell me "} {
		text = strings.TrimPrefix(text, front)
	}
	text = strings.TrimSuffix(text, " thanks!")
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\'' }), " ")
}

// hash is a number below n for a text.
func hash(text string, n uint32) int {
	h := fnv.New32a()
	h.Write([]byte(text))
	return int(h.Sum32() % n)
}

// some reports whether the question behind a wording is among so many of a hundred, chosen by a salt.
func some(text, salt string, percent int) bool { return hash(salt+bare(text), 100) < percent }

// oracle remembers what was asked. With full trust, a prompt is answered from what was stored where both have one normal form: the best that the
// proxy could do without comparing meaning.
type oracle struct {
	stored map[string][]*normal.Form // by question
	asked  map[string]bool           // wordings
}

func newOracle() *oracle { return &oracle{map[string][]*normal.Form{}, map[string]bool{}} }

// known reports whether a wording of a question has a normal form that is stored, and whether the wording itself was asked before. A form
// that is not known is stored.
func (o *oracle) known(question, wording string) (known, itself bool) {
	form := normal.Of(wording)
	known, itself = slices.ContainsFunc(o.stored[question], form.Equal), o.asked[wording]
	o.asked[wording] = true
	if !known {
		o.stored[question] = append(o.stored[question], form)
	}
	return known, itself
}
