package reuse

import (
	"slices"
	"strings"
)

// samePeople reports whether the same persons are in both prompts equally often, once the ways of asking politely are
// taken away: "call Jim" is not "call me Jim", and "could you tell me the time" is "tell me the time".
func samePeople(a, b []token) bool {
	x, y := meant(a), meant(b)
	slices.Sort(x)
	slices.Sort(y)
	return slices.Equal(x, y)
}

// meant lists the persons that a prompt is about.
func meant(tokens []token) (out []string) {
	for i := 0; i < len(tokens); i++ {
		if n := courtesy(tokens[i:]); n > 0 {
			i += n - 1
		} else if tokens[i].is(personal) {
			out = append(out, people[tokens[i].key])
		}
	}
	return out
}

// courtesy is the length of a way of asking that tokens begin with, 0 if they do not.
func courtesy(tokens []token) int {
	for _, phrase := range courtesies[trait(tokens[0].key)] {
		if begins(tokens, phrase) {
			return len(phrase)
		}
	}
	return 0
}

func begins(tokens []token, phrase []string) bool {
	if len(tokens) < len(phrase) {
		return false
	}
	for i, w := range phrase {
		if tokens[i].key != w {
			return false
		}
	}
	return true
}

// courtesies name persons and mean none of them, by the trait of their first word, the longer ones first.
var courtesies = phrases(`i would like you to	i want you to	i need you to	i would like to	i'd like to	i want to	i need to	i was wondering
	i would like	i am looking for	do you know	would you mind	could you	can you	would you	will you	tell me	show me	give me	help me	let me
	teach me	for me	i want	i need	i wonder	how do i	how can i	how could i	how should i	how would i	how will i
	how do you	how can you	how do we	how can we`)

// phrases splits a list of phrases, separated by tabs or line ends, into words.
func phrases(list string) (out [traits][][]string) {
	for phrase := range strings.FieldsFuncSeq(list, func(r rune) bool { return r == '\t' || r == '\n' }) {
		words := strings.Fields(phrase)
		out[trait(words[0])] = append(out[trait(words[0])], words)
	}
	return out
}

// particle reports whether a function word turns the verb before it into another one: "set an alarm", "set off an alarm".
func particle(t token) bool {
	switch t.key {
	case "off", "out", "up", "down", "away", "back", "over":
		return true
	case "on", "in": // "put the list on"; before something they are prepositions
		return t.last
	}
	return false
}
