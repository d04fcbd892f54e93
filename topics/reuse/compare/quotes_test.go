package compare

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// orders and questions are what users ask in several wordings, with answers in the assistant's own words.
var orders = []struct{ what, answers string }{
	{"reset my password", "To reset your password, open Settings, select Security and click Reset password.|You can reset your password on the login page.|To reset my password, I open Settings."},
	{"restart the server", "Please restart the server with `systemctl restart app`.|Restart the server from the panel: click Power, then Restart.|You can restart the server in the panel."},
	{"cancel my order", "You can cancel your order until it ships. Open Orders and click \"Cancel order\".|Could you tell me your order number? Then I can cancel it for you."},
	{"sort a list in Python", "Use `sorted(words)` to sort a list in Python.|Here is how to sort a list in Python: call `sort()`:\n```python\nwords.sort()\n```"},
	{"get a refund", "You can get a refund within 14 days.|Refunds are paid to your card. To get a refund, fill in the form."},
	{"export the report to PDF", "Open the report, click Export and choose PDF.|To export the report to PDF, click **Export**."},
	{"connect to the office VPN from home", "Install the client, sign in and choose Office. You can then connect to the office VPN from home."},
	{"boil an egg", "Put the egg in boiling water for 8 minutes.|To boil an egg, heat water, then add the egg."},
	{"change the language of the app", "Open Settings > Language.|You can change the language of the app under Settings > Language. Please restart the app afterwards."},
	{"apply for parental leave", "Please contact HR about how to apply for parental leave.|Please contact HR. You have to apply for parental leave 7 weeks before it starts."},
}

var facts = []struct{ of, answers string }{
	{"the capital of France", "The capital of France is Paris.|Paris is the capital of France.|Paris"},
	{"the boiling point of water", "The boiling point of water is 100 °C.|Water boils at 100 °C."},
	{"the price of the premium plan", "The price of the premium plan is $12 a month.|It is $12."},
	{"the deadline for the grant of the EU", "The deadline for the grant of the EU is 1 May.|1 May"},
	{"the tallest mountain of Africa", "Kilimanjaro is the tallest mountain of Africa. What a sight!"},
	{"the difference between TCP and UDP", "The difference between TCP and UDP is that TCP is reliable.|TCP is reliable, UDP is fast."},
	{"the phone number of the support", "The phone number of the support is 0800 12345. Please tell me if you need more.|Please call 0800 12345."},
}

var (
	askedHow  = strings.Split("How do I %s?|how do I %s?|How do I %s|how do i %s|How can I %s?|how can i %s|How to %s?|how to %s|Please tell me how to %s.|Could you tell me how I %s?|could you please tell me how to %s|Hi, how do I %s?|How do I %s? Thanks!|How would I %s?", "|")
	askedWhat = strings.Split("What is %s?|what is %s|What is %s|What's %s?|what's %s|Please tell me %s.|Could you tell me %s?|Tell me %s|tell me %s|What is %s, please?|Hello, what is %s?|Do you know %s?|WHAT IS %s?", "|")
	quotings  = []func(p string) string{
		func(p string) string { return "You asked: " + p + "\nHere is what I found." },
		func(p string) string { return fmt.Sprintf("The question “%s” is about our product.", p) },
		func(p string) string { return "> " + p + "\n\nIt depends." },
		func(p string) string { b, _ := json.Marshal(map[string]string{"question": p}); return string(b) },
		func(p string) string { return "Tokens: " + strings.Join(strings.Fields(p), " ") + " (end)" },
	}
)

// TestQuotes measures on questions of support and facts in all pairs of wordings: answers in own words are not taken for quotations, and
// answers that repeat the stored wording are.
func TestQuotes(t *testing.T) {
	var own, ownAll, repeated, repeatedAll int
	all := func(wordings []string, what, answers string) {
		for i, v := range wordings {
			for j, w := range wordings {
				if i == j {
					continue
				}
				stored, asked := fmt.Sprintf(v, what), fmt.Sprintf(w, what)
				for answer := range strings.SplitSeq(answers, "|") {
					if ownAll++; Quotes(answer, stored, asked) {
						own++
						t.Logf("own words: %q, %q: %q", stored, asked, answer)
					}
				}
				for k, quote := range quotings {
					if repeatedAll++; !Quotes(quote(stored), stored, asked) {
						repeated++
						if repeated < 60 {
							t.Logf("repeated %d: %q, %q: %q", k, stored, asked, quote(stored))
						}
					}
				}
			}
		}
	}
	for _, o := range orders {
		all(askedHow, o.what, o.answers)
	}
	for _, f := range facts {
		all(askedWhat, f.of, f.answers)
	}
	if own*50 > ownAll || repeated > 0 {
		t.Errorf("too many errors")
	}
	t.Logf("%d of %d answers in own words are taken for quotations; %d of %d that repeat are not", own, ownAll, repeated, repeatedAll)
}

// TestQuotesExamples are prompts that differ in a word, a typo, a mark or case, and answers that have it.
func TestQuotesExamples(t *testing.T) {
	for _, c := range []struct {
		answer, stored, asked string
		want                  bool
	}{
		{"Hamlet was written by Shakespeare.", "Who wrote Hamlet?", "Who wrote Macbeth?", true},
		{"It was written by Shakespeare.", "Who wrote Hamlet?", "Who wrote Macbeth?", false},
		{"To reset your password, open Settings.", "How do I reset my password?", "How do I reset my pasword?", false},
		{"\"pasword\" is misspelled.", "spell: my pasword", "spell: my password", true},
		{"`France` is a name.", "names: in France", "names: in france", true},
		{`["I","am","here"]`, "tokens: I am here", "tokens: i am here", true},
		{`{"tool":"weather","city":"Oslo"}`, "Weather in Oslo", "weather in Oslo?", false},
		{"We ship parcels to Canada within a week.", "do you ship large parcels to Canada", "is it possible that heavy goods go to Ottawa", false},
		{"Whether we ship large parcels to Canada depends.", "Do we ship large parcels to Canada", "is it possible that heavy goods go to Ottawa", true},
		{"anything", "equal", "equal", false},
		{"Read " + strings.Repeat("x ", 2000) + "what now", strings.Repeat("x ", 2000) + "what now exactly?", strings.Repeat("x ", 2000) + "What now, exactly?", false},
		{"You wrote: what now exactly?", strings.Repeat("x ", 2000) + "what now exactly?", strings.Repeat("x ", 2000) + "What now, exactly?", true},
	} {
		if got := Quotes(c.answer, c.stored, c.asked); got != c.want {
			t.Errorf("%q, %q, %q: %v", c.answer, c.stored[max(0, len(c.stored)-60):], c.asked[max(0, len(c.asked)-60):], got)
		}
	}
}
