// Package align finds what keeps an engine from reusing its KV cache, and repairs some of it where the operator asks for that.
//
// An engine reuses the blocks of a prompt up to the first token that differs from what it has. One timestamp at the head of a system
// prompt therefore costs the whole prompt in every request. [Watch] compares each request of an application with the latest ones of the
// same application, and reports where they part although the text behind is the same again: the place, what the varying text looks
// like, the tokens that are prefilled again, and what repairs it. The end of what two requests share, such as another question of another
// user, is no defect: nothing behind it is the same.
//
// A report has places and classes only. The texts that it follows from stay in memory: of each application those of its latest prompts,
// within [Options].
//
// A [Canonicaliser] changes requests so that equal things are written in the same way, before they are keyed and forwarded. The model
// sees the change, so that no level but [C0], which changes nothing, is ever a default.
//
// Segments are compared as JSON. Members in another order, white space between them, markers of cache breakpoints and a text that is
// given as the only part of a list are the same message to an engine, and count as equal in messages; inside tools, whose JSON engines
// render into the prompt, the order of members counts.
package align

import "reprise/proxy/upstream/prefix"

// App names an application: requests with equal members are expected to begin alike. Tenant must be no secret: it is reported.
type App struct {
	Tenant    string `json:"tenant"`
	Model     string `json:"model"`
	Path      string `json:"path"` // of the API
	Namespace string `json:"namespace,omitempty"`
}

// Segment is a part of a request as it is forwarded: a JSON value, such as a message.
type Segment struct {
	Kind prefix.Kind
	Text []byte
}

// Class is what a varying text looks like.
type Class string

// The classes.
const (
	Timestamp  Class = "timestamp"   // a date, a time, or both
	UUID       Class = "uuid"        // 8-4-4-4-12 hexadecimal digits
	Number     Class = "number"      // a counter or another number
	Token      Class = "token"       // random digits and letters, such as the id of a request
	Name       Class = "name"        // of a user or a session
	ToolOrder  Class = "tool order"  // the same tools in another order
	ToolSet    Class = "tool set"    // other tools
	KeyOrder   Class = "key order"   // the same JSON members in another order
	TextOrder  Class = "text order"  // the same text in another order
	Whitespace Class = "white space" // more, less or other white space
	History    Class = "history"     // messages that were dropped from, or put into, the conversation before its end
	Unknown    Class = "unknown"     // any other text
)

// classes are all classes with their words in a sentence, and what makes a text of the class harmless.
var classes = [classCount]struct {
	class         Class
	words, repair string
}{
	{Timestamp, "looks like a timestamp", "move it behind the stable text, into the last user message, or round it to the day"},
	{UUID, "looks like a UUID", "leave it out of the prompt, or move it behind the stable text; an id for logs belongs into a header"},
	{Number, "looks like a number", "move it behind the stable text, or leave it out"},
	{Token, "looks like a random id", "leave it out of the prompt, or move it behind the stable text; an id for logs belongs into a header"},
	{Name, "looks like the name of a user or a session", "move it behind the stable text, into the first user message"},
	{ToolOrder, "the same tools in another order", "list the tools in a fixed order, such as by name (canonical level C3 does)"},
	{ToolSet, "other tools", "send the same tools in every request, and restrict their use with tool_choice"},
	{KeyOrder, "the same JSON members in another order", "write the members of JSON objects in a fixed order (canonical level C2 does in the schemas of tools)"},
	{TextOrder, "the same text in another order", "put the parts in a fixed order"},
	{Whitespace, "other white space", "build the text with the same white space in every request"},
	{History, "messages were dropped or put in before it", "append to the conversation only; where it must be cut, cut many messages at once, so that it happens rarely"},
	{Unknown, "text that changes", "move what varies behind the stable text"},
}

const classCount = 12

// number is the place of a class among all.
func (c Class) number() int {
	for i := range classes {
		if classes[i].class == c {
			return i
		}
	}
	return classCount - 1
}
