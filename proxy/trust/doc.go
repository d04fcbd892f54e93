// Package trust has no code of its own: its tests ask the proxy, with its default settings, as applications do, and know what the right answer to
// each wording is.
//
//	go test ./proxy/trust -v
//
// prints what each application was served: [pipelines], whose system message or document makes data of what the user writes, so that two wordings
// of one question have different answers, and assistants, for whom they have one. A cache that does not know which of them it stands before must
// find out, before it serves a wrong answer, and without asking too often. What the answers are is written for these tests; the questions
// are those of package reuse.
//
// The upstream is in the process too. A request takes some tens of microseconds, so that thousands fit in a test.
package trust
