package reuse_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"reprise/embed"
	"reprise/topics/reuse"
	"reprise/topics/reuse/evidence"
	"reprise/topics/reuse/normal"
)

// question is a prompt of a class; prompts of one class have one answer.
type question struct {
	text         string
	class, group int // a group has classes that are near each other: a topic
	form         *normal.Form
	words        []float32 // of the built-in embedder
	meaning      []float32
}

// world is what is asked: questions with known classes.
type world struct {
	name      string
	questions []*question
	byClass   [][]*question
}

func newWorld(name string, classes [][]string, groups []int) *world {
	w := &world{name: name, byClass: make([][]*question, len(classes))}
	for class, texts := range classes {
		vectors, _ := embed.NewBuiltin().Embed(context.Background(), texts)
		for i, text := range texts {
			if vectors[i] == nil {
				continue
			}
			q := &question{text: text, class: class, group: groups[class], form: normal.Of(text), words: vectors[i]}
			w.questions = append(w.questions, q)
			w.byClass[class] = append(w.byClass[class], q)
		}
	}
	return w
}

// quality is that of a simulated embedder: the weight of the class, by which prompts of one group differ, and of the noise of a prompt.
type quality struct {
	name         string
	class, noise float64
}

// dim is the length of each half of a simulated vector.
const dim = 64

// embed simulates an embedder that sees meaning: a vector has a half of the words, with an eighth of the weight, and one that is the sum of
// a vector of the group, one of the class and noise of the prompt.
func (w *world) embed(by quality, rng *rand.Rand) {
	groups, classes := map[int][]float32{}, make([][]float32, len(w.byClass))
	for class, list := range w.byClass {
		classes[class] = direction(rng)
		for _, q := range list {
			if groups[q.group] == nil {
				groups[q.group] = direction(rng)
			}
			spread := float32(by.noise * (0.5 + rng.Float64()))
			noise, mean, words := direction(rng), make([]float32, dim), make([]float32, dim)
			for i := range mean {
				mean[i] = groups[q.group][i] + float32(by.class)*classes[class][i] + spread*noise[i]
			}
			for i, x := range q.words {
				words[i%dim] += x
			}
			embed.Normalize(mean)
			embed.Normalize(words)
			q.meaning = q.meaning[:0]
			for i := range mean {
				q.meaning = append(q.meaning, words[i]*float32(math.Sqrt(1.0/8)), mean[i]*float32(math.Sqrt(7.0/8)))
			}
		}
	}
}

// direction is a random unit vector.
func direction(rng *rand.Rand) []float32 {
	v := make([]float32, dim)
	for i := range v {
		v[i] = float32(rng.NormFloat64())
	}
	embed.Normalize(v)
	return v
}

// requests are n draws: a class by Zipf's law, and one of its prompts.
func (w *world) requests(n int, rng *rand.Rand) (list []*question) {
	order := rng.Perm(len(w.byClass))
	zipf := rand.NewZipf(rng, 1.05, 20, uint64(len(order)-1))
	for len(list) < n {
		if of := w.byClass[order[zipf.Uint64()]]; len(of) > 0 {
			list = append(list, of[rng.IntN(len(of))])
		}
	}
	return list
}

// share counts the wrong ones among the nearest other prompts of the world that are at or above a gate, and all of these.
func (w *world) share(gate float64, rng *rand.Rand) (wrong float64, n int) {
	for range 300 {
		q := w.questions[rng.IntN(len(w.questions))]
		best, of := float32(gate), (*question)(nil)
		for range 300 { // of those that may be stored
			if o := w.questions[rng.IntN(len(w.questions))]; o.text != q.text && embed.Dot(q.meaning, o.meaning) >= best {
				best, of = embed.Dot(q.meaning, o.meaning), o
			}
		}
		if of != nil {
			n++
			if of.class != q.class {
				wrong++
			}
		}
	}
	return wrong, n
}

// setting is how a stream is answered.
type setting struct {
	words   bool // the built-in embedder, otherwise the simulated one
	gate    float64
	delta   float64
	compare func(same bool, rng *rand.Rand) evidence.Outcome
}

// tallies are of one run.
type tallies struct {
	requests, exact, onlyExact, form, edits, meaning, explored, wrong, far int // far: wrong ones by similarity
}

func (t tallies) plus(u tallies) tallies {
	return tallies{t.requests + u.requests, t.exact + u.exact, t.onlyExact + u.onlyExact, t.form + u.form, t.edits + u.edits, t.meaning + u.meaning,
		t.explored + u.explored, t.wrong + u.wrong, t.far + u.far}
}

func (t tallies) served() int { return t.form + t.edits + t.meaning }

func (t tallies) String() string {
	_, high := evidence.Wilson(t.wrong, t.served())
	_, highest := evidence.Wilson(t.far, t.meaning)
	return fmt.Sprintf("%d requests: exact %d (alone %d), form %d, edits %d, meaning %d, explored %d, wrong %d = %.4f of the served, at most %.4f; by similarity alone %d = %.4f, at most %.4f",
		t.requests, t.exact, t.onlyExact, t.form, t.edits, t.meaning, t.explored, t.wrong, float64(t.wrong)/float64(max(t.served(), 1)), high,
		t.far, float64(t.far)/float64(max(t.meaning, 1)), highest)
}

// found is an answer by meaning, kept under the key of the prompt that it served.
type found struct {
	stored *question
	of     evidence.Case
}

// cache answers as the proxy does: by key, by alias, by form, and by the nearest stored prompt.
type cache struct {
	setting
	judge   reuse.Judge
	book    *evidence.Book
	stored  map[string]bool
	aliases map[string]found
	served  map[string]bool
	forms   map[string]*question
	list    []*question
	rng     *rand.Rand
	tallies
}

func newCache(s setting, rng *rand.Rand) *cache {
	return &cache{setting: s, rng: rng, judge: reuse.Judge{Words: s.words, MaxError: s.delta}, book: evidence.NewBook(evidence.Embedder{Space: "simulated", Gate: s.gate}),
		stored: map[string]bool{}, aliases: map[string]found{}, served: map[string]bool{}, forms: map[string]*question{}}
}

func (c *cache) ask(q *question) {
	c.requests++
	if c.stored[q.text] {
		c.exact++
		return
	}
	c.judge.Rates = c.book.Rates()
	draw := c.rng.Float64()
	if f, ok := c.aliases[q.text]; ok {
		serves, share := c.judge.Serves(&f.of, 0, reuse.Earned)
		if serves && draw >= share {
			c.serve(q, f)
			return
		}
		if serves {
			draw = 0
		}
	}
	delete(c.aliases, q.text)
	candidate, similarity := c.forms[string(q.form.Append(nil))], 0.0
	if candidate == nil {
		candidate, similarity = c.nearest(q)
	}
	if candidate != nil {
		v := c.judge.Forms(candidate.form, q.form, reuse.Context{Tenant: 1, Scope: 1, Question: uint64(q.class + 1), Similarity: similarity, Draw: draw})
		switch v.Decision {
		case reuse.Serve:
			if c.served[q.text] || v.Case.Explained && len(v.Edits) == 0 {
				c.aliases[q.text] = found{candidate, v.Case}
			}
			c.served[q.text] = true
			c.serve(q, found{candidate, v.Case})
			return
		case reuse.Explore:
			c.explored++
			c.book.Add(evidence.Sample{Case: v.Case, Outcome: c.compare(candidate.class == q.class, c.rng), Source: evidence.Explored})
		}
	}
	c.stored[q.text] = true
	c.list = append(c.list, q)
	if key := string(q.form.Append(nil)); c.forms[key] == nil {
		c.forms[key] = q
	}
}

func (c *cache) serve(q *question, f found) {
	switch {
	case !f.of.Explained:
		c.meaning++
	case len(f.of.Edits) > 0:
		c.edits++
	default:
		c.form++
	}
	if f.stored.class != q.class {
		c.wrong++
		if !f.of.Explained {
			c.far++
		}
	}
}

func (c *cache) nearest(q *question) (best *question, similarity float64) {
	similarity = c.gate
	for _, o := range c.list {
		s := embed.Dot(q.meaning, o.meaning)
		if c.words {
			s = embed.Dot(q.words, o.words)
		}
		if float64(s) >= similarity {
			best, similarity = o, float64(s)
		}
	}
	return best, similarity
}

// oracle compares without errors.
func oracle(same bool, _ *rand.Rand) evidence.Outcome {
	if same {
		return evidence.Same
	}
	return evidence.Different
}

// erring compares with errors that are as frequent as those of package compare may be: three answers in 20 are not decided, one equal answer in 500 is
// called different, and one other answer in 100 the same.
func erring(same bool, rng *rand.Rand) evidence.Outcome {
	x, unknown, wrong := rng.Float64(), 0.15, 0.002
	if !same {
		wrong = 0.01
	}
	switch {
	case x < unknown:
		return evidence.Unknown
	case same != (x > 1-wrong):
		return evidence.Same
	}
	return evidence.Different
}

// run answers n requests.
func (w *world) run(s setting, n int, seed uint64) tallies {
	rng := rand.New(rand.NewPCG(seed, 17))
	requests := w.requests(n, rng)
	c, alone := newCache(s, rng), map[string]bool{}
	for _, q := range requests {
		if alone[q.text] {
			c.onlyExact++
		}
		alone[q.text] = true
		c.ask(q)
	}
	return c.tallies
}

// decorations are ways to ask the same.
var decorations = []func(string) string{
	func(s string) string { return s },
	func(s string) string { return "Please, " + s },
	func(s string) string { return s + " Thanks!" },
	func(s string) string { return "Hello, " + s },
	func(s string) string { return "Quick question: " + s },
	func(s string) string { return s + " Thank you in advance." },
	func(s string) string { return "Hi there! " + s + " Thanks a lot!" },
}

// generated is a world without data: questions of support in words that differ by class, asked in several ways each.
func generated() *world {
	actions := [][]string{{"cancel", "end", "stop", "terminate"}, {"change", "edit", "modify", "update"}, {"renew", "extend", "prolong"}, {"find", "see", "view", "look up"}}
	things := []string{"subscription", "invoice", "password", "address", "delivery", "booking", "insurance", "contract", "membership", "ticket", "payment", "reservation",
		"order", "account", "profile", "licence", "lease", "loan", "policy", "appointment", "mortgage", "plan", "deposit", "warranty", "permit", "card", "visa", "claim"}
	ways := []string{"How do I %s my %s?", "How can I %s my %s?", "What is the best way to %s my %s?", "I want to %s my %s, how does that work?", "Where do I go to %s my %s?"}
	var classes [][]string
	var groups []int
	for group, thing := range things {
		for _, action := range actions {
			var texts []string
			for _, verb := range action {
				for _, way := range ways {
					for _, decorate := range decorations {
						texts = append(texts, decorate(fmt.Sprintf(way, verb, thing)))
					}
				}
			}
			classes, groups = append(classes, texts), append(groups, group)
		}
	}
	return newWorld("generated", classes, groups)
}

// qualities are of simulated embedders, which share a gate. What they are at the gate, the tests print.
var qualities = []quality{{"good", 0.5, 0.35}, {"fair", 0.35, 0.4}, {"poor", 0.25, 0.4}, {"bad", 0.15, 0.4}}

const simulatedGate = 0.85

// online answers streams of a world with an embedder under each δ, prints the sums over the seeds, and reports whether the error stayed
// below. Hits must never be fewer than those of equal requests alone.
func (w *world) online(t *testing.T, name string, s setting, by *quality, n, seeds int) (ok bool) {
	ok = true
	sums := map[float64]tallies{}
	deltas := []float64{0.01, 0.02, 0.05}
	share, of := 0.0, 0
	for seed := range uint64(seeds) {
		if by != nil {
			rng := rand.New(rand.NewPCG(seed, 23))
			w.embed(*by, rng)
			wrong, n := w.share(s.gate, rng)
			share, of = share+wrong, of+n
		}
		for _, s.delta = range deltas {
			one := w.run(s, n, seed)
			t.Logf("%s, %s, δ %.2f, seed %d: %v", w.name, name, s.delta, seed, one)
			if one.exact+one.served() < one.onlyExact {
				t.Errorf("%s, %s, δ %.2f, seed %d: fewer hits than by equal requests alone", w.name, name, s.delta, seed)
			}
			sums[s.delta] = sums[s.delta].plus(one)
		}
	}
	for _, delta := range deltas {
		sum := sums[delta]
		_, high := evidence.Wilson(sum.wrong, sum.served())
		under := high <= 1.5*delta
		ok = ok && under
		t.Logf("SUM %s, %s (wrong nearest neighbours over its gate %.3f), δ %.2f: under 1.5 δ %v: %v", w.name, name, share/float64(max(of, 1)), delta, under, sum)
	}
	return ok
}

// TestErrorsStayUnderDelta answers generated questions under several δ, with an embedder of meaning whose comparisons have errors,
// and with one of whose nearest prompts a third are wrong.
func TestErrorsStayUnderDelta(t *testing.T) {
	w := generated()
	for _, row := range []struct {
		quality quality
		compare func(bool, *rand.Rand) evidence.Outcome
	}{{qualities[1], erring}, {qualities[3], oracle}} {
		if !w.online(t, row.quality.name, setting{gate: simulatedGate, compare: row.compare}, &row.quality, 2500, 5) {
			t.Errorf("%s: the error is over 1.5 δ", row.quality.name)
		}
	}
}
