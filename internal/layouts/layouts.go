// Package layouts has prompts as applications send them, for tests and replays: a text of a user in a fixed text around it.
package layouts

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// All are templates of the kinds that libraries for applications ship: an instruction in front or behind, a document before or after a question,
// tags, headings, a quoted text, JSON. {ask} is where the text of a user stands, and {doc} a document; without {ask}, the document is what varies.
var All = []string{
	"Answer the question by the notes below. Say that you do not know where they are silent.\n\n{doc}\n\nQuestion: {ask}\nAnswer:",
	"You help with questions about documents. Keep the answer to three sentences at most.\nQuestion: {ask}\nContext: {doc}\nAnswer:",
	"Here is what we know.\n-----\n{doc}\n-----\nUse this and nothing else to answer.\nQuery: {ask}\nAnswer: ",
	"Summarise the following text in one paragraph:\n\n\"{doc}\"\n\nSUMMARY:",
	"Fill in the fields of the function from the passage. Leave out what it does not say.\n\nPassage:\n{doc}",
	"Which of these is the message about: billing, shipping, other? Reply with one word.\n\n{ask}",
	"Translate this English text into French: \"{ask}\"",
	"<instructions>\nAnswer from the documents and cite them.\n</instructions>\n<documents>\n{doc}\n</documents>\n<question>\n{ask}\n</question>",
	"### Instruction:\nWrite a polite reply to the customer.\n\n### Input:\n{ask}\n\n### Response:\n",
	"Return nothing but JSON. {\"task\": \"sentiment\", \"text\": \"{ask}\", \"language\": \"en\"}",
}

// Fill puts a document and a text into a template.
func Fill(template, doc, ask string) string {
	return strings.NewReplacer("{doc}", doc, "{ask}", ask).Replace(template)
}

// Ask puts a text into a template: as what is asked or, where nothing is, as the document.
func Ask(template, doc, text string) string {
	if !strings.Contains(template, "{ask}") {
		doc = text
	}
	return Fill(template, doc, text)
}

// Doc is the document of a number: some sentences that no other document has.
func Doc(number uint64) string {
	rng := rand.New(rand.NewPCG(number, 29))
	var b strings.Builder
	for i := range 4 + rng.IntN(24) {
		if i > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "The %s of %s %d costs %d a %s, and %s is %s from %d on.", pick(rng, things), pick(rng, places), rng.IntN(1000), rng.IntN(5000),
			pick(rng, times), pick(rng, things), pick(rng, states), rng.IntN(365))
	}
	return b.String()
}

var (
	things = strings.Fields("tram ferry museum garden library pool market bridge school tower theatre harbour")
	places = strings.Fields("district village street island valley station quarter hill")
	times  = strings.Fields("day week month year visit person")
	states = strings.Fields("open closed free full repaired moved sold")
)

func pick(rng *rand.Rand, all []string) string { return all[rng.IntN(len(all))] }
