// Package canon identifies a request: raw bytes in; key, scope, prompt, conversation and segments out.
//
// It is pure: no clock, no I/O, no state except pooled buffers and the matches that an [Ignore] remembers. One strict pass comes
// first, because JSON readers disagree (a duplicate name is the first for one reader and the last for another, "Messages" is "messages" for a third): a cache
// that keys on one reading and forwards the bytes could be poisoned. Every reader reads a body that passes in the same
// way, so the key and the forwarded bytes mean the same.
//
// What is particular to one API (where its conversation is, how its messages are read, what makes its answers
// uncacheable) comes from outside, as [Rules]; package reprise/proxy/api has them.
//
// Equality. Two bodies are the same request when they differ in the order of members, white space, escapes of strings or
// the form of numbers (1, 1.0, 1e0), and in fields that cannot change an answer: stream, stream_options,
// prompt_cache_key, prompt_cache_options, prompt_cache_retention and an object cache of nothing but directives; in a field with
// a value that means the same as its absence, by the API's table of [Defaults]; where [Identity] says so, in who asked; and in what the operator ignores ([Ignore]). Every
// other field counts, known or not, null or absent. A content of exactly one plain text part equals the string, and an input string
// of the Responses API equals one user message, because the APIs say so; no other two spellings are made equal.
//
// Ids that only link parts of one conversation (which call a result belongs to) count by the order of their first appearance, see
// [Link]: an engine makes new ones each time that it is asked the same.
//
// Structure. The base is identity, API, every field but the conversation, and the preamble: all that comes before the
// first user message. After it come turns: an ask (user messages, and system or developer messages among them) and its
// answer (everything up to the next ask). Keys are chained over the turns,
//
//	key(i) = H(state(i), ask(i))    state(i+1) = H(key(i), answer(i))    state(0) = base
//
// so that the keys of all shorter requests that led here come with the request's own, in linear time.
package canon

import (
	"crypto/sha256"
	"sync"
	"time"
)

// Identity is everything outside the body that two requests must have in common to share an answer.
type Identity struct {
	Tenant, Namespace, Path, Query string
	// Model is the model that the path names. The body need not name one then, and if it does, its name is only a field that counts. "": the
	// body must name one. Model counts as a part of the path.
	Model string
	// Headers are the lines "name: value" that can change an answer, each name always in the same letter case, in an order that
	// the caller keeps fixed.
	Headers []string
	// Attributed: the upstream documents that the fields of the rows with [Default.Attributes] only attribute a request to a user.
	Attributed bool
}

// Hash is a SHA-256.
type Hash = [sha256.Size]byte

// Request is the result of reading a body.
type Request struct {
	Body                 []byte // as given to Parse, not copied
	Model                string
	Stream, IncludeUsage bool

	Key   Hash // equal keys are the same request
	Scope Hash // what two requests must share besides the meaning of their prompts: the base, and all of the last ask except its text
	// Prompt is the text that is compared by meaning: the texts of the user messages of the last ask, joined by line feeds. It is
	// empty when ExactOnly is set.
	Prompt string
	Turns  []Turn // the conversation before the prompt, oldest first
	// Items are the keys of the requests for one element each of a list of 2 to 2,048, where the answer to the list is their answers together;
	// see [Rules.Items]. nil: it is not, or there is no such list.
	Items []Hash
	// Segments are the parts of Body that an engine renders into its prompt, in the order of rendering: tools, system
	// members, then the messages. They do not overlap; between the messages lie only commas and white space.
	Segments []Segment

	// Uncacheable is empty or the reason why nothing of this request may be kept or served, a short token: n, audio,
	// stored, background, previous-response, conversation, server-state, live-tools, unload, live-web (where there is no
	// other), encrypted-reasoning, unknown-field, empty-prompt.
	Uncacheable string
	// ExactOnly is empty or the reason why it is matched by Key alone: tool-result, prefill, role (the last message is
	// not a user's), media (no text), no-prompt, long-prompt (over maxPrompt), batch, tokens, embeddings.
	ExactOnly string
	// Ignored names what was taken out of key and scope by [Ignore], in the order of the body: members, then named groups.
	Ignored []string
	// Links are the ids that count by their numbers, and the ids that the upstream gets for them; see [Link]. An answer that names one of
	// them cannot be served to a conversation with other ids; see [Request.Named].
	Links     []string
	Directive Directive
	// Ask is the digest of the last ask as it counts in Key; zero where the conversation does not end with an ask.
	Ask Hash
	// OwnCache reports that the member "cache" of the body is an object with nothing but directives. It is meant for this proxy and is not
	// forwarded: OpenAI answers it with 400.
	OwnCache bool

	parts parts
}

// Turn is one ask of the conversation before the prompt, and the messages that answered it.
type Turn struct {
	Key    Hash // the Key of the request that ended at this ask, everything else being equal
	Ask    Hash // of the ask's messages
	Answer Hash // of all messages between this ask and the next; of the last turn of an unfinished answer, up to the end
	// AnswerText is AnswerText of the reply when the answer is one assistant message of nothing but text; else zero.
	AnswerText Hash
}

// Directive is what the body's member "cache" asks of the cache, in LiteLLM's words. Only Namespace is part of the key,
// because it can only narrow what a request shares. An object with any other member is the upstream's own: its directives
// are read, and all of it counts.
type Directive struct {
	TTL       time.Duration // "ttl", seconds to keep the answer; 0: not given
	MaxAge    time.Duration // "s-maxage", seconds an answer may be old; 0: not given
	NoCache   bool          // "no-cache", or "s-maxage": 0
	NoStore   bool          // "no-store", or "ttl": 0
	Namespace string        // "namespace"
}

// AnswerText returns the hash by which the text of an answer is compared with a turn of a later request.
func AnswerText(text []byte) Hash { return sha256.Sum256(text) }

// Parse reads a body by the rules of its API. ignore is called once the name of the model and the body's own namespace are known; nil, and a
// result of nil, ignore nothing. The error is an *Error with the place, the problem and what is allowed.
// Parse keeps body in the Request and never writes to it. The cost is linear in the body except for the sorting of names
// in each object; [Memory] bounds the memory that it takes beside the body.
func Parse(rules *Rules, body []byte, id Identity, ignore func(model, namespace string) *Ignore) (*Request, error) {
	p := readers.Get().(*Reader)
	defer p.release()
	r := &Request{Body: body}
	if err := p.parse(rules, r, id, ignore); err != nil {
		return nil, err.finish()
	}
	return r, nil
}

var readers = sync.Pool{New: func() any { return new(Reader) }}

// keepBytes is the most buffer memory that a pooled Reader keeps between requests.
const keepBytes = 1 << 20

// Reader reads one request. [Rules] call its exported methods, which are valid during [Conversation.Read] only. Its buffers are
// pooled; nothing in a Request points into them.
type Reader struct {
	scanner
	buf   []byte // the canonical bytes to hash next
	req   *Request
	rules *Rules

	convo  uint32  // the value of rules.Field; 0 when absent
	fields int     // bytes of buf before the conversation
	ignore *Ignore // nil: nothing
	masks  *masks  // nil: none
	links  links
}

func (p *Reader) release() {
	p.req, p.body, p.rules, p.ignore, p.masks = nil, nil, nil, nil, nil
	p.links.reset()
	if p.size()+cap(p.buf) <= keepBytes {
		readers.Put(p)
	}
}

func (p *Reader) parse(rules *Rules, r *Request, id Identity, ignore func(model, namespace string) *Ignore) *Error {
	p.rules, p.req, p.convo = rules, r, 0
	r.Stream = rules.Streamed
	p.discard()
	if err := p.scan(r.Body); err != nil {
		return err
	}
	if err := p.checkNames(rules.Names, 0); err != nil {
		return err
	}
	if err := readModel(p, id.Model); err != nil {
		return err
	}
	if ignore != nil {
		p.ignore = ignore(r.Model, ownNamespace(p))
	}
	dropMarks(p)
	p.attributed = id.Attributed && p.ignore.attributes()
	p.buf = appendIdentity(p.buf, rules.Code, id)
	if p.ignore != nil {
		p.masks = newMasks(p.ignore, id.Tenant)
		p.buf = append(append(p.buf, tagIgnore), p.ignore.digest[:]...)
		p.mark(len(p.buf)-len(p.ignore.digest), atIgnored)
	}
	if err := p.readMembers(); err != nil {
		return err
	}
	return rules.Conversation.Read(p, p.value(p.convo))
}
