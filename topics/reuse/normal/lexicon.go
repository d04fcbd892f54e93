package normal

import "strings"

// class is what the rules need of a word or mark, as a set of bits.
type class uint64

const (
	wh           class = 1 << iota // asks
	be                             // a form of to be
	modal                          // can, will
	do                             // do, does, did, have, has, had
	subject                        // a pronoun that may be the subject of a question
	determiner                     // opens a noun phrase
	preposition                    //
	function                       // has no meaning of its own: its capital carries none
	task                           // a verb for something that one person does in the same way as another
	homograph                      // with a capital it is another word
	starts                         // a homograph that is the ordinary word where it begins a sentence
	month                          // a homograph that is a month beside a number
	acronym                        // pronounceable, and no word
	courteous                      // may be part of courtesy
	opening                        // a mark before a word
	ending                         // a mark that ends a sentence
	dash                           // between blanks
	joined                         // to the word before, by an apostrophe
	upper                          // begins with a capital
	caps                           // has capitals only, at least two
	mixed                          // has capitals inside
	numeral                        // a number in letters
	dataCue                        // is about a text wherever it is
	dataVerb                       // does something to a text where it begins an order
	verb                           // what is no task: open, last, need
	dataWord                       // is about a text in some places
	title                          // before a name: its capital carries nothing there
	songs                          // of works with titles
	wordings                       // about how something is worded
	letters                        // of texts that end with courtesy
	uses                           // others before which courtesy may be mentioned
	abbreviation                   // of a title or street
	place                          // a name that is no other word, and always written with a capital
	product                        // a name that is no other word
	language                       // is about words, how they are written, or how they sound
	manners                        // about how polite something is, or what it begins or ends with
	pointer                        // refers to a text that may be anywhere in the prompt
	coding                         // names a programming language
	spelled                        // is about spelling, or of a language in which it counts
	respelled                      // the prompt has another spelling
	contracted                     // the second word of two that are written as one
)

const auxiliary = be | modal | do

// entry is what the lexicon has of a word.
type entry struct {
	class class
	to    string // its normal spelling, where that differs
	also  string // a second word that it is spelled together with: what's without the apostrophe
	cut   int    // where that begins
}

// Every word of a prompt is looked up once, and one probe of the table of places is mostly enough. A place is one more than an index into
// words and entries, 0 where it is free.
var words, entries, places = func() (words []string, entries []entry, places [1 << tableBits]uint16) {
	for w, e := range lexicon() {
		words, entries = append(words, w), append(entries, e)
		at := placeOf(w)
		for places[at] != 0 {
			at = (at + 1) % uint32(len(places))
		}
		places[at] = uint16(len(words))
	}
	return words, entries, places
}()

const tableBits = 14 // some three times the words

// placeOf is where the search for a word begins.
func placeOf(w string) uint32 {
	h := uint32(2166136261)
	for i := range len(w) {
		h = (h ^ uint32(w[i])) * 16777619
	}
	return h * 0x9e3779b1 >> (32 - tableBits)
}

var noEntry entry

// entryOf is the entry of a word, an empty one where it has none.
func entryOf(w string) *entry {
	for at := placeOf(w); ; at = (at + 1) % (1 << tableBits) {
		switch n := places[at]; {
		case n == 0:
			return &noEntry
		case words[n-1] == w:
			return &entries[n-1]
		}
	}
}

// lexicon is the words that some rule names.
func lexicon() map[string]entry {
	all := make(map[string]entry, 4096)
	for _, list := range wordLists {
		for w := range strings.FieldsSeq(list.words) {
			e := all[w]
			e.class |= list.class
			all[w] = e
		}
	}
	for line := range strings.FieldsSeq(spellings) {
		variants := strings.Split(line, "=")
		for _, v := range variants[1:] {
			e := all[v]
			e.to, e.class = variants[0], e.class|all[variants[0]].class
			all[v] = e
		}
	}
	for line := range strings.FieldsSeq(stems) {
		addStem(all, line)
	}
	for line := range strings.FieldsSeq(fusions) {
		parts, second, _ := strings.Cut(line, "=")
		first, tail, _ := strings.Cut(parts, "+")
		all[first+tail] = entry{class: all[first].class, to: first, also: second, cut: len(first)}
	}
	return all
}

// addStem adds the forms of a line such as organis/organiz:e,es,ed: British, American, endings.
func addStem(all map[string]entry, line string) {
	pair, endings, _ := strings.Cut(line, ":")
	british, american, _ := strings.Cut(pair, "/")
	for end := range strings.SplitSeq(endings, ",") {
		if end == "-" {
			end = ""
		}
		e := all[british+end]
		e.to, e.class = american+end, e.class|all[american+end].class
		all[british+end] = e
	}
}
