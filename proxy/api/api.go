// Package api describes the APIs that are cached. The packages below it have those of one provider each: openai, anthropic, ollama.
//
// To add an API, write a package that exports its [Family], add the rules for its answers to the list in judge_rules.go, and list it in
// package registry; nothing else changes. The [Family] names the API's path and has
//
//   - [canon.Rules]: how a request is read. Where is the conversation, which fields are known, what makes the answer
//     uncacheable, how a conversation is read ([canon.Conversation]) and, where it is a list, its messages ([canon.Messages]). Keys, turns,
//     prompt and segments follow.
//   - [answer.Form]: how an answer is read. What it must contain to be kept: its rules in the list that is used by all APIs ([Judge]), and, for
//     APIs with streams, how a stream becomes an object and an object a stream ([answer.Streams]).
//   - the ids of replays, and the shape of errors. Where a conversation has ids that only link its parts, Links of the rules name their
//     places in requests ([canon.Link]), and Links of the form find them in answers ([answer.Linker]).
//
// What several APIs share is in package canon (the strict scan, the canonical encoding, the chain of keys) and in package
// answer (events, slots, the stored form) and its package rawjson. Put recorded requests and answers into testdata/NAME of the
// new package, NAME being that of the Family, and call apitest.Run in its test.
package api

import (
	"cmp"
	"encoding/hex"
	"net/http"
	"strings"

	"reprise/proxy/answer"
	"reprise/proxy/canon"
	"reprise/proxy/internal/apierror"
)

// Family is one API that is cached.
type Family struct {
	Name string // in metrics and logs
	Path string // of its endpoint

	// Operation and Provider are what a trace calls a request, by OpenTelemetry's conventions for generative AI; "": it is no request to a model.
	Operation, Provider string

	Requests *canon.Rules
	Answers  *answer.Form

	// UsageOption: streams have their usage only if the request sets stream_options.include_usage.
	UsageOption bool
	// ID is the shape of the ids of replays; the zero value where answers have no id, or Handles makes them.
	ID ReplayID
	// Handles is nil unless a later request may name an answer by its id.
	Handles *Handles
	// AnyType: the API's own server reads a body as JSON whatever its Content-Type, and its clients rely on it.
	AnyType bool
	// Errors renders errors in the API's shape; nil: they have OpenAI's.
	Errors Errors
	// ErrorEvent is the name of the event of an error in a stream, which clients would overlook without it; "": none is needed.
	ErrorEvent string
}

// ReplayID is the shape of the ids of replays, which look like the API's own: clients of two replays must not see the same id. Those who share
// an answer while it comes see the upstream's.
type ReplayID struct {
	Prefix string
	Digits int // hexadecimal digits of a random number behind Prefix, at most 24; 0: 24
}

// Errors renders errors in the shape of an API.
type Errors interface {
	ErrorBody(e *apierror.Error) []byte
}

// Handles is how requests name earlier answers. The upstream has only its own ids, so the id of a replay is replaced by
// the original before a request is forwarded.
type Handles struct {
	// Field is the member of a request that names an answer. The path may do so too, as its first segment below the path of the
	// endpoint: /v1/responses/{id}/input_items.
	Field string
	// IDs makes the ids of replays, and finds the originals in them.
	IDs ReplayIDs
	// Mark is in every id of a part of a replay for which the upstream has another one; see [canon.Rules.Originals].
	Mark string
}

// ReplayIDs makes ids for replays that carry the upstream's own id.
type ReplayIDs interface {
	canon.Originals
	// New returns an id for a replay of the answer with the id original. random is fresh for every replay.
	New(random [12]byte, original string) string
}

// Parse reads a request of this API, of which nothing is ignored.
func (f *Family) Parse(body []byte, id canon.Identity) (*canon.Request, error) {
	return canon.Parse(f.Requests, body, id, nil)
}

// ParseIgnoring reads a request of this API; see [canon.Parse].
func (f *Family) ParseIgnoring(body []byte, id canon.Identity, ignore func(model, namespace string) *canon.Ignore) (*canon.Request, error) {
	return canon.Parse(f.Requests, body, id, ignore)
}

// WriteError answers with e in the API's shape.
func (f *Family) WriteError(w http.ResponseWriter, e *apierror.Error) {
	apierror.WriteBody(w, e, f.Error(e))
}

// Error renders e in the API's shape.
func (f *Family) Error(e *apierror.Error) []byte {
	if f.Errors == nil {
		return apierror.Body(e)
	}
	return f.Errors.ErrorBody(e)
}

// ReplayID returns an id for a replay of the answer with the id original, "" where answers have none. random is fresh for every replay.
func (f *Family) ReplayID(random [12]byte, original string) string {
	if f.Handles != nil {
		return f.Handles.IDs.New(random, original)
	}
	if f.ID.Prefix == "" {
		return ""
	}
	var few [48]byte
	id := hex.AppendEncode(append(few[:0], f.ID.Prefix...), random[:])
	return string(id[:len(f.ID.Prefix)+cmp.Or(f.ID.Digits, 2*len(random))])
}

// originalPath returns a path with the original id in place of the id of a replay; false where the path is not below this API's or names no
// replay.
func (f *Family) originalPath(path string) (string, bool) {
	if f.Handles == nil {
		return path, false
	}
	rest, ok := strings.CutPrefix(older(Canonical(path)), f.Path+"/")
	if !ok {
		return path, false
	}
	id, _, _ := strings.Cut(rest, "/")
	original, ok := f.Handles.IDs.Original(id)
	if !ok {
		return path, false
	}
	return strings.TrimSuffix(path, rest) + original + rest[len(id):], true
}
