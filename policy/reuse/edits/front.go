package edits

import (
	"strings"

	"reprise/policy/reuse/normal"
)

// answered reports whether what is in front of the last sentence wants it to be answered: nothing, or a template whose last sentence demands
// an answer, with a label such as "Question:" behind. Any other text in front may make data of the sentence ("Put this into French", "I saw
// it on a poster"), and no list of such texts would be complete; those of a template that are usual are looked for all the same.
func answered(front []normal.Token) bool {
	n := len(front)
	if n == 0 {
		return true
	}
	if n < 2 || front[n-1].Kind != normal.Mark || front[n-1].Text != ":" || !labels[strings.ToLower(front[n-2].Text)] {
		return false
	}
	answer := false
	last := role(0)
	for i := range front[:n-2] {
		t := &front[i]
		r := roles[t.Text]
		switch {
		case t.Kind == normal.Break || t.Kind == normal.Mark && strings.Contains(".!?", t.Text):
			answer = answer && i == n-3
		case t.Kind == normal.Number:
			r = size
		case r&demand != 0:
			answer = last&bars == 0 // not "do not answer"
		case t.Text == "following" && strings.HasPrefix(front[i+1].Text, "question"):
		case r&cue != 0, r&text != 0 && last&size == 0:
			return false
		}
		last = r
	}
	return answer
}

// used reports whether a word of the edits is elsewhere in the prompts, too: it may be given a sense of its own there, as by "customers sign
// in, staff log in", or be compared with itself. Words without a meaning of their own do not count, nor does the right spelling of a
// misspelt word.
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
