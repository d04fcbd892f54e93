// Package dialect defines which fields the proxy may add to requests for a kind of upstream.
//
// A dialect turns an [Intent], which is the same for every engine, into edits of the request's bytes. It never re-encodes
// a body, so unknown fields survive. No field is added without a dialect that supports it, and a field that an upstream refuses
// is not added any more: the caller keeps the refused fields of each upstream.
//
// Of what a field of ours changes in an answer the client gets nothing. The only such field is [StreamUsage]; docs/engines.md has a table of what
// it changes at which upstream, and reprise/proxy/api/openai how the chunks are known.
//
// A new dialect is a table in tables.go, or a type that implements [Dialect] where it edits the structure of the body, and a place in the
// list below.
package dialect

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
)

// Intent is what the proxy wants of an engine besides the client's request, the same for every engine. What a dialect cannot express is
// left out.
type Intent struct {
	StreamUsage bool // the stream reports its usage, although the client has not asked for it

	Affinity     string // requests with equal keys share a prefix; at most 64 of [A-Za-z0-9_-]; "": no wish
	Conversation string // equal in all requests of one conversation, in the same form; "": unknown
	Salt         string // requests with other salts must share no KV block, in the same form; "": no isolation is asked for
	Retain       Retain // how long the prefix is worth being kept
}

// Retain is how long an engine should keep a prefix.
type Retain uint8

// The values of Retain.
const (
	RetainDefault Retain = iota // as the engine does without being asked
	RetainOff                   // not at all: no later request is expected, and a write would cost more than it saves
	RetainShort                 // some minutes: 5 at Anthropic, 30 at OpenAI
	RetainLong                  // an hour at Anthropic, 24 at OpenAI
)

// Request is a client's request as a dialect sees it. It must not be changed.
type Request struct {
	Path   string // of the API, such as /v1/chat/completions
	Model  string // by its name at the upstream
	Asked  string // the name by which clients ask for it
	Header http.Header
	Body   []byte

	Version    string // of the upstream, such as "0.29.1"; "": unknown
	SessionKey string // the header by which the upstream keeps sessions apart, where its operator chooses it
	Trust      bool   // its clients may set the fields that steer the parts of a serving system
}

// Field names what a dialect adds: the path of a member of the body, or "header:NAME".
type Field string

// StreamUsage is the member by which a stream is asked to report its usage.
const StreamUsage Field = "stream_options.include_usage"

// Edits are what a dialect changes in a request.
type Edits struct {
	Body   []byte      // the request's own where nothing changed
	Header http.Header // fields to be set; nil: none
	Added  []Field     // all that was added, of the body and the header
	Noop   []string    // the members of Intent that were wanted and cannot be expressed, such as "Salt"; "Affinity" is Conversation too

	Removed []Field // the client's, which it must not set
}

// Dialect is the set of fields that one kind of upstream accepts. A dialect has no state.
type Dialect interface {
	// Name is its name in settings.
	Name() string
	// Edit returns r with the fields that want calls for, except those for which quarantined is true, and without those that a client
	// must not set. A field that the client has set itself stays as it is, and counts as expressed. Every other byte of the body stays.
	// A body that is no object stays as it is.
	Edit(r Request, want Intent, quarantined func(Field) bool) Edits
	// Caps returns what retention is worth asking for.
	Caps(model string) Caps
}

// Default is the dialect of an upstream without a configured one.
const Default = "generic"

// dialects is the registry.
var dialects = []Dialect{&generic, &plain, openAI{"openai"}, openAI{"azure-openai"}, anthropic{}, &vLLM, &sgLang, &smg, &trtLLM, &dynamo,
	&llmD, &aiBrix, &productionStack, &xAI, &fireworks, &mistral, &llamaCPP}

// New returns the dialect called name; "" is Default.
func New(name string) (Dialect, error) {
	if name == "" {
		name = Default
	}
	for _, d := range dialects {
		if d.Name() == name {
			return d, nil
		}
	}
	return nil, fmt.Errorf("dialect %q is not one of %s", name, strings.Join(Names(), ", "))
}

// Names lists the dialects.
func Names() (names []string) {
	for _, d := range dialects {
		names = append(names, d.Name())
	}
	return names
}

// Named returns those of the added fields that an error answer is about, by its text: the names that it has as whole words. head is the
// start of the answer's body.
func Named(head []byte, added []Field) (named []Field) {
	for _, field := range added {
		path := strings.TrimPrefix(string(field), headerPrefix)
		for part := range strings.SplitSeq(path, ".") {
			if hasWord(head, []byte(part)) {
				named = append(named, field)
				break
			}
		}
	}
	return named
}

// headerPrefix begins the name of a field of the header.
const headerPrefix = "header:"

// hasWord reports whether a text has a word, in any case and with no other letter of a name beside it.
func hasWord(text, word []byte) bool {
	for i := 0; i+len(word) <= len(text); i++ {
		end := i + len(word)
		if bytes.EqualFold(text[i:end], word) && (i == 0 || !isLetter(text[i-1])) && (end == len(text) || !isLetter(text[end])) {
			return true
		}
	}
	return false
}

func isLetter(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
