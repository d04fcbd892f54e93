package normal

import "strings"

// TreatsAsData reports whether a text that stands before a prompt, such as a system prompt or an earlier turn, makes data of what follows:
// "Translate what the user writes". Nothing is normalised then. A text that only names such a task ("You can translate and write code")
// may be caught, too. It allocates nothing and takes some 2 ns a byte, 20 µs for a system prompt of 10 KB.
func TreatsAsData(text string) bool {
	start := true
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c >= 0x80 {
			if c >= 0xc0 && foreign(text[i:]) {
				return true
			}
			start = false
			continue
		}
		if !asciiLetter(c) {
			start = c != '\''
			continue
		}
		if start && treating[c|0x20] != nil && treats(text, i) {
			return true
		}
		start = false
	}
	return false
}

// alwaysTreat are the beginnings of words of which any use before a prompt is reason enough.
const alwaysTreat = `translat proofread spellcheck spell-check spellchecker paraphras rephras transliterat transcrib back-translat
	traduis tradui traduc traduz ubersetz vertaal overset punctuat summarizer summariser anonymiz anonymis romaniz lemmatiz stemming
	tokeniz sentiment classifier autocorrect`

// treatWords are the beginnings of words that make data of an object that follows: a text, or what the user writes.
const treatWords = `summariz summaris redact typo rewrit reword grammar correct edit improv polish shorten simplif condens expand complet continu classif categoriz categoris label tag annotat
	extract count repeat echo revers spell fix reformat convert turn transform pars detect identif determin recogni grad scor rat evaluat assess judg review
	analyz analys moderat flag rank capitaliz capitalis normaliz normalis encod decod encrypt decrypt hash quot restat render split segment
	return output mirror mimic copy`

// objects are what is made data of, behind a word of treatWords. Each is one word or two.
const objects = `message messages text texts sentence sentences paragraph paragraphs passage passages utterance utterances input inputs
	phrase phrases essay article articles document documents content snippet review reviews comment comments tweet tweets email emails
	transcript query queries word words string strings letters characters prompt prompts conversation`

// owners come before an object that is what the user writes, and not a thing of the world: the user's message, each of the following.
const owners = `user users user's user’s following given provided below each every any all whatever my these customer customer's
	incoming next what everything anything`

// treating are the beginnings of words by their first letter, those of treatWords behind a ~.
var treating = func() (t [128][]string) {
	put := func(list, mark string) {
		for w := range strings.FieldsSeq(list) {
			t[w[0]] = append(t[w[0]], mark+w)
		}
	}
	put(alwaysTreat, "")
	put(treatWords, "~")
	return t
}()

// treats reports whether the word at i makes data of what follows the text.
func treats(text string, i int) bool {
	for _, w := range treating[text[i]|0x20] {
		if w[0] != '~' {
			if foldPrefix(text[i:], w) {
				return true
			}
		} else if foldPrefix(text[i:], w[1:]) {
			return objectBehind(text[i:])
		}
	}
	return false
}

// foldPrefix reports whether text begins with a prefix in small letters, in any letter case.
func foldPrefix(text, prefix string) bool {
	if len(text) < len(prefix) {
		return false
	}
	for i := range len(prefix) {
		if c := text[i]; c != prefix[i] && (c|0x20 != prefix[i] || !asciiLetter(c)) {
			return false
		}
	}
	return true
}

// objectBehind reports whether an owner and an object come within the next ten words of the sentence: "the language of the user's message",
// or what the user writes: "whatever I say".
func objectBehind(text string) bool {
	owned := 0
	for n := 0; n < 11; n++ {
		end := 0
		for end < len(text) && end < 64 && text[end] != ' ' && text[end] != '\n' {
			end++
		}
		role := roleOf(strings.Trim(text[:end], ".,:;!?()\"'*"))
		switch {
		case n == 0:
		case owned > 0 && role&(object|author) != 0:
			return true
		case role&owner != 0:
			owned = 4
		default:
			owned--
		}
		if end == len(text) || end == 64 || end > 0 && terminal(text[end-1]) {
			return false
		}
		text = text[end+1:]
	}
	return false
}

// What a word may be in an order to do something to a text.
const (
	object = 1 << iota // message, text
	owner              // the user's, following, whatever
	author             // says, writes
)

var roles = func() map[string]uint8 {
	all := map[string]uint8{}
	for w := range strings.FieldsSeq(objects) {
		all[w] |= object
	}
	for w := range strings.FieldsSeq(owners) {
		all[w] |= owner
	}
	for w := range strings.FieldsSeq("says writes sends types enters say write send type enter") {
		all[w] |= author
	}
	return all
}()

// roleOf returns the roles of a word in any letter case.
func roleOf(word string) uint8 {
	var low [12]byte
	if len(word) > len(low) {
		return 0
	}
	for i := range len(word) {
		if low[i] = word[i]; 'A' <= word[i] && word[i] <= 'Z' {
			low[i] += 'a' - 'A'
		}
	}
	return roles[string(low[:len(word)])]
}

// foreign reports whether a text beyond ASCII begins with a word for translating or proofreading in another script.
func foreign(text string) bool {
	for _, w := range [...]string{"翻译", "翻譯", "翻訳", "校对", "校對", "校正", "润色", "改写", "перевед", "Перевед", "перевод", "Перевод",
		"übersetz", "Übersetz", "번역", "ترجم", "अनुवाद", "μετάφρα", "μετέφρα", "תרגם"} {
		if strings.HasPrefix(text, w) {
			return true
		}
	}
	return false
}
