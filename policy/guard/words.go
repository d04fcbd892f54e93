package guard

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// word consumes a run of letters, marks, digits and inner apostrophes that does not begin with an ASCII digit.
func (s *scanner) word(r rune, n int) {
	if ideograph(r) {
		s.emit(s.text[s.at:s.at+n], plainOrNot(s.text[s.at:s.at+n]), s.at+n)
		return
	}
	end, digits := s.run()
	raw := s.text[s.at:end]
	key := strings.ReplaceAll(strings.ToLower(raw), "’", "'")
	if mark := programming(raw, s.text[end:]); mark != "" {
		s.emit(key+mark, code, end+len(mark))
		return
	}
	if digits {
		s.emit(key, number, end)
		return
	}
	s.words++
	name := false
	if first, _ := utf8.DecodeRuneInString(raw); unicode.IsUpper(first) && len(raw) > 1 {
		s.capitals++
		name = !s.start && !function[key] && (s.at == 0 || s.text[s.at-1] != '\'' && s.text[s.at-1] != '"')
	}
	name = name || strings.ContainsFunc(raw[1:], unicode.IsUpper) // USA, YouTube
	s.contraction(key, end, name)
}

// run finds the end of a word, and whether it has digits.
func (s *scanner) run() (end int, digits bool) {
	for end = s.at; end < len(s.text); {
		r, n := utf8.DecodeRuneInString(s.text[end:])
		switch {
		case ideograph(r):
			return end, digits
		case unicode.IsDigit(r):
			digits = true
		case (r == '\'' || r == '’') && end > s.at && end != s.quoteEnd && letter(s.text[end+n:]):
		case !unicode.IsLetter(r) && !unicode.IsMark(r):
			return end, digits
		}
		end += n
	}
	return end, digits
}

// contraction emits a word, in two tokens where it holds a negation.
func (s *scanner) contraction(key string, end int, name bool) {
	if head, ok := strings.CutSuffix(key, "n't"); ok {
		if head == "ca" || head == "wo" {
			head = "will"
			if key == "can't" {
				head = "can"
			}
		}
		s.emit(head, word, s.at)
		s.emit(not, negation, end)
		return
	}
	if verb, ok := joinedNot[key]; ok {
		s.emit(verb, word, s.at)
		s.emit(not, negation, end)
		return
	}
	key, tail, _ := strings.Cut(key, "'") // 's, 're, 'll
	if tail == "s" && takesIs[key] {
		s.emit(key, word, s.at)
		s.emit("is", word, end)
		return
	}
	if plainOrNot(key) == negation {
		key = not
	}
	t := s.emit(key, plainOrNot(key), end)
	t.name = name && t.kind == word
}

// not is the key of every negation.
const not = "not"

func plainOrNot(key string) kind {
	if key == not || negations[key] {
		return negation
	}
	return word
}

func ideograph(r rune) bool {
	return r >= 0x1100 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}

// programming returns the mark that belongs to the name of a language: c++, c#, f#.
func programming(raw, rest string) string {
	if len(raw) != 1 {
		return ""
	}
	for _, mark := range [...]string{"++", "#"} {
		if strings.HasPrefix(rest, mark) && !alnumAt(rest, len(mark)) {
			return mark
		}
	}
	return ""
}

func set(list string) map[string]bool {
	m := make(map[string]bool)
	for _, w := range strings.Fields(list) {
		m[w] = true
	}
	return m
}

var (
	negations = set(`no nor never none neither nothing nobody nowhere without non hardly barely
		不 没 沒 無 无 非 未 别 別 勿 否
		nicht kein keine keinen keiner nie ohne pas jamais sans nunca jamás não nem`)
	joinedNot = map[string]string{"cannot": "can", "dont": "do", "doesnt": "does", "didnt": "did", "cant": "can",
		"couldnt": "could", "wont": "will", "wouldnt": "would", "shouldnt": "should", "isnt": "is", "arent": "are",
		"wasnt": "was", "werent": "were", "hasnt": "has", "havent": "have", "hadnt": "had", "aint": "is"}

	// takesIs: after these 's is a verb, after others mostly a genitive.
	takesIs = set(`what who where when why how which that there here it he she let`)

	// function words carry no content of their own: they may come and go. Which of two opposites stands there still
	// counts, see antonyms, and so does where direction words stand, see sameOrder.
	function = set(`a an the this that these those there here it its is am are was were be been being do does did done
		has have had having i me my mine myself we us our ours you your yours he him his she her hers they them their
		and or but so if then than as of to in on at by for from with into onto about over under up off out again
		will would shall can could may might must should ok okay well now too
		what which who whom whose when where why how
		please just also very really some any such kindly hi hello hey dear thanks thank
		know tell show give explain describe say help want need like get got let me wondering wonder possible
		question answer exactly actually basically simply currently one ones oh um
		through during while within via per upon toward towards among between vs versus`)
	auxiliary = set(`is am are was were be do does did has have had will would shall can could may might must should`)
	// asking words come before a question that is not the first word of its sentence.
	asking = set(`me know tell explain describe show say see ask wonder wondering understand remember idea about of in for
		to from by at with on and or but so then is are was were does exactly find out learn sure figure please hi hello
		hey ok okay look check`)
	measures = set(`many much long often old far big large tall high deep wide fast quickly soon late early heavy hot
		cold expensive likely`)
	prepositions = set(`in on at by for from with after before during under over above below between within into to
		since until among inside outside around`)
	// directional words keep their place among the others: who does what to whom.
	directional = set(`from to into onto before after than by over under above below against for until since`)
	people      = map[string]string{"i": "i", "me": "i", "you": "you", "he": "he", "him": "he", "she": "she", "her": "she",
		"we": "we", "us": "we", "they": "they", "them": "they"}
)
