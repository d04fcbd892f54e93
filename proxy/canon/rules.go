package canon

// Rules describe how the requests of one API are read.
type Rules struct {
	// Code is the API's number in every key. It never changes, and no other API gets it.
	Code byte
	// Field is the member of the body with the conversation.
	Field string
	// Names are the fields that this API reads. The names of the other APIs and [CommonNames] are added when the API is registered, because
	// gateways accept the fields of one API in the requests of another.
	Names Names
	// Defaults are the values of fields that mean the same as their absence; nil: there are none.
	Defaults *Defaults
	// Tools and System are the members of the body that an engine renders before the conversation; see [Request.Segments].
	Tools, System []string
	// Mark is a member that marks the end of a prefix for the cache of an engine, in the body and in the blocks of tools, system prompt and
	// messages: no answer depends on it, and it is no part of the key. "": there is none.
	Mark string
	// Aside are members of the body that cannot change an answer, and are no part of the key, beside those common to all APIs.
	Aside []string
	// ExactOnly are members of the body with which a request is matched by its key alone, where they are set.
	ExactOnly []string
	// Streamed: a request is for a stream unless its member "stream" is false.
	Streamed bool
	// Uncacheable are members of the body that forbid keeping the answer where they are given, each with the reason, beside those common to
	// all APIs.
	Uncacheable map[string]string
	// Stateless are the members of the body that allow keeping the answer; any other that is given forbids it, as unknown-field. nil: all
	// members allow it.
	Stateless Names
	// Items are the members of the body beside which each element of a list in Field has an answer of its own, whatever the other elements are;
	// see [Request.Items]. nil: the elements have one answer together.
	Items Names
	// Links are the places of ids that count by their number; nil: there are none. See [Link].
	Links []Link
	// Reference is the type of elements that name parts of the conversation which the upstream has; elements without type and role do so too.
	// In a conversation with such an element, a result may have the id of a call which the body lacks, so all ids count as the upstream
	// gets them. "": there is none.
	Reference string
	// Originals finds the id that the upstream gets for the id of a replay; nil: it gets ids as they are.
	Originals Originals
	// Conversation reads the member Field.
	Conversation Conversation
}

// Conversation reads the conversations of an API.
type Conversation interface {
	// Read reads a conversation, the zero Value when it is absent, by one of [Reader.Messages], [Reader.UserMessage] and [Reader.Whole].
	Read(r *Reader, conversation Value) *Error
}

// Originals finds the ids that the upstream knows in the ids that replays have made of them.
type Originals interface {
	// Original returns the upstream's id for the id of a replay; false for any other id.
	Original(id string) (string, bool)
}

// Messages are the rules for the messages of an API whose conversations are lists.
type Messages interface {
	// Role returns the side of the conversation that an element of the list is on. The element is an object.
	Role(r *Reader, element Value) (Role, *Error)
	// IsMessage reports whether an element is a message: an object with role and content. Any other counts as it is.
	IsMessage(element Value) bool
	// Ignores reports whether a member of a message is no part of the key.
	Ignores(name []byte, v Value, role Role) bool
	// IsText reports whether a content part of this type is text, in its member "text".
	IsText(partType []byte) bool
}

// PlainMessages are the rules for lists of nothing but messages, each with a role of its own, of which all members count.
type PlainMessages struct{}

var _ Messages = PlainMessages{}

func (PlainMessages) Role(_ *Reader, message Value) (Role, *Error) { return RoleOf(message) }
func (PlainMessages) IsMessage(Value) bool                         { return true }
func (PlainMessages) Ignores([]byte, Value, Role) bool             { return false }
func (PlainMessages) IsText(partType []byte) bool                  { return string(partType) == "text" }

// Role is the side of the conversation that a message is on.
type Role uint8

// The roles.
const (
	RoleUser      Role = iota
	RoleSystem         // system or developer
	RoleAssistant      // the assistant, its tool calls and thoughts
	RoleTool           // outputs of tools
	RoleOther
)

// exactOnly returns the reason why a request that ends with a message of this role is matched exactly only.
func (r Role) exactOnly() string {
	switch r {
	case RoleAssistant:
		return "prefill"
	case RoleTool:
		return "tool-result"
	}
	return "role"
}

// RoleOf reads the role of a message from its member "role".
func RoleOf(message Value) (Role, *Error) {
	v := message.Member("role")
	if !v.IsString() {
		return RoleOther, message.BadMember("role", `must be a string, e.g. "user"`)
	}
	switch string(v.Text()) {
	case "user":
		return RoleUser, nil
	case "system", "developer":
		return RoleSystem, nil
	case "assistant":
		return RoleAssistant, nil
	case "tool", "function":
		return RoleTool, nil
	}
	return RoleOther, nil
}

// SetUncacheable forbids keeping the answer. The first reason stays, but for liveWeb, which may be allowed.
func (p *Reader) SetUncacheable(reason string) {
	if p.req.Uncacheable == liveWeb && reason != "" {
		p.req.Uncacheable = ""
	}
	note(&p.req.Uncacheable, reason)
}

// SetExactOnly excludes the request from comparison by meaning. The first reason stays.
func (p *Reader) SetExactOnly(reason string) { note(&p.req.ExactOnly, reason) }

// note keeps the first reason.
func note(to *string, reason string) {
	if *to == "" {
		*to = reason
	}
}

// Bad refuses the conversation: it is absent, or not what it must be.
func (p *Reader) Bad(must string) *Error { return p.bad(0, p.convo, p.rules.Field, must) }

// bad refuses a member v of the object parent: absent (0), or not what it must be.
func (d *doc) bad(parent, v uint32, name, must string) *Error {
	if v == 0 {
		return refuse(codeMissing, d.offset(parent), "is missing; it %s", must).under([]byte(name))
	}
	return refuse(codeType, d.offset(v), "%s", must).under([]byte(name))
}
