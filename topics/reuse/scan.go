package reuse

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

type kind uint8

const (
	word kind = iota
	number
	negation
	code // also operators and other symbols
)

// token is one unit of a prompt.
type token struct {
	key     string // what is compared: lower-case word, number in plain form, code as it stands
	id      int32  // of the key, within one comparison
	class   class  // of a word
	kind    kind
	name    bool // a capital that no sentence asks for
	quoted  bool // between quotation marks
	start   bool // first of a sentence
	last    bool // of the prompt
	pausing bool // a comma or more stands before it
	newLine bool // a line break stands before it
	hyphen  bool // a hyphen stands before it
	owning  bool // 's follows
	shape   shape
	framed  bool // a way of asking stood before it
	wanted  bool // a statement of what is wanted stood before it
	dropped bool // it is part of a word before it
	folded  bool // it replaces a way of asking
}

// shape is how the letters of a word are written.
type shape uint8

const (
	lower   shape = iota
	initial       // the first one is a capital
	capitals
)

func (t token) is(c class) bool { return t.class&c != 0 }

// scanner walks once over a prompt.
type scanner struct {
	text     string
	at       int
	quoteEnd int // where the closing mark of the quotation that is being read stands
	prose    int // up to here chunk has found no code
	out      []token
	start    bool
	pausing  bool
	newLine  bool
	capitals int // words that begin with a capital, and all words: titles have too many to mean names
	words    int
	open     bool   // a fence of backticks has no end: what it is depends on all the text behind it
	lines    []line // that begin outside quotations, and sentences of long prompts
}

// scan cuts a prompt into tokens.
func scan(text string) []token {
	s := newScanner(text)
	for s.at < len(s.text) {
		s.step()
	}
	return s.finish()
}

func newScanner(text string) *scanner {
	return &scanner{text: text, start: true, out: make([]token, 0, 8+len(text)/5)}
}

// finish returns the tokens, when all are known.
func (s *scanner) finish() []token {
	if s.capitals*10 > s.words*6 && s.words > 2 {
		for i := range s.out {
			s.out[i].name = false
		}
	}
	out := foldNumbers(s.out)
	if len(out) > 0 {
		out[len(out)-1].last = true
	}
	settle(out)
	return out
}

// settle gives words the meaning that they have beside others. Behind "say" or "translate" a greeting is not said but
// mentioned, and so is content; and where a language is spoken of, "in", "to" and "into" lead to it alike.
func settle(tokens []token) {
	foreign := false
	for i := range tokens {
		t := &tokens[i]
		foreign = foreign || strings.HasPrefix(t.key, "translat") || t.key == "language" || t.key == "languages"
		if i > 0 && t.is(saluting) && tokens[i-1].is(mentioning) {
			t.class &^= function
		}
	}
	for i := range tokens {
		if t := &tokens[i]; foreign && t.kind == word && (t.key == "in" || t.key == "to") {
			t.key, t.class = "into", classOf("into")
		}
	}
}

// step consumes at least one byte.
func (s *scanner) step() {
	switch c := s.text[s.at]; {
	case c == ' ':
		s.at++
		return
	case ascii[c]&(small|capital) != 0 && s.plainWord(), ascii[c]&stop != 0 && s.plainStop():
		return
	}
	s.anything()
}

// anything is step for all that can be in a prompt.
func (s *scanner) anything() {
	r, n := utf8.DecodeRuneInString(s.text[s.at:])
	switch {
	case r == '`':
		s.backticks()
	case unicode.IsSpace(r):
		s.newLine = s.newLine || r == '\t'
		if s.at += n; r == '\n' {
			s.indent()
			s.start, s.pausing, s.newLine = true, true, true
			s.keep()
		}
	case s.atChunk() && s.chunk():
	case r >= '0' && r <= '9' || r == '-' && s.negative():
		s.number()
	case unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r):
		s.word(r, n)
	case closing(r) != 0 && s.quotation(r, n):
	default:
		s.mark(r, n)
	}
}

// emit appends a token that ends before byte to.
func (s *scanner) emit(key string, k kind, to int) *token {
	if key == "" {
		s.at = to
		return &token{}
	}
	var c class
	if k == word {
		c = classOf(key)
	}
	return s.push(key, k, c, to)
}

// push is emit of a key with a known class.
func (s *scanner) push(key string, k kind, c class, to int) *token {
	if len(key) == 1 && s.symbol(to) {
		c = 0
	}
	s.out = append(s.out, token{key: key, class: c, kind: k, quoted: s.at < s.quoteEnd, start: s.start, pausing: s.pausing, newLine: s.newLine,
		hyphen: s.at > 0 && s.text[s.at-1] == '-', shape: shapeOf(s.text[s.at:to])})
	s.at, s.start, s.pausing, s.newLine = to, false, false, false
	return &s.out[len(s.out)-1]
}

func shapeOf(raw string) (of shape) {
	for i := range len(raw) {
		if ascii[raw[i]]&capital != 0 {
			if i > 0 {
				return capitals
			}
			of = initial
		}
	}
	return of
}

// backticks turns `text` and ```text``` into code, piece by piece, case kept.
func (s *scanner) backticks() {
	rest := s.text[s.at:]
	fence := rest[:len(rest)-len(strings.TrimLeft(rest, "`"))]
	s.at += len(fence)
	end := strings.Index(s.text[s.at:], fence)
	if end < 0 {
		s.open = true
		return
	}
	end += s.at
	for piece := range strings.FieldsSeq(s.text[s.at:end]) {
		s.emit(piece, code, s.at)
	}
	s.at = end + len(fence)
}

func digit(c byte) bool { return '0' <= c && c <= '9' }

// closing returns the mark that ends a quotation begun by r, or 0.
func closing(r rune) rune {
	switch r {
	case '"', '\'':
		return r
	case '“', '„':
		return '”'
	case '‘':
		return '’'
	case '«':
		return '»'
	case '「':
		return '」'
	}
	return 0
}

// longestQuote bounds the search for a closing mark; without one a mark is an apostrophe or a sign for inches.
const longestQuote = 400

// quotation begins a quotation where a closing mark follows, and consumes the opening mark.
func (s *scanner) quotation(r rune, n int) bool {
	from := s.at + n
	if s.at < s.quoteEnd || s.at > 0 && alnumBefore(s.text, s.at) {
		return false
	}
	window := s.text[from:min(len(s.text), from+longestQuote)]
	for at := 0; at < len(window); {
		i := strings.IndexRune(window[at:], closing(r))
		if i < 0 {
			return false
		}
		end := from + at + i
		if r != '\'' && r != '‘' || !alnumAt(s.text, end+utf8.RuneLen(closing(r))) {
			if s.value() {
				s.emit(`"`, code, from)
			}
			s.quoteEnd, s.at = end, from
			return true
		}
		at += i + utf8.RuneLen(closing(r))
	}
	return false
}

func alnum(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

func alnumAt(text string, at int) bool {
	r, _ := utf8.DecodeRuneInString(text[min(at, len(text)):])
	return alnum(r)
}

func alnumBefore(text string, at int) bool {
	r, _ := utf8.DecodeLastRuneInString(text[:at])
	return alnum(r)
}
