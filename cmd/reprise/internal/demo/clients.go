package demo

import (
	"strings"
	"time"

	"reprise/internal/traffic"
)

// Conversation is a conversation, and the application that has it.
type Conversation struct {
	traffic.Conversation
	From Client
}

// Recorded gives the conversations of a file to a client without a credential.
func Recorded(next func() (traffic.Conversation, error)) func() (Conversation, error) {
	return func() (c Conversation, err error) {
		c.Conversation, err = next()
		return c, err
	}
}

// Client is what the requests of an application have beside the conversation.
type Client struct {
	Model string // "": Options.Model
	Key   string // its credential, and so its tenant; "": none
	TTL   string // for its answers, as in X-Reprise-Ttl; "": the proxy's
}

// The applications of Workload: the help of the product on its web site, which needs no credential; the assistant in the editor, with a long
// system prompt that stays as it is; the desk of the staff, whose system prompt begins with the time, so that its requests share nothing; and a
// page that shows whether there is a disturbance, whose answers live a second.
var (
	help   = Client{}
	editor = Client{Model: editorModel, Key: "demo-key-of-the-editor"}
	desk   = Client{Key: "demo-key-of-the-desk"}
	status = Client{TTL: "1s"}
)

const editorModel = "gpt-4o"

const (
	statusQuestion = "Are there any disturbances at the moment?"

	editorSystem = `You are the writing assistant in the editor of a note-taking application. The reader sees your text in the note itself.
Rules for the text:
- Write in the language of the note. Use plain words and short sentences, and no exclamation marks.
- Return only the text for the note: no greeting, no comment on the task, no closing question.
- A title has at most eight words and no full stop at its end.
- A checklist has between four and seven points. Each point begins with a verb.
- An agenda has a time for each point, and ends with the next steps.
- Tags are small letters, with hyphens between words, at most five of them.
- A template has headings, and below each heading one line that says what belongs there.
- When the user asks for a change, return the whole text again with that change, and change nothing else.
Rules for facts:
- Use only what the note and the user say. If a name, a date or a number is missing, write it as [name], [date] or [number].
- Do not quote laws, prices or medical advice. Suggest to ask a person who is qualified for it.
- If the user asks for something that is not about the note, say in one sentence that you help with notes.
Rules for form:
- Use Markdown: headings with #, lists with -, checklists with - [ ].
- Do not use tables unless the user asks for one, and no HTML.
- Keep quotations, code and links as they are, letter by letter.`

	deskSystem = `You help the support staff of a note-taking application to answer customers.
- Answer in at most three sentences, with the names of the menus as the customer sees them.
- Say when an answer depends on the plan: Free, Plus or Business.
- Never ask for a password or a recovery code, and never promise a refund.
- If the question is about an account of another person, say that only its owner can ask.
- If the answer is not in the help centre, say so, and pass the question on to the second line.`
)

// deskPrompt is the system prompt of the desk at a time: what follows the time is always the same, and is read again each time.
func deskPrompt(now time.Time) string {
	return "The time is " + now.Format("2006-01-02 15:04") + ".\n" + deskSystem
}

// Models returns the models that the workload asks for beside Options.Model.
func Models() []string { return []string{editorModel} }

// writing is what users ask the assistant in the editor.
var writing = subject{
	[]string{"Suggest a title for the notes of a weekly team meeting.", "Write a checklist for moving to a new flat.", "Write an agenda for a first meeting with a customer.",
		"Suggest tags for a note about a sourdough recipe.", "Write a template for a bug report.", "Suggest headings for a project diary.",
		"Write a checklist for a conference talk.", "Turn this into a polite reminder: the report was due on Friday."},
	[]string{"Make it shorter.", "Add one more point.", "Write it in a more formal way."},
}

// staff is what the support staff asks at the desk.
var staff = subject{questions: []string{"Where do I see which plan a customer has?", "How do I send a customer the report of the last sync?",
	"Whom do I ask about an invoice that is in dispute?", "How do I find the log of a failed export?", "When do I pass a question on to the second line?"}}

// ways are the ways of asking that Workload varies; the second of each pair is answered as the first.
var ways = [][2]string{{"How do I ", "How can I "}, {"Is there a way to ", "Is it possible to "}}

func otherWay(question string) string {
	for _, w := range ways {
		if rest, ok := strings.CutPrefix(question, w[0]); ok {
			return w[1] + rest
		}
	}
	return question
}
