package compare

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	shortRun     = 3   // tokens of the stored prompt in an answer that quote it
	contentRun   = 4   // the same, where only content differs
	longRun      = 5   // the same, where the prompts are in other words
	mostRun      = 12  // tokens of a run that are read
	mostAsks     = 512 // pieces of a prompt that are compared
	farTypo      = 8   // pieces by which a word and its typo may be apart
	farCommon    = 128 // bytes of what long prompts begin with alike that are read
	longestQuote = 400 // bytes between quotation marks
)

// piece is a word or a mark of a prompt or an answer, as written.
type piece struct {
	word    string
	content bool // a word that is none of grammar and courtesy
	starts  bool // the first word of a question or of courtesy: how, could
	differs bool // the other prompt lacks it at its place
	other   bool // content that the other prompt does not have in any case, nor with a typo
	absent  bool // the other prompt does not have it so written, and not only with the capital of a first word
}

// Quotes reports whether answer, which was given to stored, quotes or restates words in which the prompts differ, so that it must never be
// served for asked. The differing pieces are the words, with their case, and marks of stored that asked lacks at their place. An answer quotes with
//
//   - the first words of a question in stored, four with content, or all of it;
//   - a run of four pieces of stored with a content word that asked does not have in any case, or of three with a differing ? or !; a run of five where the
//     prompts share less than half of their content;
//   - between quotation marks or backticks, a content word that asked does not have so written, any such piece alone, or a run of three with a differing piece;
//   - where one or two single content words are all that differs, such a word.
//
// The cost is linear.
func Quotes(answer, stored, asked string) bool {
	if stored == asked || answer == "" || stored == "" || asked == "" {
		return false
	}
	stored, asked = withoutCommon(stored, asked)
	q := quoting{stored: pieces(stored, mostAsks)}
	if !q.compare(pieces(asked, mostAsks)) {
		return false
	}
	return q.in(answer)
}

// withoutCommon cuts most of what two prompts begin with alike, such as a document.
func withoutCommon(a, b string) (string, string) {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	if i := strings.LastIndexByte(a[:max(0, n-farCommon)], ' '); i > 0 {
		return a[i:], b[i:]
	}
	return a, b
}

// quoting looks for words of a prompt in an answer.
type quoting struct {
	stored []piece
	at     map[string][]int // places of the pieces that differ
	first  [256]bool        // first bytes of the pieces in at
	single bool             // the prompts differ in single content words
	least  int              // pieces of a run
}

// pieces splits a text, and returns at most so many.
func pieces(s string, most int) (out []piece) {
	for len(s) > 0 && len(out) < most {
		w, n := pieceOf(s)
		if s = s[n:]; w != "" {
			out = append(out, piece{word: w, content: isContent(w)})
		}
	}
	return out
}

// fold is a word without case, and a numeral in digits.
func fold(w string) string {
	w = strings.ToLower(w)
	if e := entryOf(w); e.numeral != "" {
		return e.numeral
	}
	return w
}

func isContent(w string) bool {
	e := entryOf(strings.ToLower(w))
	c, _ := utf8.DecodeRuneInString(w)
	return isWord(w) && !ideographic(c) && !e.function && !asks(w)
}

// asks reports whether w is a word of questions or courtesy.
func asks(w string) bool {
	w, _, _ = strings.Cut(strings.ToLower(w), "'")
	return entryOf(w).asking
}

func isWord(w string) bool {
	c, _ := utf8.DecodeRuneInString(w)
	return unicode.IsLetter(c) || unicode.IsDigit(c)
}

// compare marks what differs, and reports whether anything does.
func (q *quoting) compare(asked []piece) bool {
	start := 0
	for start < min(len(q.stored), len(asked)) && q.stored[start].word == asked[start].word {
		start++
	}
	end := 0
	for end < min(len(q.stored), len(asked))-start && q.stored[len(q.stored)-1-end].word == asked[len(asked)-1-end].word {
		end++
	}
	exact, folded, beside := map[string]bool{}, map[string]bool{}, map[[2]string]bool{}
	for i := range asked {
		exact[asked[i].word], folded[fold(asked[i].word)] = true, true
		if i > 0 {
			beside[[2]string{asked[i-1].word, asked[i].word}] = true
		}
	}
	q.at = map[string][]int{}
	shared, all := 0, 0
	for i := range q.stored {
		p := &q.stored[i]
		if p.content {
			if all++; folded[fold(p.word)] {
				shared++
			}
		}
		if p.starts = asks(p.word) && (i == 0 || !asks(q.stored[i-1].word)); p.starts {
			q.at[p.word] = append(q.at[p.word], i)
		}
		if i < start || i >= len(q.stored)-end || exact[p.word] && q.placed(i, beside) {
			continue
		}
		p.differs, p.absent = true, !exact[p.word] && !(folded[fold(p.word)] && p.word == strings.ToLower(p.word))
		p.other = p.content && !folded[fold(p.word)] && !typo(p.word, asked[min(len(asked), max(0, i-farTypo)):min(len(asked), i+farTypo)])
		if !p.starts {
			q.at[p.word] = append(q.at[p.word], i)
		}
	}
	if q.least = shortRun; 2*shared < all {
		q.least = longRun
	}
	q.single = q.singles(asked)
	for w := range q.at {
		q.first[w[0]] = true
	}
	return len(q.at) > 0
}

// placed reports whether a piece has one of its neighbours in the other prompt, too.
func (q *quoting) placed(i int, beside map[[2]string]bool) bool {
	w := q.stored[i].word
	return i > 0 && beside[[2]string{q.stored[i-1].word, w}] || i+1 < len(q.stored) && beside[[2]string{w, q.stored[i+1].word}]
}

// singles reports whether one or two content words at the same places, and marks and case, are all that differs.
func (q *quoting) singles(asked []piece) bool {
	a, b := words(q.stored), words(asked)
	if len(a) != len(b) {
		return false
	}
	differing := 0
	for i := range a {
		if !strings.EqualFold(a[i].word, b[i].word) {
			if differing++; !a[i].content || !b[i].content {
				return false
			}
		}
	}
	return differing == 1 || differing == 2
}

func words(all []piece) (out []piece) {
	for _, p := range all {
		if isWord(p.word) {
			out = append(out, p)
		}
	}
	return out
}

// typo reports whether one of the words is w but for a letter that is missing, other or in another place.
func typo(w string, of []piece) bool {
	r := []rune(strings.ToLower(w))
	for _, p := range of {
		if p.content && len(r) >= 4 && nearly(r, []rune(strings.ToLower(p.word))) {
			return true
		}
	}
	return false
}

func nearly(a, b []rune) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(b)-len(a) > 1 || hasDigit(string(a)+string(b)) {
		return false
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	j := 0
	for j < len(a)-i && a[len(a)-1-j] == b[len(b)-1-j] {
		j++
	}
	middle := len(b) - i - j
	return middle <= 1 || middle == 2 && len(a) == len(b) && a[i] == b[i+1] && a[i+1] == b[i]
}

// in reports whether an answer quotes.
func (q *quoting) in(answer string) bool {
	quoted := 0 // end of the quotation that is being read
	for at := 0; at < len(answer); {
		w, n := pieceOf(answer[at:])
		if c := answer[at]; at >= quoted && (c == '"' || c == '`' || c >= utf8.RuneSelf) {
			quoted = max(quoted, quotation(answer, at, w))
		} else if !q.first[c] && !q.single {
			at += n
			continue
		}
		if places, ok := q.at[w]; ok && q.quotes(answer, at, at < quoted, places) {
			return true
		} else if q.single && q.restates(w) {
			return true
		}
		at += n
	}
	return false
}

// restates reports whether w is, in any case, a single word in which the prompts differ.
func (q *quoting) restates(w string) bool {
	for i := range q.stored {
		if p := &q.stored[i]; p.other && strings.EqualFold(p.word, w) {
			return true
		}
	}
	return false
}

// quotation returns the end of the quotation that begins with the mark w, or 0.
func quotation(answer string, at int, w string) int {
	closing := closings[w]
	if closing == "" || w == "`" && (strings.HasPrefix(answer[at:], "``") || at > 0 && answer[at-1] == '`') {
		return 0
	}
	start := at + len(w)
	n := strings.Index(answer[start:min(len(answer), start+longestQuote)], closing)
	if n < 0 || strings.HasPrefix(strings.TrimLeft(answer[start+n+len(closing):], " "), ":") && w == `"` && closing == w {
		return 0
	}
	return start + n + len(closing)
}

// quotes reports whether the piece at a place of an answer is part of a quotation of stored at one of the places.
func (q *quoting) quotes(answer string, at int, quoted bool, places []int) bool {
	for _, i := range places[:min(len(places), 2)] {
		if p := &q.stored[i]; quoted && p.absent && (p.content || isWhole(answer, at, len(p.word))) {
			return true
		}
		first := i - q.before(answer, at, i)
		last := i + q.after(answer, at, i)
		if q.stored[i].starts && (last-i > shortRun || last == len(q.stored)) && q.hasContent(i, last) {
			return true
		}
		if n := last - first; n >= shortRun && quoted || n >= q.least && q.counts(first, last) {
			return true
		}
	}
	return false
}

// isWhole reports whether so many bytes of an answer are all that stands between two quotation marks.
func isWhole(answer string, at, n int) bool {
	return at > 0 && at+n < len(answer) && !strings.Contains(",:", answer[at:at+n]) && (answer[at-1] == '"' && answer[at+n] == '"' || answer[at-1] == '`' && answer[at+n] == '`')
}

// counts reports whether a run of stored has content, and a differing piece that an answer in its own words would not have.
func (q *quoting) counts(first, last int) bool {
	telling := false
	for i := first; i < last; i++ {
		p := &q.stored[i]
		telling = telling || p.differs && (p.other && last-first >= contentRun || p.word == "?" || p.word == "!")
	}
	return telling && q.hasContent(first, last)
}

func (q *quoting) hasContent(first, last int) bool {
	return slices.ContainsFunc(q.stored[first:last], func(p piece) bool { return p.content })
}

// before counts the pieces before place i of stored that stand before at in the answer.
func (q *quoting) before(answer string, at, i int) (n int) {
	for n < mostRun && n < i {
		rest := strings.TrimRightFunc(answer[max(0, at-64):at], unicode.IsSpace)
		w := q.stored[i-n-1].word
		if !strings.HasSuffix(rest, w) || isWordByte(w[0]) && len(rest) > len(w) && isWordByte(rest[len(rest)-len(w)-1]) {
			break
		}
		at = max(0, at-64) + len(rest) - len(w)
		n++
	}
	return n
}

// after counts the pieces from place i of stored on that stand from at on in the answer.
func (q *quoting) after(answer string, at, i int) (n int) {
	for n < mostRun && i+n < len(q.stored) && at < len(answer) {
		w, size := pieceOf(answer[at:])
		if at += size; w == "" {
			continue
		}
		if w != q.stored[i+n].word {
			break
		}
		n++
	}
	return n
}

func isWordByte(c byte) bool {
	return c >= utf8.RuneSelf || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}
