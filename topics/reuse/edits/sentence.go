package edits

import (
	"strings"

	"reprise/topics/reuse/normal"
)

// longest is the length of a sentence with edits, in tokens: a longer one has clauses that the contexts do not see.
const longest = 24

// sentence is a prompt of one sentence.
type sentence struct {
	tokens []normal.Token
	how    int // the last token of "how do I" at its beginning, -1 where it begins otherwise
}

// role is what a word does to the sentence that it is in, as a set of bits.
type role uint8

const (
	bars   role = 1 << iota // nothing is edited
	tongue                  // a language: nothing is edited, unless it is
	spoken                  // by a verb before it
)

// roles are those of the listed words: one look-up for each word of a sentence.
var roles = func() map[string]role {
	all := map[string]role{}
	for r, words := range map[role]map[string]bool{bars: barred, tongue: tongues, spoken: practised} {
		for w := range words {
			all[w] |= r
		}
	}
	return all
}()

// read reports whether edits may be in a prompt: it is one short sentence, a question or a plain order, and has neither quotation nor code
// nor a mark that groups words, and none of the words that bar edits. What is in front of a question may make data of it ("Put this into
// French.", "I saw it on a poster."), number what it offers or give its words a sense of their own, and no list of such texts would be
// complete; so nothing is edited behind another sentence, a template included.
func (s *sentence) read(tokens []normal.Token) bool {
	s.tokens = tokens
	n := len(tokens)
	if n == 0 || n > longest || !opens(&tokens[0]) {
		return false
	}
	last := role(0)
	for i := range tokens {
		t := &tokens[i]
		if !plain(t) && !ended(tokens, i) {
			return false
		}
		r := roles[t.Text]
		if r&bars != 0 || r&tongue != 0 && last&spoken == 0 {
			return false
		}
		last = r
	}
	s.how = asksHow(tokens)
	return true
}

// opens reports whether a sentence with edits may begin with a token.
func opens(t *normal.Token) bool {
	return t.Kind == normal.Frame && frames[t.Text] || t.Kind == normal.Word && openers[t.Text]
}

// asksHow returns the last token of "how do I" in front, a frame of the normal form or in words where the form has none, or -1.
func asksHow(tokens []normal.Token) int {
	if t := &tokens[0]; t.Kind == normal.Frame && t.Text == "HOW" {
		return 0
	}
	if len(tokens) > 2 && tokens[0].Text == "how" && (tokens[1].Text == "do" || tokens[1].Text == "can") && tokens[2].Text == "i" {
		return 2
	}
	return -1
}

// plain reports whether a token may be in a sentence with edits.
func plain(t *normal.Token) bool {
	switch t.Kind {
	case normal.Word, normal.Number, normal.Frame:
		return true
	case normal.Mark:
		return t.Text == "," || t.Text == "-"
	}
	return false
}

// ended reports whether nothing but closing marks, or the question "why?", follows from a closing mark on.
func ended(tokens []normal.Token, i int) bool {
	if t := &tokens[i]; t.Kind != normal.Mark || !strings.Contains(".!?", t.Text) {
		return false
	}
	rest := tokens[i+1:]
	return len(rest) == 0 || rest[0].Text == "why" && (len(rest) == 1 || len(rest) == 2 && rest[1].Text == "?")
}

// used reports whether a word of the edits is elsewhere in the prompts, too: it may be compared with itself. Words without a meaning of their
// own do not count, nor does the right spelling of a misspelt word.
func (al *alignment) used() bool {
	for i := range al.list {
		e := &al.list[i]
		if al.stored.repeats(e.Stored, e.Class) || al.asked.repeats(e.Asked, e.Class) {
			return true
		}
	}
	return false
}

func (s *sentence) repeats(edit Span, class Class) bool {
	for _, t := range s.tokens[edit.From:edit.To] {
		if t.Kind != normal.Word || empty[t.Text] || class == typo && right[t.Text] {
			continue
		}
		for i := range s.tokens {
			if (i < edit.From || i >= edit.To) && s.tokens[i].Text == t.Text {
				return true
			}
		}
	}
	return false
}
