package proxy_test

import (
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"

	"reprise/internal/dataset"
)

// texts makes the prompts of a benchmark: the same ones for the same numbers, in every process.
type texts struct {
	real  []string  // distinct questions that people asked; nil: they are drawn
	words []string  // all words of real
	vocab []string  // invented words
	zipf  []float64 // the sums of the probabilities of vocab
}

// newTexts reads the questions below the folder that REPRISE_DATA names. Without it prompts are drawn from a vocabulary by Zipf's law.
func newTexts() (*texts, error) {
	t, rng := &texts{}, rand.New(rand.NewPCG(1, 9))
	t.invent(rng)
	dir := os.Getenv("REPRISE_DATA")
	if dir == "" {
		return t, nil
	}
	seen := map[string]bool{}
	err := dataset.UserTexts(dir, func(text string) {
		words := strings.Fields(strings.ToLower(text))
		if one := strings.Join(words, " "); len(words) >= 3 && len(words) <= 40 && !seen[one] {
			seen[one] = true
			t.real, t.words = append(t.real, text), append(t.words, words...)
		}
	})
	rng.Shuffle(len(t.real), func(i, j int) { t.real[i], t.real[j] = t.real[j], t.real[i] })
	return t, err
}

func (t *texts) invent(rng *rand.Rand) {
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
}

// prompts are the texts of a job, each by its number, which is also the seed of what is drawn in it. "" is the usual one.
var prompts = map[string]func(t *texts, i int) string{
	"": (*texts).prompt,
	// An instruction of 60 words in front of the usual prompt.
	"instructed": func(t *texts, i int) string { return instruction + t.prompt(i) },
	// Two frames in turn around one of 1,000 documents of 1,500 words, and the usual prompt as the question.
	"documents": func(t *texts, i int) string {
		document := t.document(int(uint64(i) * 0x9E3779B97F4A7C15 >> 32 % 1000))
		if i%2 == 0 {
			return "Use only the following document to answer the question at its end.\n\nDocument:\n" + document + "\n\nQuestion: " + t.prompt(i)
		}
		return "You get a text and a request about it. Keep to the text.\n<text>\n" + document + "\n</text>\n<request>" + t.prompt(i) + "</request>"
	},
	// Invented words, each drawn on its own.
	"words": func(t *texts, i int) string {
		rng := rand.New(rand.NewPCG(uint64(i), 21))
		out := make([]string, 12)
		for k := range out {
			out[k] = t.word(rng)
		}
		return strings.Join(out, " ")
	},
	// One of 362,880 orders of the same words, all of which have one vector: each word has the same neighbours in all of them.
	"equal": func(_ *texts, i int) string {
		left, out := strings.Fields("harbour violin copper meadow lantern pepper glacier saddle orchid"), "Tunnel "
		for n := len(left); n > 0; n-- {
			out += left[i%n] + " tunnel "
			left = slices.Delete(left, i%n, i%n+1)
			i /= n
		}
		return out[:len(out)-1]
	},
}

const instruction = `You sort messages for the support team of an online shop. Read the message and decide which team has to handle it: orders, payments, returns, accounts or complaints. Consider what the customer wants, and not the tone of the message. Answer with the name of that team alone, in lower case, and add no explanation, greeting or punctuation mark.

Message: `

// document is text number k of 1,500 words: prompts one after the other, among which no asked one is likely to be.
func (t *texts) document(k int) string {
	var out []string
	for i := 1_000_000_000 + k*1000; len(out) < 1500; i++ {
		out = append(out, strings.Fields(t.prompt(i))...)
	}
	return strings.Join(out[:1500], " ")
}

// prompt is prompt number i, of about 15 words: a real question as it is, and again with other words for half of its own.
func (t *texts) prompt(i int) string {
	rng := rand.New(rand.NewPCG(uint64(i), 15))
	if t.real == nil {
		return t.drawn(rng)
	}
	one := strings.Fields(t.real[i%len(t.real)])
	if i >= len(t.real) {
		for range (len(one) + 1) / 2 {
			one[rng.IntN(len(one))] = t.words[rng.IntN(len(t.words))]
		}
	}
	return strings.Join(one, " ")
}

var frames = []string{"what is the", "how do i", "can you tell me the", "i would like to", "please explain why", "is there a", "when did the", "who made the", "show me some", "find a"}
var joints = []string{"of", "in", "for the", "and", "with", "on", "to", "that", "near", "from the"}

// drawn is a question of some 14 words on a theme, drawn by Zipf's law like the words: it has four or five of the theme's six words, and others
// between them. So of 1,000 new prompts among 6,000 entries half have an entry over the route gate, as of real questions; and words that no
// other has keep it from being a repeat.
func (t *texts) drawn(rng *rand.Rand) string {
	out := strings.Fields(frames[rng.IntN(len(frames))])
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
	return strings.Join(out, " ") + "?"
}

func (t *texts) word(rng *rand.Rand) string { return t.vocab[t.rank(rng)] }

func (t *texts) rank(rng *rand.Rand) int {
	n, _ := slices.BinarySearch(t.zipf, rng.Float64()*t.zipf[len(t.zipf)-1])
	return min(n, len(t.vocab)-1)
}

// variant is a question that is answered by the entry of p: the same words in the same order, with other white space. Two numbers rarely give
// the same one.
func variant(p string, i int) string {
	rng := rand.New(rand.NewPCG(uint64(i), 77))
	words := strings.Fields(p)
	for range 4 {
		words[rng.IntN(len(words))] += " "
	}
	return strings.Join(words, " ") + strings.Repeat(" ", rng.IntN(3)) + "  "
}
