package compare

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// token is a word, a number or a mark that has a meaning of its own. Code is read as words and marks, too, and kept in spans as well.
type token struct {
	key     string // lower case; for words what inflection leaves
	raw     string // lower case
	value   float64
	unit    string // of a number, in base units
	number  bool
	capital bool
	name    bool // has a capital that its place does not explain, or digits among letters
	content bool
	opens   bool // first word of a sentence, an item or a quotation
}

// text is what is compared of an answer.
type text struct {
	tokens           []token
	spans            []string // code: inline and fenced, without white space
	whole            string   // all without white space
	words            int
	marks, ideograms int
	digest           map[string]int // tokens by key
	total            int            // weight of content
	negated          int
	stance           int // 1: begins with yes, -1: with no
}

// readText reads an answer without marks of Markdown and courtesy.
func readText(s string) *text {
	body, spans := withoutMarkdown(s)
	t := &text{spans: spans, whole: squeeze(body), tokens: make([]token, 0, len(body)/5+1)}
	r := reader{s: withoutCourtesy(body), out: t.tokens, opens: true}
	r.run()
	t.tokens, t.words = r.out, len(strings.Fields(r.s))
	t.digest = make(map[string]int, len(t.tokens))
	for i := range t.tokens {
		t.add(&t.tokens[i])
	}
	t.words += t.ideograms / 2
	if len(t.tokens) > 0 {
		t.stance = stances[t.tokens[0].raw]
	}
	return t
}

func (t *text) add(k *token) {
	if t.digest[k.key]++; t.digest[k.key] == 1 && k.content {
		t.total += k.weight()
	}
	if negations[k.raw] {
		t.negated++
	}
	switch c, _ := utf8.DecodeRuneInString(k.raw); {
	case k.raw == "":
		t.marks++
	case ideographic(c):
		t.ideograms++
	}
}

// weight is the weight of a token in closeness: longer words tell more, and numbers and names most.
func (k *token) weight() int {
	switch {
	case !k.content:
		return 0
	case k.number, k.name:
		return 12
	}
	return min(utf8.RuneCountInString(k.key), 8) + 1
}

// reader splits a text into tokens.
type reader struct {
	s     string
	at    int
	out   []token
	opens bool
	money string // the currency sign just read
}

func (r *reader) run() {
	for r.at < len(r.s) {
		c, n := utf8.DecodeRuneInString(r.s[r.at:])
		switch {
		case unicode.IsLetter(c) && ideographic(c):
			w := r.s[r.at : r.at+n]
			r.out = append(r.out, token{key: w, raw: w, content: !unicode.Is(unicode.Hiragana, c)})
			r.at += n
		case unicode.IsLetter(c):
			r.word()
		case unicode.IsDigit(c):
			r.number()
		default:
			r.mark(c)
			r.at += n
		}
	}
}

// ideographic reports whether words of the script of c are not set apart by spaces.
func ideographic(c rune) bool {
	return c > 0xe00 && unicode.In(c, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai)
}

func (r *reader) mark(c rune) {
	if c == '>' && r.at+2 < len(r.s) && strings.ContainsAny(r.s[r.at+1:r.at+3], "=0123456789") {
		r.out = append(r.out, token{key: ">"})
		return
	}
	switch c {
	case '.', '!', '?', '\n', ':', '"', '“', '„', '«', '(', '>', '|', '。':
		r.opens = true
	case '$', '€', '£', '¥':
		r.money = string(c)
	case '%', '+', '=', '<', '*', '/', '×', '−', '°':
		if c == '%' && r.unitOf("%") {
			break
		}
		r.out = append(r.out, token{key: string(c)})
	case '-':
		if next, _ := utf8.DecodeRuneInString(r.s[r.at+1:]); unicode.IsDigit(next) && (r.at == 0 || r.s[r.at-1] == ' ') {
			r.out = append(r.out, token{key: "−"})
		}
	}
}

func (r *reader) word() {
	start, digits, capitals := r.at, false, 0
	for r.at < len(r.s) {
		c, n := utf8.DecodeRuneInString(r.s[r.at:])
		switch {
		case unicode.IsDigit(c):
			digits = true
		case unicode.IsUpper(c):
			capitals++
		case !(unicode.IsLetter(c) || unicode.IsMark(c) || c == '_' || c == '\'' || c == '’') || ideographic(c):
			n = 0
		}
		if n == 0 {
			break
		}
		r.at += n
	}
	r.addWord(strings.TrimRight(r.s[start:r.at], "'’_"), digits, capitals)
}

func (r *reader) addWord(w string, digits bool, capitals int) {
	first, _ := utf8.DecodeRuneInString(w)
	k := token{raw: strings.ReplaceAll(strings.ToLower(w), "’", "'"), opens: r.opens, capital: unicode.IsUpper(first)}
	r.opens = false
	k.name = digits || capitals > 1 || k.capital && !k.opens && w != "I" && w != "A"
	head, isNot := strings.CutSuffix(k.raw, "n't")
	if cut, ok := strings.CutSuffix(head, "'s"); ok {
		head = cut
	}
	if isNot || head == "cannot" {
		r.out = append(r.out, token{key: "not", raw: "not", opens: k.opens})
		return
	}
	if head, _, k.opens = cutApostrophe(head, k.opens); r.unitOf(head) {
		return
	}
	if dates[head] && k.capital {
		r.out = append(r.out, token{key: head, raw: head, number: true, content: true, opens: k.opens})
		return
	}
	if v, ok := numerals[head]; ok {
		r.out = append(r.out, token{key: strconv.Itoa(v), raw: head, value: float64(v), number: true, content: true})
		return
	}
	k.raw, k.key, k.content = head, stem(head), !functionWords[head]
	k.name = k.name && k.content
	r.out = append(r.out, k)
}

// cutApostrophe cuts "'re", "'ll" and the like off a word.
func cutApostrophe(w string, opens bool) (head, tail string, _ bool) {
	head, tail, _ = strings.Cut(w, "'")
	if head == "" {
		head = w
	}
	return head, tail, opens
}

// unitOf reads a word as the unit of the number before it.
func (r *reader) unitOf(w string) bool {
	if len(r.out) == 0 {
		return false
	}
	k := &r.out[len(r.out)-1]
	degrees := k.key == "°" && len(r.out) > 1
	if degrees && (w == "c" || w == "f") {
		r.out = r.out[:len(r.out)-1]
		k, w = &r.out[len(r.out)-1], "°"+w
	}
	u, ok := units[w]
	if !ok || !k.number || k.unit != "" {
		return false
	}
	k.value *= u.times
	k.unit, k.key = u.base, strconv.FormatFloat(k.value, 'g', -1, 64)
	return true
}

// number reads 1,234.5, 9:00, 20th or 500mg.
func (r *reader) number() {
	start, seps := r.at, 0
	for r.at < len(r.s) {
		c := r.s[r.at]
		digit := c >= '0' && c <= '9'
		sep := (c == '.' || c == ',' || c == ':') && r.at+1 < len(r.s) && r.s[r.at+1] >= '0' && r.s[r.at+1] <= '9'
		if !digit && !sep {
			break
		}
		if r.at++; sep {
			seps++
		}
	}
	if r.at == start { // a digit of another script
		_, n := utf8.DecodeRuneInString(r.s[r.at:])
		r.at += n
	}
	w := r.s[start:r.at]
	for _, ordinal := range [...]string{"st", "nd", "rd", "th"} {
		if strings.HasPrefix(r.s[r.at:], ordinal) {
			r.at += 2
			break
		}
	}
	k := token{raw: w, key: w, number: true, content: true, opens: r.opens}
	if v, ok := valueOf(w); ok {
		k.value, k.key = v, strconv.FormatFloat(v, 'g', -1, 64)
	}
	k.unit, r.money, r.opens = r.money, "", false
	r.out = append(r.out, k)
}

// valueOf reads a number in English or continental notation; dates, times and versions have none.
func valueOf(w string) (float64, bool) {
	w = strings.TrimSuffix(w, ":00")
	if i := strings.IndexByte(w, ','); i >= 0 && strings.Count(w, ",") == 1 && !strings.Contains(w, ".") && len(w)-i-1 != 3 {
		w = strings.Replace(w, ",", ".", 1)
	}
	v, err := strconv.ParseFloat(strings.ReplaceAll(w, ",", ""), 64)
	return v, err == nil
}

// stem is a word without regular inflection.
func stem(w string) string {
	if s := synonyms[w]; s != "" {
		w = s
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

// withoutMarkdown removes marks of emphasis, headings, items and quotations, and collects the code.
func withoutMarkdown(s string) (body string, spans []string) {
	var b strings.Builder
	b.Grow(len(s))
	fenced, code := false, []string(nil)
	for line := range strings.Lines(s) {
		line = strings.TrimRight(line, "\r\n")
		trimmed := strings.TrimSpace(line)
		if strings.HasPrefix(trimmed, "```") || strings.HasPrefix(trimmed, "~~~") {
			if fenced = !fenced; !fenced {
				spans, code = append(spans, squeeze(strings.Join(code, " "))), nil
			}
			continue
		}
		if fenced {
			if !strings.HasPrefix(trimmed, "//") && !strings.HasPrefix(trimmed, "# ") {
				code = append(code, trimmed)
			}
		} else {
			_, trimmed = itemOf(trimmed)
			spans = inline(trimmed, spans)
			trimmed = emphasis.Replace(strings.TrimLeft(trimmed, "#> "))
		}
		b.WriteString(trimmed)
		b.WriteByte('\n')
	}
	if code != nil {
		spans = append(spans, squeeze(strings.Join(code, " ")))
	}
	return strings.TrimSpace(b.String()), spans
}

var emphasis = strings.NewReplacer("**", "", "__", "", "*", "", "`", "")

// squeeze removes white space.
func squeeze(s string) string { return strings.Join(strings.Fields(s), "") }

// inline adds the code between backticks in a line.
func inline(line string, spans []string) []string {
	for {
		_, rest, ok := strings.Cut(line, "`")
		span, after, closed := strings.Cut(rest, "`")
		if !ok || !closed {
			return spans
		}
		if span = squeeze(span); span != "" {
			spans = append(spans, span)
		}
		line = after
	}
}

// withoutCourtesy removes what opens and ends an answer and says nothing.
func withoutCourtesy(s string) string {
	for range 3 {
		head, rest := firstSentence(s)
		if rest == "" || !courteous(head, openers[:]) {
			break
		}
		s = rest
	}
	for range 3 {
		i := strings.LastIndexAny(strings.TrimRight(s, ".!?: \n"), ".!?\n")
		if i <= 0 || !courteous(s[i+1:], closers[:]) {
			break
		}
		s = s[:i+1]
	}
	return s
}

// firstSentence ends at a mark that ends a sentence, or at a colon that ends a line.
func firstSentence(s string) (head, rest string) {
	for i := range len(s) {
		last := i+1 == len(s) || s[i+1] == '\n'
		if c := s[i]; c == '!' || c == '\n' || (c == '.' || c == '?') && (last || s[i+1] == ' ') || c == ':' && last {
			return s[:i+1], strings.TrimLeft(s[i+1:], " \n")
		}
		if i > 160 {
			break
		}
	}
	return s, ""
}

func courteous(sentence string, phrases []string) bool {
	low := strings.ToLower(strings.TrimSpace(sentence))
	if len(low) > 160 {
		return false
	}
	for _, p := range phrases {
		if p, whole := strings.CutSuffix(p, "$"); strings.HasPrefix(low, p) && (!whole || len(low) <= len(p)+1) {
			return true
		}
		if q, colon := strings.CutSuffix(p, ":"); colon && strings.HasPrefix(low, q) && strings.HasSuffix(low, ":") {
			return true
		}
	}
	return false
}
