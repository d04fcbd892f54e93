package compare

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// token is a word, a number, or a mark that has a meaning of its own.
type token struct {
	id      int32 // of its key: a word without inflection, a number by value and unit
	word    int32 // id of the word as it is, in lower case; 0: a mark
	entry   *entry
	value   float64 // of a number
	unit    string  // of a number
	weight  int     // in closeness; 0: no content
	number  bool
	name    bool // a capital that its place does not explain, or digits among letters
	capital bool
}

// text is what is compared of an answer, without Markdown and courtesy.
type text struct {
	source                               string
	tokens                               []token
	count                                []uint16 // of tokens, by id
	items                                [][2]int // ranges of tokens
	commas                               []int    // tokens after a comma
	colon                                int      // the first token after a colon
	numbered                             bool     // the items are
	spans                                []string // code between backticks and fences, without white space
	words, marks, total, negated, stance int
}

// reader gives ids to the keys of the texts of one comparison.
type reader struct {
	ids   map[string]int32
	texts []*text
	*text
	opens bool   // the next word is the first of a sentence, an item or a quotation
	money string // the currency sign just read
}

func (r *reader) id(key string) int32 {
	id, ok := r.ids[key]
	if !ok {
		id = int32(len(r.ids) + 1)
		r.ids[key] = id
	}
	return id
}

// readTexts reads the texts of one comparison.
func readTexts(sources ...string) []*text {
	r := &reader{ids: map[string]int32{}}
	for _, s := range sources {
		s = withoutCourtesy(s)
		r.text = &text{source: s, tokens: make([]token, 0, len(s)/5+1)}
		r.texts = append(r.texts, r.text)
		r.lines(s)
	}
	for _, t := range r.texts {
		t.count = make([]uint16, len(r.ids)+1)
		t.sum()
	}
	return r.texts
}

func (t *text) sum() {
	for i := range t.tokens {
		k := &t.tokens[i]
		if t.count[k.id]++; t.count[k.id] == 1 {
			t.total += k.weight
		}
		if k.word == 0 {
			t.marks++
		}
		if k.entry.negates {
			t.negated++
		}
	}
	if len(t.tokens) > 0 {
		t.stance = t.tokens[0].entry.stance
	}
}

// part returns some tokens of t as a text.
func (t *text) part(from, to int) *text {
	p := &text{tokens: t.tokens[from:to], count: make([]uint16, len(t.count)), words: to - from}
	p.sum()
	return p
}

func (r *reader) lines(s string) {
	fenced, code := false, ""
	for line := range strings.Lines(s) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~") {
			if fenced = !fenced; !fenced {
				r.spans, code = append(r.spans, code), ""
			}
			continue
		}
		mark, rest := itemOf(line)
		if r.opens = true; fenced {
			if rest = line; !strings.HasPrefix(line, "//") && !strings.HasPrefix(line, "# ") {
				code += squeeze(line)
			}
		} else {
			r.spans = inline(rest, r.spans)
		}
		start := len(r.tokens)
		r.line(rest)
		if mark != "" && !fenced && len(r.tokens) > start {
			r.items, r.numbered = append(r.items, [2]int{start, len(r.tokens)}), r.numbered || mark == "1."
		}
	}
	if code != "" {
		r.spans = append(r.spans, code)
	}
}

func squeeze(s string) string { return strings.Join(strings.Fields(s), "") }

// inline adds the code between backticks in a line.
func inline(line string, spans []string) []string {
	for {
		_, rest, _ := strings.Cut(line, "`")
		span, after, closed := strings.Cut(rest, "`")
		if !closed {
			return spans
		}
		if span = squeeze(span); span != "" {
			spans = append(spans, span)
		}
		line = after
	}
}

// itemOf cuts the mark of an item off a line.
func itemOf(line string) (mark, rest string) {
	mark, rest, _ = strings.Cut(line, " ")
	switch n := strings.TrimRight(mark, ".)"); {
	case mark == "-", mark == "*", mark == "•", mark == "+":
		return mark, rest
	case len(n) < len(mark) && len(n) < 3 && strings.Trim(n, "0123456789") == "" && n != "" && rest != "":
		return "1.", rest
	}
	return "", line
}

func (r *reader) line(s string) {
	space := true
	for len(s) > 0 {
		w, n := pieceOf(s)
		c, _ := utf8.DecodeRuneInString(w)
		switch {
		case w == "":
			space = true
		case unicode.IsDigit(c):
			r.addNumber(w)
		case unicode.IsLetter(c):
			r.addWord(w, c)
		default:
			r.addMark(w, s[n:])
		}
		if s = s[n:]; w != "" {
			if space && unicode.IsLetter(c) || space && unicode.IsDigit(c) || c > 0xe00 && ideographic(c) && len(r.tokens)%2 == 0 {
				r.words++
			}
			space = space && !unicode.IsLetter(c) && !unicode.IsDigit(c)
		}
	}
}

// pieceOf returns the word, number or mark at the start of s, or "" for white space, and its length.
func pieceOf(s string) (w string, n int) {
	for n < len(s) {
		c, size := rune(s[n]), 1
		if c >= utf8.RuneSelf {
			c, size = utf8.DecodeRuneInString(s[n:])
		}
		if !unicode.IsLetter(c) && !unicode.IsDigit(c) && (n == 0 || !unicode.IsMark(c) && !inside(s, n, size, c)) {
			if n > 0 {
				break
			}
			if unicode.IsSpace(c) {
				return "", size
			}
			return s[:size], size
		}
		if c > 0xe00 && ideographic(c) {
			if n == 0 {
				n = size
			}
			break
		}
		n += size
	}
	return s[:n], n
}

// inside reports whether a mark belongs to the word or number in which it stands: don't, 1,234.5, 9:00.
func inside(s string, at, size int, c rune) bool {
	next, _ := utf8.DecodeRuneInString(s[at+size:])
	switch c {
	case '\'', '’':
		return unicode.IsLetter(next)
	case '.', ',', ':':
		return isDigit(s[at-1]) && unicode.IsDigit(next)
	}
	return false
}

func hasDigit(w string) bool {
	for i := range len(w) {
		if isDigit(w[i]) {
			return true
		}
	}
	return false
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// ideographic reports whether words of the script of c are not set apart by spaces.
func ideographic(c rune) bool {
	return unicode.In(c, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai)
}

var none = &entry{}

func entryOf(w string) *entry {
	if e := lexicon[w]; e != nil {
		return e
	}
	return none
}

func (r *reader) addMark(w, rest string) {
	switch w {
	case ":":
		if r.opens = true; r.colon == 0 {
			r.colon = len(r.tokens)
		}
	case ".", "!", "?", "\"", "“", "„", "«", "(", "|", "。":
		r.opens = true
	case ",", "、":
		r.commas = append(r.commas, len(r.tokens))
	case "$", "€", "£", "¥":
		r.money = w
	case ">", "-":
		if r.opens = r.opens || w == ">"; rest == "" || !isDigit(rest[0]) && rest[0] != '=' && !(len(rest) > 1 && isDigit(rest[1]) && w == ">") {
			return
		}
		fallthrough
	case "%", "+", "=", "<", "/", "×", "−", "°":
		if w != "%" || !r.unitOf("percent") {
			r.tokens = append(r.tokens, token{id: r.id(w), entry: none})
		}
	}
}

func (r *reader) addWord(w string, first rune) {
	low := strings.ReplaceAll(strings.ToLower(w), "’", "'")
	if head, ok := strings.CutSuffix(low, "n't"); ok || head == "cannot" {
		low = "not"
	} else if head, _, ok := strings.Cut(low, "'"); ok && len(head) > 1 {
		low = head
	}
	e := entryOf(low)
	k := token{entry: e, capital: unicode.IsUpper(first)}
	k.name = k.capital && (!r.opens || strings.IndexFunc(w[1:], unicode.IsUpper) >= 0) || hasDigit(w)
	r.opens = false
	switch {
	case r.unitOf(low):
		return
	case e.numeral != "":
		r.addNumber(e.numeral)
		return
	case e.exact && k.capital:
		k.number, k.weight = true, telling
	case e.function, first > 0xe00 && unicode.Is(unicode.Hiragana, first):
		k.name = k.name && len(w) == 1 && low != "i" && low != "a"
	case k.name:
		k.weight = telling
	default:
		k.weight = min(len(low), 8) + 1
	}
	k.word = r.id(low)
	if k.id = k.word; stem(low, e) != low {
		k.id = r.id(stem(low, e))
	}
	r.tokens = append(r.tokens, k)
}

// telling is the weight of a number or a name.
const telling = 12

// stem is a word without regular inflection.
func stem(w string, e *entry) string {
	if e.sense != "" {
		w = e.sense
	}
	for _, ending := range [...]string{"ing", "ies", "ied", "ly", "es", "ed", "er", "s", "e", "y"} {
		if len(w) >= len(ending)+3 && strings.HasSuffix(w, ending) && !strings.HasSuffix(w, "ss") {
			w = w[:len(w)-len(ending)]
			break
		}
	}
	if n := len(w); n > 3 && w[n-1] == w[n-2] {
		w = w[:n-1]
	}
	return w
}

// addNumber reads 1,234.5, 9:00, 20th or 500mg.
func (r *reader) addNumber(w string) {
	digits := strings.TrimRightFunc(w, func(c rune) bool { return !unicode.IsDigit(c) })
	tail := strings.ToLower(w[len(digits):])
	value := strings.TrimSuffix(digits, ":00")
	if i := strings.IndexByte(value, ','); i >= 0 && i == strings.LastIndexByte(value, ',') && !strings.Contains(value, ".") && len(value)-i != 4 {
		value = value[:i] + "." + value[i+1:]
	}
	k := token{entry: none, number: true, weight: telling, unit: r.money, word: r.id(w), id: r.id(w)}
	if v, err := strconv.ParseFloat(strings.ReplaceAll(value, ",", ""), 64); err == nil {
		k.value, k.id = v, r.idOf(v)
	}
	r.tokens, r.money, r.opens = append(r.tokens, k), "", false
	if tail != "" && !r.unitOf(tail) && !slices.Contains([]string{"st", "nd", "rd", "th"}, tail) {
		k := &r.tokens[len(r.tokens)-1]
		k.id, k.value = k.word, 0
	}
}

func (r *reader) idOf(v float64) int32 { return r.id(strconv.FormatFloat(v, 'g', 6, 64)) }

// unitOf reads a word as the unit of the number before it.
func (r *reader) unitOf(w string) bool {
	n := len(r.tokens) - 1
	if n >= 1 && len(w) == 1 && r.tokens[n].word == 0 && r.tokens[n].id == r.ids["°"] {
		n, w = n-1, "°"+w
	}
	if n < 0 || !r.tokens[n].number || r.tokens[n].unit != "" && entryOf(w).unit != "" {
		return false
	}
	e := lexicon[w]
	if e == nil || e.unit == "" && e.times == 1 {
		e = lexicon[strings.TrimSuffix(w, "s")]
	}
	if e == nil || e.unit == "" && e.times == 1 || r.tokens[n].value == 0 {
		return false
	}
	k := &r.tokens[n]
	k.value *= e.times
	if k.id = r.idOf(k.value); k.unit == "" {
		k.unit = e.unit
	}
	r.tokens = r.tokens[:n+1]
	return true
}

// openers begin a sentence that says nothing at the start of an answer, and closers at its end. ":": it ends with a colon; "$": it has no more words.
var (
	openers = strings.Split("sure$|sure thing$|certainly$|of course$|absolutely$|great question$|good question$|no problem$|i'm sorry to hear|sorry to hear|thanks for|"+
		"thank you for|happy to help|i'd be happy to|glad you asked|here you go$|here is:|here are:|here's:|the answer is:|follow these steps:", "|")
	closers = strings.Split("i hope this|i hope that|hope this|hope that helps|let me know|please let me know if you|feel free|if you have any|if you need|is there anything|"+
		"would you like me|do you want me|happy to help|good luck$|have a great|have a nice|please don't hesitate|don't hesitate|anything else", "|")
)

const longestCourtesy = 160

// withoutCourtesy removes sentences that say nothing.
func withoutCourtesy(s string) string {
	s = strings.TrimSpace(s)
	for range 3 {
		i := strings.IndexAny(s[:min(len(s), longestCourtesy)], ".!?:\n")
		if i < 0 || i+1 == len(s) || !courteous(s[:i+1], openers) {
			break
		}
		s = strings.TrimSpace(s[i+1:])
	}
	for range 3 {
		i := strings.LastIndexAny(strings.TrimRight(s, ".!?: \n"), ".!?\n")
		if i <= 0 || !courteous(s[i+1:], closers) {
			break
		}
		s = s[:i+1]
	}
	return s
}

func courteous(sentence string, phrases []string) bool {
	low := strings.ToLower(strings.TrimSpace(sentence))
	return len(low) <= longestCourtesy && slices.ContainsFunc(phrases, func(p string) bool {
		start := strings.TrimRight(p, ":$")
		return strings.HasPrefix(low, start) && (!strings.HasSuffix(p, "$") || len(low) <= len(p)) && (!strings.HasSuffix(p, ":") || strings.HasSuffix(low, ":"))
	})
}
