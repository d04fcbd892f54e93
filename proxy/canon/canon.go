// Package canon tells what a request is: raw bytes in; key, scope, prompt and conversation out.
//
// It is pure: no clock, no I/O, no state but pooled buffers. One strict pass comes first, because JSON readers disagree
// (a duplicate name is the first for one reader and the last for another, "Messages" is "messages" for a third): a cache
// that keys on one reading and forwards the bytes could be poisoned. What passes is read alike by every reader, so that
// the key and the bytes sent on mean the same.
//
// Equality. Two bodies are the same request when they differ in the order of members, white space, escapes of strings or
// the form of numbers (1, 1.0, 1e0), and in fields that cannot change an answer: stream, stream_options,
// prompt_cache_key, prompt_cache_options, prompt_cache_retention and the directive object cache. Every other field
// counts, known or not, null or absent. A content of exactly one plain text part equals the string, and an input string
// of the Responses API equals one user message, because the APIs say so; no other two spellings are made equal.
//
// Structure. The base is identity, family, every field but the conversation, and the preamble: all that comes before the
// first user message. After it come turns: an ask (user messages, and system or developer messages among them) and its
// answer (everything up to the next ask). Keys are chained over the turns,
//
//	key(i) = H(state(i), ask(i))    state(i+1) = H(key(i), answer(i))    state(0) = base
//
// so that the keys of all shorter requests that led here come with the request's own, in linear time.
package canon

import (
	"crypto/sha256"
	"strconv"
	"sync"
	"time"
)

// Family is an API that is cached.
type Family uint8

// The families.
const (
	Chat Family = iota + 1
	Completions
	Responses
	Embeddings // matched exactly only
)

// String is the family's name as metrics and logs spell it.
func (f Family) String() string {
	switch f {
	case Chat:
		return "chat"
	case Completions:
		return "completions"
	case Responses:
		return "responses"
	case Embeddings:
		return "embeddings"
	}
	return "family " + strconv.Itoa(int(f))
}

// field is the member that holds the conversation.
func (f Family) field() string {
	switch f {
	case Chat:
		return "messages"
	case Completions:
		return "prompt"
	}
	return "input"
}

// Identity is everything outside the body that two requests must have in common to share an answer.
type Identity struct {
	Tenant, Namespace, Path, Query string
	// Headers are the lines "name: value" that can change an answer, names in lower case, in an order that the caller
	// keeps fixed.
	Headers []string
}

// Hash is a SHA-256.
type Hash = [sha256.Size]byte

// Request is what a body was read as.
type Request struct {
	Family               Family
	Body                 []byte // as given to Parse, not copied
	Model                string
	Stream, IncludeUsage bool

	Key   Hash // equal keys are the same request
	Scope Hash // what two requests must share besides the meaning of their prompts: the base, and what else the last ask holds
	// Prompt is the text that is compared by meaning: that of the last ask's user messages, joined by line feeds. It is
	// empty when ExactOnly is set.
	Prompt string
	Turns  []Turn // the conversation before the prompt, oldest first

	// Uncacheable is empty or the reason why nothing of this request may be kept or served, a short token: n, audio,
	// stored, background, previous-response, conversation, server-state, live-tools, empty-prompt.
	Uncacheable string
	// ExactOnly is empty or the reason why it is matched by Key alone: tool-result, prefill, role (the last message is
	// not a user's), media (no text), no-prompt, batch, tokens, embeddings.
	ExactOnly string
	Directive Directive
}

// Turn is one ask of the conversation before the prompt, and what answered it.
type Turn struct {
	Key    Hash // the Key of the request that ended at this ask, everything else being equal
	Ask    Hash // of the ask's messages
	Answer Hash // of all messages between this ask and the next; of the last turn of an unfinished answer, up to the end
	// AnswerText is AnswerText of the reply when the answer is one assistant message of nothing but text; else zero.
	AnswerText Hash
}

// Directive is what the body's member "cache" asks of the cache, in LiteLLM's words. Only Namespace is part of the key,
// because it can only narrow what a request shares.
type Directive struct {
	TTL       time.Duration // "ttl", seconds to keep the answer; 0: not given
	MaxAge    time.Duration // "s-maxage", seconds an answer may be old; 0: not given
	NoCache   bool          // "no-cache", or "s-maxage": 0
	NoStore   bool          // "no-store", or "ttl": 0
	Namespace string        // "namespace"
}

// AnswerText is the hash by which the text of an answer is compared with a turn of a later request.
func AnswerText(text string) Hash { return sha256.Sum256([]byte(text)) }

// Parse reads a body. The error is an *Error and says what is wrong, where, and what is allowed. Parse keeps body in the
// Request and never writes to it. The cost is linear in the body but for the sorting of names in each object.
func Parse(f Family, body []byte, id Identity) (*Request, error) {
	p := parsers.Get().(*parser)
	defer p.release()
	r := &Request{Family: f, Body: body}
	if err := p.parse(r, id); err != nil {
		return nil, err.finish()
	}
	return r, nil
}

var parsers = sync.Pool{New: func() any { return new(parser) }}

// keepBytes is the most buffer memory that a pooled parser keeps between requests.
const keepBytes = 1 << 20

// parser reads one request. Its buffers are used again; nothing in a Request points into them.
type parser struct {
	doc
	buf []byte // the canonical bytes to hash next
	req *Request

	field string // the name of the member that holds the conversation
	convo uint32 // its value; 0 when absent
}

func (p *parser) release() {
	p.req, p.body = nil, nil
	if p.doc.size()+cap(p.buf) <= keepBytes {
		parsers.Put(p)
	}
}

func (p *parser) parse(r *Request, id Identity) *Error {
	p.req, p.convo = r, 0
	if err := p.scan(r.Body); err != nil {
		return err
	}
	if err := p.checkNames(0); err != nil {
		return err
	}
	p.buf = appendIdentity(p.buf[:0], r.Family, id)
	if err := p.readTop(); err != nil {
		return err
	}
	switch r.Family {
	case Chat, Responses:
		return p.readConversation()
	default:
		return p.readSingle()
	}
}
