// Package api is what is particular to each API that is cached, one package per API below it.
//
// To add an API, write a package that exports its [Family] and list it in package registry; nothing else changes. The
// [Family] names the API's path and holds
//
//   - [canon.Rules]: how a request is read. Where is the conversation, which fields are known, what makes the answer
//     uncacheable, and how a message is read ([canon.Messages]). Read calls one of [canon.Reader.Messages],
//     [canon.Reader.UserMessage] and [canon.Reader.Whole]; keys, turns, prompt and segments follow.
//   - [answer.Form]: how an answer is read. What must be in it to be kept, and, for APIs with streams, how a stream becomes
//     an object and an object a stream ([answer.Streams]).
//   - the ids of replays, and the shape of errors. Where a conversation has ids that only link its parts, Links names their places
//     in requests ([canon.Link]), and Links and NewLink of the form those in answers.
//
// What several APIs share is in package canon (the strict scan, the canonical encoding, the chain of keys), in package
// answer (events, slots, the stored form) and its packages merge and rawjson; what the two APIs with choices share is in
// internal/choices. Put recorded requests and answers into the new package's testdata and call apitest.Run in its test.
package api

import (
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

	// UsageOption: streams hold their usage only if the request sets stream_options.include_usage.
	UsageOption bool
	// NewID returns the id of a replay, which looks like the API's own: two clients must not see the same id. random is
	// fresh for every replay, original is the upstream's id. nil: answers have no id.
	NewID func(random [12]byte, original string) string
	// Handles is nil unless a later request may name an answer by its id.
	Handles *Handles
	// AnyType: the API's own server reads a body as JSON whatever its Content-Type, and its clients rely on it.
	AnyType bool
	// ErrorBody renders an error in the API's shape; nil: in OpenAI's.
	ErrorBody func(e *apierror.Error) []byte
	// ErrorEvent is the name of the event of an error in a stream, which clients would overlook without it; "": none is needed.
	ErrorEvent string
}

// Handles is how requests name earlier answers. The upstream has only its own ids, so that of a replay is replaced by
// the original before a request is forwarded.
type Handles struct {
	// Field is the member of a request that names an answer. The path may do so too, as its first segment below that of the
	// endpoint: /v1/responses/{id}/input_items.
	Field string
	// Original returns the upstream's id for the id of a replay; false for any other id.
	Original func(id string) (string, bool)
	// Mark is in every id of a part of a replay for which the upstream has another one, [canon.Rules.Original].
	Mark string
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

// Error is e in the API's shape.
func (f *Family) Error(e *apierror.Error) []byte {
	if f.ErrorBody == nil {
		return apierror.Body(e)
	}
	return f.ErrorBody(e)
}

// ReplayID returns an id for a replay, "" where answers have none.
func (f *Family) ReplayID(random [12]byte, original string) string {
	if f.NewID == nil {
		return ""
	}
	return f.NewID(random, original)
}

// originalPath returns a path with the original id in the place of that of a replay; false where it is not one of this API that names one.
func (f *Family) originalPath(path string) (string, bool) {
	if f.Handles == nil {
		return path, false
	}
	rest, ok := strings.CutPrefix(older(Canonical(path)), f.Path+"/")
	if !ok {
		return path, false
	}
	id, _, _ := strings.Cut(rest, "/")
	original, ok := f.Handles.Original(id)
	if !ok {
		return path, false
	}
	return strings.TrimSuffix(path, rest) + original + rest[len(id):], true
}
