package demo

import (
	"encoding/json"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"
)

// Workload is questions to the support of a made-up note-taking product: few questions are asked very often, in the same and
// in slightly other words; the popular subjects change; some conversations go on with questions that depend on the first;
// some questions come once, half of them behind a page of the manual; a few need a tool; and some come from other applications than the help. It is drawn from a seed and has no end.
type Workload struct {
	rng   *rand.Rand
	asked int
}

// NewWorkload returns the workload of a seed. It is not safe for concurrent use.
func NewWorkload(seed uint64) *Workload {
	return &Workload{rng: rand.New(rand.NewPCG(seed, 0))}
}

// subject is a set of questions about one thing.
type subject struct {
	questions []string // the popular ones first
	followUps []string
}

var subjects = []subject{
	{[]string{"How do I reset my password?", "How do I turn on two-factor authentication?", "How do I turn off two-factor authentication?",
		"Is there a way to change my email?", "Why was my account locked after several attempts to sign in?", "Can I sign in with my company account instead of a password?"},
		[]string{"And if I no longer have access to that email address?", "How long is that link valid?", "Does that sign me out everywhere?"}},
	{[]string{"How do I change the credit card on my subscription?", "Where can I download my invoices?", "How do I cancel my subscription?",
		"Do you offer a discount for schools and universities?", "What happens to my notes when a payment fails?"},
		[]string{"When does that take effect?", "Will I get a refund for the rest of the month?", "Can somebody else on my team do that?"}},
	{[]string{"How do I export all my notes as Markdown?", "How do I export the notes of the last 30 days?", "How do I export the notes of the last 90 days?",
		"Can I import notes from another application?", "Is there a limit to the size of an export?"},
		[]string{"Are attachments part of it?", "Can I automate that?", "Which formats are there besides that one?"}},
	{[]string{"How do I share a notebook with my team?", "How do I remove a member from a shared notebook?", "What can a guest see in a shared notebook?",
		"How do I make a shared notebook read-only?", "Who owns a notebook when a member leaves the team?"},
		[]string{"Do they get a message about it?", "Can that be undone?", "What if they are offline at that moment?"}},
	{[]string{"Why are my notes not syncing to my phone?", "How do I use the app without an internet connection?", "How do I resolve a sync conflict?",
		"Which versions of the mobile app are still supported?", "How do I free up space that the app uses on my phone?"},
		[]string{"I have tried that already, what else can I do?", "Is anything lost when I do that?", "Where do I find that setting?"}},
	{[]string{"How do I create an API key?", "What are the rate limits of the API?", "How do I receive a webhook when a note changes?",
		"How do I search notes through the API?", "How do I revoke an API key that was leaked?"},
		[]string{"Can you show me an example with curl?", "Which permissions does that need?", "Is that also available in the free plan?"}},
	{[]string{"How do I restore a note that I deleted?", "How long are deleted notes kept?", "Is there a way to delete my account?", "Are my notes encrypted?",
		"In which country is my data stored?", "How do I see earlier versions of a note?"},
		[]string{"Is that true for attachments as well?", "Can an administrator do that for me?", "How do I check that it worked?"}},
}

// The parts of questions that come once or twice.
var (
	rareThings = []string{"a table", "a checklist", "a voice memo", "a drawing", "a scanned page", "a calendar entry", "a code block",
		"a formula", "a map", "a reminder", "a web clipping", "a template", "a contact", "a bookmark"}
	rareVerbs  = []string{"print", "translate", "duplicate", "pin", "colour", "archive", "link to", "resize", "lock", "rename", "move"}
	rarePlaces = []string{"on a tablet", "in the browser", "on a watch", "from the command line", "in a shared notebook", "in dark mode",
		"on an old computer", "while travelling"}
)

var orderTool = json.RawMessage(`[{"type":"function","function":{"name":"order_status","description":"Status of an order",` +
	`"parameters":{"type":"object","properties":{"order":{"type":"integer"}},"required":["order"]}}}]`)

// pages are of the manual. Some questions are asked behind one, in a template.
var pages = []string{"Everything in a notebook can be moved, and a lock keeps others from changing it.", "Menus are behind the three dots. What is grey needs another plan.",
	"Long presses open the menu of whatever is below the finger."}

func behindPage(page, question string) string {
	return "Answer by this page of the manual, in two sentences at most. Say so where it is silent.\n\n" + page + "\n\nQuestion: " + question
}

// Known is one of the popular questions.
func Known() string { return subjects[0].questions[0] }

// Next returns the next conversation; the error is always nil.
func (w *Workload) Next() (c Conversation, err error) {
	s := w.subject()
	switch draw := w.rng.Float64(); {
	case draw < 0.46:
		c.Say(w.reword(skewed(w.rng, s.questions)))
	case draw < 0.72:
		c.Say(w.reword(skewed(w.rng, s.questions)))
		w.goOn(&c, s)
	case draw < 0.82:
		rare := "How do I " + pick(w.rng, rareVerbs) + " " + pick(w.rng, rareThings) + " " + pick(w.rng, rarePlaces) + "?"
		if draw < 0.78 {
			rare = behindPage(pick(w.rng, pages), rare)
		}
		c.Say(rare)
	case draw < 0.85:
		c.Tools = orderTool
		// The built-in engine calls the tool at these words.
		c.Say("Call tool order_status: where is my order " + strconv.Itoa(4700+w.rng.IntN(20)) + "?")
	case draw < 0.89:
		c.From = status
		c.Say(statusQuestion)
	case draw < 0.95:
		c.From, c.System = editor, editorSystem
		c.Say(skewed(w.rng, writing.questions))
		w.goOn(&c, writing)
	default:
		c.From, c.System = desk, deskPrompt(begin.Add(time.Duration(w.asked)*perConversation))
		c.Say(skewed(w.rng, staff.questions))
	}
	w.asked++
	return c, nil
}

// goOn adds one or two questions that depend on the first.
func (w *Workload) goOn(c *Conversation, s subject) {
	for range 1 + w.rng.IntN(2) {
		c.Say(skewed(w.rng, s.followUps))
	}
}

// begin is when the workload starts, on a clock of its own: a morning at the desk.
var begin = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

const perConversation = 7 * time.Second

// driftEvery is the number of conversations after which another subject becomes popular.
const driftEvery = 60

// subject is one of the three popular ones four times out of five.
func (w *Workload) subject() subject {
	if w.rng.IntN(5) == 0 {
		return pick(w.rng, subjects)
	}
	return subjects[(w.asked/driftEvery+w.rng.IntN(3))%len(subjects)]
}

// reword returns the question as another user might type it.
func (w *Workload) reword(q string) string {
	switch w.rng.IntN(8) {
	case 0:
		return strings.ToLower(q)
	case 1:
		return strings.TrimSuffix(q, "?")
	case 2:
		return strings.ToLower(strings.TrimSuffix(q, "?")) + " ??"
	case 3:
		return "Please tell me: " + q
	case 4:
		return otherWay(q)
	}
	return q
}

func pick[T any](rng *rand.Rand, list []T) T { return list[rng.IntN(len(list))] }

// skewed prefers the first ones.
func skewed(rng *rand.Rand, list []string) string {
	u := rng.Float64()
	return list[int(u*u*float64(len(list)))]
}
