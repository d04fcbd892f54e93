package proxy_test

import (
	"math"
	"math/rand/v2"
	"os"
	"reprise/internal/dataset"
	"slices"
	"strings"
)

// texts makes the prompts of a benchmark: the same ones for the same numbers, in every process.
type texts struct {
	real  []string // distinct questions that people asked; nil: words are drawn
	words []string // of real, but small ones
	vocab []string
	zipf  []float64 // the sums of the probabilities of vocab
}

// newTexts reads the questions below the folder that REPRISE_DATA names. Without it prompts are drawn from a vocabulary by Zipf's law.
func newTexts() (*texts, error) {
	t := &texts{}
	rng := rand.New(rand.NewPCG(1, 9))
	if dir := os.Getenv("REPRISE_DATA"); dir != "" {
		var err error
		if t.real, err = questions(dir); err != nil {
			return nil, err
		}
		rng.Shuffle(len(t.real), func(i, j int) { t.real[i], t.real[j] = t.real[j], t.real[i] })
		for _, text := range t.real {
			t.words = append(t.words, slices.DeleteFunc(strings.Fields(text), isSmall)...)
		}
		return t, nil
	}
	const words, exponent = 40_000, 1.0
	syllables := strings.Fields("ba be bi bo ca ce co da de di do fa fe fi ga ge go ha he hi ka ke la le li lo ma me mi mo na ne ni no pa pe pi po ra re ri ro sa se si so ta te ti to va ve vi wa we zu st tr")
	seen, sum := map[string]bool{}, 0.0
	for len(t.vocab) < words {
		w := ""
		for range 2 + rng.IntN(3) {
			w += syllables[rng.IntN(len(syllables))]
		}
		if !seen[w] {
			seen[w] = true
			t.vocab = append(t.vocab, w)
			sum += 1 / math.Pow(float64(len(t.vocab)+8), exponent)
			t.zipf = append(t.zipf, sum)
		}
	}
	return t, nil
}

// prompt is prompt number i, of about as many words as are asked for. Up to 15 words it is one question, above that several.
func (t *texts) prompt(i, words int) string {
	rng := rand.New(rand.NewPCG(uint64(i), uint64(words)))
	if t.real == nil {
		return t.drawn(rng, words)
	}
	var out []byte
	n := len(t.real)
	if words <= 15 {
		if i < n {
			return t.real[i]
		}
		return t.similar(rng, t.real[i%n])
	}
	for count := 0; count < words || len(out) == 0; {
		one := t.real[rng.IntN(n)]
		out, count = append(append(out, one...), ' '), count+strings.Count(one, " ")+1
	}
	return string(out[:len(out)-1])
}

// similar is a question about other things: at most half of its words, and at least one, are words of other questions.
func (t *texts) similar(rng *rand.Rand, question string) string {
	words := strings.Fields(question)
	for k := range (len(words) + 1) / 2 {
		if w := &words[rng.IntN(len(words))]; k == 0 || !isSmall(*w) {
			*w = t.words[rng.IntN(len(t.words))]
		}
	}
	return strings.Join(words, " ")
}

var frames = []string{"what is the", "how do i", "can you tell me the", "i would like to", "please explain why", "is there a", "when did the", "who made the", "show me some", "find a"}
var joints = []string{"of", "in", "for the", "and", "with", "on", "to", "that", "near", "from the"}

// drawn is a text of the given length, of questions of some 14 words. A question is on a theme, drawn by Zipf's law like the words: it has
// four or five of the theme's six words, and others between them. So of 1,000 new prompts among 6,000 entries half have an entry over the route
// gate, as of real questions; and words that no other has keep it from being a repeat.
func (t *texts) drawn(rng *rand.Rand, words int) string {
	var out []string
	for len(out) == 0 || len(out) < words-6 {
		out = append(out, strings.Fields(frames[rng.IntN(len(frames))])...)
		theme := rand.New(rand.NewPCG(uint64(t.rank(rng)), 5))
		other := 1 << rng.IntN(6)
		if rng.IntN(2) == 0 {
			other |= 1 << rng.IntN(6)
		}
		for k := range 6 {
			w := t.word(theme)
			if other>>k&1 == 1 {
				w = t.word(rng)
			}
			if out = append(out, w); k%2 == 1 {
				out = append(out, strings.Fields(joints[theme.IntN(len(joints))])...)
			}
		}
	}
	return strings.Join(out, " ") + "?"
}

func (t *texts) word(rng *rand.Rand) string { return t.vocab[t.rank(rng)] }

func (t *texts) rank(rng *rand.Rand) int {
	n, _ := slices.BinarySearch(t.zipf, rng.Float64()*t.zipf[len(t.zipf)-1])
	return min(n, len(t.vocab)-1)
}

// variant is a question that is answered by the entry of p: the same words in the same order, other letters or white space. Two numbers
// rarely give the same one.
func variant(p string, i int) string {
	rng := rand.New(rand.NewPCG(uint64(i), 77))
	words := strings.Fields(p)
	for range 3 {
		words[rng.IntN(len(words))] += " "
	}
	if rng.IntN(2) == 0 {
		return strings.Join(words, " ") + " "
	}
	w := &words[rng.IntN(len(words))]
	*w += "  "
	return strings.Join(words, " ")
}

// questions are the distinct short texts of users in the files below dir, one for all that differ in nothing but letters and small words.
func questions(dir string) (all []string, err error) {
	seen := map[string]bool{}
	add := func(text string) {
		if n := strings.Count(text, " "); n < 2 || n > 40 {
			return
		}
		if k := contentWords(text); !seen[k] {
			seen[k] = true
			all = append(all, text)
		}
	}
	err = dataset.UserTexts(dir, add) // which changes all
	return all, err
}

// small are words that may differ between two questions with one answer, or nearly.
var small = map[string]bool{}

func init() {
	for w := range strings.FieldsSeq(`a all also am an and any anything are as at be been can check could d did do does doing find for give great had has have hello hey hi how i
		if in is it just like ll lot m me much my need nice no now of ok okay on one or other out perfect please re really s should show so some sounds sure t tell thank
		thanks that the their them then there they thing this to too up us ve very want was we well were what when where which who will with would yeah yes you your`) {
		small[w] = true
	}
}

// isSmall reports whether a question is about the same without w.
func isSmall(w string) bool { return contentWords(w) == "" }

func contentWords(text string) string {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return r < '0' || r > '9' && r < 'a' || r > 'z' && r < 128 })
	words = slices.DeleteFunc(words, func(w string) bool { return small[w] })
	for i, w := range words {
		words[i] = strings.TrimSuffix(w, "s")
	}
	slices.Sort(words)
	return strings.Join(slices.Compact(words), " ")
}
