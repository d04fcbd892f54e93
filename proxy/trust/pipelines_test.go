package trust

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"text/tabwriter"
)

const (
	asked      = 120  // questions of a pipeline
	stream     = 3000 // requests to it
	mostWrong  = 5    // answers
	learntWith = 200  // requests
)

// model answers for the pipeline. Its sentences are drawn.
func (p *pipeline) model(seed uint64) *model {
	rng := rand.New(rand.NewPCG(seed, 1))
	return &model{answer: func(user string) (text, says string) {
		says = p.says(strings.TrimPrefix(user, p.front))
		if len(p.sentences) == 0 {
			return says, says
		}
		return fmt.Sprintf(p.sentences[rng.IntN(len(p.sentences))], says), says
	}}
}

// differ is the share of the pairs of two wordings of one question whose answers differ.
func (p *pipeline) differ(questions []string) float64 {
	n, pairs := 0, 0
	for _, q := range questions {
		for i, a := range wordings {
			for _, b := range wordings[:i] {
				pairs++
				if p.says(a(q)) != p.says(b(q)) {
					n++
				}
			}
		}
	}
	return float64(n) / float64(pairs)
}

// tally is what one application was served.
type tally struct {
	requests, meaning, aliases int
	wrong, late                int // answers, and those of them after request learntWith
	calls                      int
}

func (c *tally) count(got reply, right bool) {
	c.requests++
	switch {
	case got.cache == "semantic":
		c.meaning++
	case got.alias():
		c.aliases++
	}
	if got.hit() && !right {
		c.wrong++
		if c.requests > learntWith {
			c.late++
		}
	}
}

// play sends requests to the pipeline; next returns the system message and the text of each.
func (p *pipeline) play(t *testing.T, r *rig, n int, next func(i int) (system, text string)) (c tally) {
	before := r.calls
	for i := range n {
		system, text := next(i)
		got := r.ask(t, system, p.front+text)
		c.count(got, r.model.says[got.text] == p.says(text))
	}
	c.calls = r.calls - before
	return c
}

// wording draws one of a question.
func wording(rng *rand.Rand, q string) string { return wordings[rng.IntN(len(wordings))](q) }

// each runs a test of every pipeline with some seeds, and prints their tallies.
func each(t *testing.T, seeds int, run func(t *testing.T, p *pipeline, at int, questions []string, rng *rand.Rand) tally) {
	all := questions(t, asked)
	if brief() {
		seeds = 1
	}
	rows := make([]tally, seeds*len(pipelines))
	t.Run("all", func(t *testing.T) {
		for i := range rows {
			at, seed := i/seeds, uint64(i%seeds)+1
			p := &pipelines[at]
			t.Run(fmt.Sprintf("%s/%d", p.name, seed), func(t *testing.T) {
				t.Parallel()
				rows[i] = run(t, p, at, all, rand.New(rand.NewPCG(seed, uint64(at))))
			})
		}
	})
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\npipeline\tkind\tpairs that differ\tby meaning\tby alias\twrong\tlate\tupstream calls\trequests")
	var sum tally
	for i, c := range rows {
		p := &pipelines[i/seeds]
		fmt.Fprintf(w, "%s\t%s\t%.1f %%\t%d\t%d\t%d\t%d\t%d\t%d\n", p.name, p.kind, 100*p.differ(all), c.meaning, c.aliases, c.wrong, c.late, c.calls, c.requests)
		sum = tally{sum.requests + c.requests, sum.meaning + c.meaning, sum.aliases + c.aliases, sum.wrong + c.wrong, sum.late + c.late, sum.calls + c.calls}
	}
	fmt.Fprintf(w, "all\t\t\t%d\t%d\t%d\t%d\t%d\t%d\n", sum.meaning, sum.aliases, sum.wrong, sum.late, sum.calls, sum.requests)
	w.Flush()
	t.Log(b.String())
}

// TestPipelines: whatever a system message or a document makes of a text, few wrong answers are served, and none later.
func TestPipelines(t *testing.T) {
	each(t, 2, func(t *testing.T, p *pipeline, _ int, questions []string, rng *rand.Rand) tally {
		r := newRig(t, p.model(rng.Uint64()), newDice(rng.Uint64()).draw)
		c := p.play(t, r, requests(stream), func(int) (system, text string) {
			return p.system, wording(rng, questions[rng.IntN(len(questions))])
		})
		if c.wrong > mostWrong || c.late > 0 {
			t.Errorf("%d wrong answers of %d, %d of them after request %d", c.wrong, c.requests, c.late, learntWith)
		}
		return c
	})
}

// layouts put an order and a text into one message, where the text asks for all that a template shows: behind a label, in quotation marks, at its end,
// beside a document that is another one each time.
var layouts = []string{
	"%[1]s\n\n%[2]s",
	"%[1]s\n\nText: %[2]s",
	"%[1]s\n\nContext: %[3]s\n\nQuestion: %[2]s\nAnswer:",
	"<instructions>\n%[1]s\n</instructions>\n<message>\n%[2]s\n</message>",
	"%[1]s\nInput: \"%[2]s\"\nOutput:",
}

// TestTemplates: an order that stands in the message of the user is one of a system message.
func TestTemplates(t *testing.T) {
	each(t, 1, func(t *testing.T, p *pipeline, at int, questions []string, rng *rand.Rand) tally {
		layout := layouts[at%len(layouts)]
		m := p.model(rng.Uint64())
		texts := map[string]string{} // by message
		says := m.answer
		m.answer = func(user string) (text, meant string) { return says(p.front + texts[user]) }
		r := newRig(t, m, newDice(rng.Uint64()).draw)
		var c tally
		before := r.calls
		for range requests(stream) {
			text := wording(rng, questions[rng.IntN(len(questions))])
			message := fmt.Sprintf(layout, p.system+p.front, text, fmt.Sprintf("Note %d of the archive.", rng.IntN(3)))
			texts[message] = text
			got := r.ask(t, "", message)
			c.count(got, r.model.says[got.text] == p.says(text))
		}
		c.calls = r.calls - before
		if c.wrong > mostWrong {
			t.Errorf("%d wrong answers of %d, %d of them after request %d", c.wrong, c.requests, c.late, learntWith)
		}
		return c
	})
}

// TestUsers: where each user has a scope, because the system message has a name, a date or an id, what one scope has shown counts for the next one.
// A user comes back to a few questions.
func TestUsers(t *testing.T) {
	const users, own = 200, 5
	each(t, 1, func(t *testing.T, p *pipeline, at int, questions []string, rng *rand.Rand) tally {
		r := newRig(t, p.model(rng.Uint64()), newDice(rng.Uint64()).draw)
		c := p.play(t, r, requests(stream), func(i int) (system, text string) {
			user := rng.IntN(users)
			return strings.TrimSpace(personal[at%len(personal)](user) + "\n" + p.system), wording(rng, questions[(user*7+rng.IntN(own))%len(questions)])
		})
		if 100*c.wrong > c.requests {
			t.Errorf("%d wrong answers of %d", c.wrong, c.requests)
		}
		return c
	})
}

// personal are lines with which a system message begins, by user.
var personal = []func(user int) string{
	func(user int) string {
		return "The user's name is " + names[user%len(names)] + " " + names[user/len(names)] + "son."
	},
	func(user int) string {
		return fmt.Sprintf("Today is 2026-%02d-%02d. Time zone: UTC.", 1+user/28, 1+user%28)
	},
	func(user int) string {
		return fmt.Sprintf("Conversation %08x, customer no. %d.", hash(fmt.Sprint("c", user), 1<<31), 48000+user)
	},
}

var names = []string{"Anna", "Ben", "Clara", "David", "Eva", "Frank", "Greta", "Hans", "Ida", "Jonas", "Karin", "Leo", "Mona", "Nils", "Olga", "Paul"}
