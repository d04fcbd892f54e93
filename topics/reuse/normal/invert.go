package normal

import "slices"

// invert gives the indirect question at i the order of words of a direct one: "what the X is" becomes "what is the X", "if you are" "are
// you", "when it opens" "when does it open". Words that move have an empty range. Where the subject or verb is not clear, nothing moves.
func (a *asker) invert(i int) {
	end := a.sentence(i)
	subj := a.subjectAt(i, end)
	if subj < 0 {
		return
	}
	v, support := a.verbAt(subj, end)
	if v < 0 {
		return
	}
	conditional := a.is(i, "if", "whether")
	var aux Token
	if support == "" {
		aux = a.tokens[v]
	} else {
		aux = Token{Text: support, class: do | function}
		if base, ok := third(a.tokens[v].Text); ok && support == "does" {
			a.tokens[v].Text = base
		} else if a.tokens[v].Text == "has" {
			a.tokens[v].Text = "have"
		} else if a.tokens[v].Text == "does" {
			a.tokens[v].Text = "do"
		}
	}
	aux.class &^= joined
	if conditional {
		first := &a.tokens[i]
		aux.From, aux.To, aux.First = first.From, first.To, true
		*first = aux
		if support == "" {
			a.remove(v, v+1)
		}
		return
	}
	aux.From, aux.To = a.tokens[subj-1].To, a.tokens[subj-1].To
	if support != "" {
		a.tokens = slices.Insert(a.tokens, subj, aux)
		return
	}
	copy(a.tokens[subj+1:v+1], a.tokens[subj:v])
	a.tokens[subj] = aux
}

// subjectAt returns where the subject of the indirect question at i begins, or -1 if the question is direct or not clear.
func (ts tokens) subjectAt(i, end int) int {
	opens := func(k int) bool {
		return k < end && (ts.has(k, determiner|subject) && !ts.is(k, "that", "this", "those", "these", "no") || ts.is(k, "this", "that") && ts.has(k+1, be))
	}
	at := -1
	switch w := ts[i].Text; w {
	case "if", "whether":
		at = i + 1
	case "who", "whom":
		if opens(i + 1) {
			at = i + 1
		}
	case "where", "when", "why":
		at = i + 1
	case "how":
		switch {
		case ts.is(i+1, "many", "much") && !opens(i+2):
			if opens(i + 3) {
				at = i + 3
			} else if ts.is(i+3, "of") && opens(i+5) {
				at = i + 5
			} else if ts.is(i+2, "vitamin") && opens(i+4) {
				at = i + 4
			}
		case contains(degrees, ts.text(i+1)):
			at = i + 2
		case !ts.is(i+1, "to", "come", "about"):
			at = i + 1
		}
	case "what":
		switch {
		case opens(i+1) || i+1 < end && ts[i+1].Kind == Code:
			at = i + 1
		case contains(measures, ts.text(i+1)) && opens(i+2):
			at = i + 2
		}
	}
	if at < 0 && ts.is(i, "what", "which") && ts.is(i+2, "i", "we", "they", "he", "she") {
		at = i + 2
	}
	if at >= end || at >= 0 && ts.has(at, auxiliary) {
		return -1
	}
	return at
}

func (ts tokens) text(i int) string {
	if i < len(ts) && ts[i].Kind == Word {
		return ts[i].Text
	}
	return "-"
}

const (
	degrees  = ` long far often old big large high deep tall wide heavy fast late early soon quickly expensive many much hot cold `
	measures = ` time color size day year kind type language temperature age date month number `
)

// verbAt returns where the first verb behind the subject at subj is, and the form of "do" that a direct question needs with it, "" where
// the verb is an auxiliary; or -1 if there is none, or a second clause comes before it.
func (ts tokens) verbAt(subj, end int) (v int, support string) {
	pronoun := ts.has(subj, subject) && !ts.is(subj, "one")
	for j := subj + 1; j < end && j < subj+12; j++ {
		t := &ts[j]
		switch {
		case t.Kind == Mark && t.Text != "-" && t.Text != `"` || t.Kind == Frame || ts.has(j, wh) && !t.Quoted || ts.is(j, "that", "because", "if", "while"):
			return -1, ""
		case t.Quoted || t.Kind != Word:
		case t.class&be != 0 || t.class&modal != 0:
			return j, ""
		case t.class&do != 0:
			return ts.haveOrDo(j, end)
		case pronoun && ts.is(j, "still", "just", "also", "already", "really", "actually", "always"):
		case pronoun:
			return ts.plainVerb(subj, j)
		default:
			if j == end-1 && t.class&(task|verb) != 0 && ts.has(subj, determiner) && ts[j-1].Kind == Word && plural(ts[j-1].Text) {
				return j, "do"
			}
			if _, ok := third(t.Text); ok && !ts.has(j-1, determiner|preposition) && !(ts.has(j+1, be|modal|do|task|verb) && !ts.has(j+1, function)) {
				return j, "does"
			}
		}
	}
	return -1, ""
}

func plural(word string) bool {
	n := len(word)
	return n > 3 && word[n-1] == 's' && word[n-2] != 's' && word[n-2] != 'u' && word[n-2] != 'i'
}

// haveOrDo decides whether have or do at j is an auxiliary.
func (ts tokens) haveOrDo(j, end int) (v int, support string) {
	switch next := ts.text(j + 1); {
	case ts.is(j+1, "not"):
		return j, ""
	case ts.is(j, "have", "has", "had") && j+1 < end && (contains(participles, next) || len(next) > 4 && next[len(next)-2:] == "ed"):
		return j, ""
	case ts.is(j, "have", "do"):
		return j, "do"
	case ts.is(j, "has", "does"):
		return j, "does"
	}
	return -1, ""
}

// plainVerb decides what form of do a pronoun at subj needs with the verb at j.
func (ts tokens) plainVerb(subj, j int) (v int, support string) {
	if ts.is(subj, "he", "she", "it") {
		if _, ok := third(ts[j].Text); ok {
			return j, "does"
		}
		return -1, ""
	}
	if verbal(ts[j].Text) && !ts.is(subj, "there") {
		return j, "do"
	}
	return -1, ""
}

// not moves a "not" that follows the subject of a question to the verb before the subject, where contractions have it: "why is the X not"
// becomes "why is not the X".
func (a *asker) not() {
	ts := a.tokens
	for n := 2; n < len(ts); n++ {
		if !ts.is(n, "not") || ts.is(n+1, "to", "only", "just", "even") || n+1 < len(ts) && ts[n+1].Kind != Word || ts.has(n-1, preposition|auxiliary|joined) {
			continue
		}
		subj := n - 1
		for subj > 0 && n-subj < 8 && ts[subj].Kind != Mark && ts[subj].Kind != Break && !ts.has(subj-1, auxiliary) {
			subj--
		}
		pronoun := ts.has(subj, subject)
		if subj == 0 || !ts.has(subj-1, auxiliary) || pronoun != (subj == n-1) || !pronoun && !ts.has(subj, determiner) || !ts.leads(subj-1) ||
			ts.is(subj, "all", "every", "each", "any", "some", "both", "no", "another") || ts[subj-1].First && ts.has(subj-1, modal) {
			continue // can I not pay: may I leave it
		}
		moved := ts[n]
		moved.From, moved.To = ts[subj-1].To, ts[subj-1].To
		copy(ts[subj+1:n+1], ts[subj:n])
		ts[subj] = moved
	}
}

// leads reports whether the auxiliary at i leads a question: it begins the sentence, except for a question word and at most two more.
func (ts tokens) leads(i int) bool {
	for j := i; j >= 0 && i-j < 4; j-- {
		if ts.has(j, wh) || j == i && ts[j].First {
			return j == i || ts[j].First || j > 0 && ts[j-1].Kind == Mark
		}
		if ts[j].Kind != Word {
			return false
		}
	}
	return false
}
