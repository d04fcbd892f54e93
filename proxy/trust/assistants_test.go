package trust

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"testing"
)

const support = "You are the support assistant of Nordlicht, a shop and bank for everyday things. Be friendly and brief. Say so where you do not know something."

// assistant is an application that has one answer to a question, however it is put.
type assistant struct {
	name   string
	answer func(q string, n int) string // the n-th of six wordings
	least  float64                      // of the right hits of full trust, to be reached in 20,000 requests
	early  int                          // calls beside those of full trust before the first hit by meaning, at most; 0: any number
}

var assistants = []assistant{
	{"equal", func(q string, _ int) string { return sentence(q, 0) }, .98, 5},
	{"in other words", sentence, .95, 40},
	{"short, in other words", short, 0, 0},
}

// sentence is one of six wordings of the answer to a question; all have the same facts, which the question alone decides.
func sentence(q string, n int) string {
	place, about := places[hash("place"+bare(q), uint32(len(places)))], strings.Join(longWords(bare(q), 2), " and ")
	days, unit := 2+hash("days"+bare(q), 40), []string{"minutes", "hours", "days"}[hash("unit"+bare(q), 3)]
	family := answers[hash("family"+bare(q), uint32(len(answers)))]
	return strings.NewReplacer("PLACE", place, "TOPIC", about, "TIME", fmt.Sprint(days, " ", unit)).Replace(family[n])
}

// short is one of six wordings of a short answer.
func short(q string, n int) string {
	days := fmt.Sprint(2+hash("days"+bare(q), 40), " ", []string{"hours", "days", "weeks"}[hash("unit"+bare(q), 3)])
	if hash("no"+bare(q), 3) == 0 {
		return fmt.Sprintf([]string{"No, not before %s.", "No, you have to wait %s.", "No – it takes %s.", "No, only after %s.", "No, that needs %s.", "No, %s at least."}[n], days)
	}
	return fmt.Sprintf([]string{"Yes, within %s.", "Yes, you have %s.", "Yes – up to %s.", "Yes, that is possible for %s.", "Yes, for %s.", "Yes, of course: %s."}[n], days)
}

var places = []string{"Settings > Account", "Settings > Security", "My orders", "Payments & cards", "the Help tab", "Profile > Documents", "the Travel section", "Home > Devices",
	"the Notifications page", "Contracts", "Billing > History", "the pickup counter"}

// answers are families of six wordings each, written for these tests.
var answers = [][6]string{
	{
		"You can do this under PLACE. Choose the entry for TOPIC and confirm. It usually takes TIME.",
		"Open PLACE and look for TOPIC. Once you have confirmed, allow TIME.",
		"That is quickly done: go to PLACE, pick TOPIC, and confirm your choice. The change needs TIME to take effect.",
		"Sure! In PLACE there is a part on TOPIC. Follow the steps there; after TIME everything is in place.",
		"Please head over to PLACE. There you'll find TOPIC, and after your confirmation it takes about TIME.",
		"The way to do it leads through PLACE. Select TOPIC, confirm, and wait for TIME.",
	},
	{
		"Information on TOPIC is in PLACE. It is updated every TIME. If you see nothing there, write to us.",
		"You'll find everything about TOPIC in PLACE, which we refresh every TIME. Drop us a line if it is empty.",
		"Have a look at PLACE: what we know of TOPIC is shown there and is never older than TIME. Should it be missing, let us know.",
		"PLACE is where to look for TOPIC. New data comes in every TIME. In case the page stays blank, our team is glad to help.",
		"Everything on TOPIC is kept in PLACE. Every TIME it is brought up to date. Contact us in case nothing is listed.",
		"For TOPIC, please see PLACE. The page is renewed every TIME; if there is no entry, just send us a message.",
	},
	{
		"This mostly happens when TOPIC has not been confirmed. Open PLACE, check the status and try again after TIME.",
		"The usual reason is that TOPIC is still waiting for a confirmation. Check the status in PLACE and give it another try in TIME.",
		"I'm sorry about that! As a rule TOPIC was not confirmed in such cases. In PLACE you can see the status; please try once more after TIME.",
		"In most cases an unconfirmed TOPIC is behind it. You can look the status up in PLACE. After TIME another attempt should work.",
		"Normally it means that the confirmation of TOPIC is missing. PLACE has the status. Wait for TIME before you repeat it.",
		"That points to TOPIC without a confirmation. Take a look at the status in PLACE, and repeat the step TIME later.",
	},
	{
		"The rule for TOPIC is simple: you have TIME from the day of the contract. The details are in PLACE.",
		"For TOPIC the limit is TIME, counted from the day of the contract. PLACE has the details.",
		"When it comes to TOPIC, our terms give you TIME. The period begins with the contract. More on this can be read in PLACE.",
		"You have TIME. That holds for TOPIC and starts on the day of the contract. See PLACE for the small print.",
		"Our terms say TIME for TOPIC, and the clock starts when the contract is made. You can read it all in PLACE.",
		"TOPIC can be settled within TIME after the contract was made. If you want to know more, the details are found in PLACE.",
	},
}

// model answers as the assistant does. What an answer says is the answer in its first wording.
func (a *assistant) model(questions []string, seed uint64) *model {
	known := map[string]string{}
	for _, q := range questions {
		known[bare(q)] = q
	}
	rng := rand.New(rand.NewPCG(seed, 2))
	return &model{answer: func(user string) (text, says string) {
		q := known[bare(user)]
		return a.answer(q, rng.IntN(6)), a.answer(q, 0)
	}}
}

// step is what became of one request.
type step struct {
	question    string
	known, form bool // with full trust it is a hit; only by its form, because the wording was not asked before
	reply
	right bool
}

// extra reports whether the upstream was asked although full trust would not have asked it.
func (s *step) extra() bool { return s.known && !s.hit() }

// zipf draws numbers below n, of which the i-th has a weight of 1/i^s.
func zipf(n int, s float64, rng *rand.Rand) func() int {
	sums, sum := make([]float64, n), 0.0
	for i := range sums {
		sum += math.Pow(float64(i+1), -s)
		sums[i] = sum
	}
	return func() int { return sort.SearchFloat64s(sums, rng.Float64()*sum) }
}

// play sends n requests to the assistant.
func (a *assistant) play(t *testing.T, r *rig, questions []string, n int, rng *rand.Rand) (all []step) {
	oracle, next := newOracle(), zipf(len(questions), .8, rng)
	for range n {
		q := questions[next()]
		w := wording(rng, q)
		known, itself := oracle.known(q, w)
		got := r.ask(t, support, w)
		all = append(all, step{q, known, known && !itself, got, r.says[got.text] == a.answer(q, 0)})
	}
	return all
}

// ratio is how many of the hits of full trust were right hits; those by form alone where byForm is set.
func ratio(steps []step, byForm bool) float64 {
	right, most := 0, 0
	for i := range steps {
		s := &steps[i]
		if s.known && (s.form || !byForm) {
			most++
			if s.hit() && s.right {
				right++
			}
		}
	}
	return float64(right) / float64(max(most, 1))
}

func count(steps []step, is func(*step) bool) (n int) {
	for i := range steps {
		if is(&steps[i]) {
			n++
		}
	}
	return n
}

const faqs = 400 // questions of an assistant

// TestAssistants: an assistant keeps nearly all the hits that it would have with full trust, and what trust costs in calls of the upstream has a
// limit.
func TestAssistants(t *testing.T) {
	all := questions(t, faqs)
	for i := range assistants {
		a := &assistants[i]
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(5, uint64(i)))
			r := newRig(t, a.model(all, rng.Uint64()), newDice(rng.Uint64()).draw)
			steps := a.play(t, r, all, requests(20_000), rng)
			wrong := count(steps, func(s *step) bool { return s.hit() && !s.right })
			start := slices.IndexFunc(steps, func(s step) bool { return s.cache == "semantic" })
			if start < 0 {
				start = len(steps)
			}
			half := steps[len(steps)/2:]
			early, extra, later := count(steps[:start], (*step).extra), count(steps, (*step).extra), count(half, (*step).extra)
			t.Logf("%s: %d requests, %d hits with full trust; %.2f %% of them right hits, %.2f %% of those by form alone; %d wrong; extra calls: %d before the first hit by meaning (request %d), %d in all, %d in the second half",
				a.name, len(steps), count(steps, func(s *step) bool { return s.known }), 100*ratio(steps, false), 100*ratio(steps, true), wrong, early, start, extra, later)
			if wrong > 0 {
				t.Errorf("%d wrong answers", wrong)
			}
			if got := ratio(steps, false); got < a.least && !brief() {
				t.Errorf("%.4f of the right hits of full trust, want %.2f", got, a.least)
			}
			if most := a.early; most > 0 && early > most {
				t.Errorf("%d extra calls before the first hit by meaning, want at most %d", early, most)
			}
			if a.least > 0 && 100*later > len(half) {
				t.Errorf("%d extra calls in the last %d requests", later, len(half))
			}
		})
	}
}

// TestNewApplication measures how many requests a new application needs until, of a window of 200, it has nine in ten of the right hits that full
// trust would give.
func TestNewApplication(t *testing.T) {
	const window, most, times = 200, 2000, 6
	all := questions(t, faqs)
	for i := range assistants {
		a := &assistants[i]
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			var needs [2][]int // of all hits, and of those by form alone
			for seed := range uint64(requests(times)) {
				rng := rand.New(rand.NewPCG(seed, 7))
				r := newRig(t, a.model(all, rng.Uint64()), newDice(rng.Uint64()).draw)
				steps := a.play(t, r, all, most, rng)
				for kind := range needs {
					n := 0
					for n+window <= most && ratio(steps[n:n+window], kind == 1) < .9 {
						n++
					}
					needs[kind] = append(needs[kind], n)
				}
			}
			for _, n := range needs {
				slices.Sort(n)
			}
			t.Logf("%s: requests until nine in ten of the hits: median %d, at most %d; of the hits by form alone: median %d, at most %d", a.name,
				needs[0][len(needs[0])/2], slices.Max(needs[0]), needs[1][len(needs[1])/2], slices.Max(needs[1]))
			if a.least > 0 && slices.Max(needs[0])+window > most {
				t.Errorf("not reached in %d requests", most)
			}
		})
	}
}
