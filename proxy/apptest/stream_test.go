// Package apptest sends what applications send through the proxy: streams of requests from a seed, each with what it means. Two requests
// with one meaning are written in different ways, as different clients and versions of them do; an oracle that sees the meanings alone, and
// no body, must find the same hits as the proxy.
package apptest

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode/utf16"
)

// app is an application: a stream of requests, of which one may depend on the answers to earlier ones.
type app struct {
	name, path string
	fields     []string // that name who asks, for REPRISE_IGNORE_FIELDS
	patterns   []string // of what changes in its system prompts, for REPRISE_IGNORE_PATTERN
	stream     func(rng *rand.Rand) []*request
}

// request is one request of a stream, before it is written.
type request struct {
	meaning string   // all that an answer may depend on, without what follows
	who     string   // in the fields of the application; "": none
	when    string   // in the system prompt
	said    string   // of a conversation: by the user
	history *request // the turn before
	answer  string   // to this request, once it has come
	body    func() []byte
}

// identity is what a request is, where who asks and when it is asked count or do not.
func (r *request) identity(who, when bool) string {
	parts := []string{r.meaning}
	if who {
		parts = append(parts, "who="+r.who)
	}
	if when {
		parts = append(parts, "when="+r.when)
	}
	for h := r.history; h != nil; h = h.history {
		parts = append(parts, h.meaning, h.answer)
	}
	return fmt.Sprintf("%q", parts)
}

// zipf draws from n with the weights 1, 1/2, 1/3 …
func zipf(rng *rand.Rand, n int) int {
	total := 0.0
	for i := range n {
		total += 1 / float64(i+1)
	}
	x := rng.Float64() * total
	for i := range n {
		if x -= 1 / float64(i+1); x < 0 {
			return i
		}
	}
	return n - 1
}

// day is the date of request i of n, over twenty days.
func day(i, n int) string { return fmt.Sprintf("2026-03-%02d", 1+20*i/n) }

// The values of bodies, besides those of encoding/json: members in any order, and choices between ways to write the same.
type (
	object map[string]any
	list   []any
	// number is one that may be written in any of its forms.
	number []string
	// either is one of several values that mean the same. absent leaves the member out.
	either []any
	absent struct{}
)

// write renders v in one of the ways that mean the same.
func write(rng *rand.Rand, v any) []byte {
	var b strings.Builder
	writeTo(&b, rng, v)
	return []byte(b.String())
}

func writeTo(b *strings.Builder, rng *rand.Rand, v any) {
	space := func() { b.WriteString([]string{"", "", " ", "\n  "}[rng.IntN(4)]) }
	switch v := v.(type) {
	case object:
		writeObject(b, rng, v, space)
	case list:
		b.WriteByte('[')
		for i, item := range v {
			if i > 0 {
				b.WriteByte(',')
			}
			space()
			writeTo(b, rng, item)
		}
		b.WriteByte(']')
	case either:
		writeTo(b, rng, v[rng.IntN(len(v))])
	case number:
		b.WriteString(v[rng.IntN(len(v))])
	case string:
		writeString(b, rng, v)
	default:
		text, _ := json.Marshal(v) // null, true and false
		b.Write(text)
	}
}

func writeObject(b *strings.Builder, rng *rand.Rand, v object, space func()) {
	names := slices.Sorted(maps.Keys(v)) // the order of a map is not that of the seed
	b.WriteByte('{')
	first := true
	for _, i := range rng.Perm(len(names)) {
		value := v[names[i]]
		for choice, ok := value.(either); ok; choice, ok = value.(either) {
			value = choice[rng.IntN(len(choice))]
		}
		if value == (absent{}) {
			continue
		}
		if !first {
			b.WriteByte(',')
		}
		first = false
		space()
		writeString(b, rng, names[i])
		space()
		b.WriteByte(':')
		space()
		writeTo(b, rng, value)
	}
	space()
	b.WriteByte('}')
}

// writeString escapes some characters that need no escape.
func writeString(b *strings.Builder, rng *rand.Rand, s string) {
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r >= 0x20 && r != '"' && r != '\\' && rng.IntN(40) > 0:
			b.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(b, `\u%04X`, r)
		}
	}
	b.WriteByte('"')
}
