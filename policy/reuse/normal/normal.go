// Package normal brings a prompt into a normal form: courtesy and asking frames are taken off, contractions are written out, spelling
// variants become one, and marks and letter case that carry no meaning are dropped. Prompts with equal normal forms want the same answer;
// the form is a key, and no vector is needed to find it.
//
// Nothing is normalised where it could be data: code, quotations, tables, lists, other scripts, hidden characters. A prompt that asks for
// something to be done with a text (translate, count, proofread) loses no more than its courtesy.
package normal

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Version is that of the rules. Forms of two versions are not compared.
const Version = 1

// Kind says how a token is compared.
type Kind uint8

const (
	Word   Kind = iota // of letters; Text is its normal spelling
	Number             // of digits, as it stands
	Mark               // one punctuation mark
	Code               // compared byte by byte: quoted with backticks, or with marks inside
	Break              // a line break
	Frame              // a frame of several words: its name in capital letters, such as HOW
)

// Token is one unit of a form.
type Token struct {
	Text     string // what is compared; of a word without letter case, unless that carries meaning
	Kind     Kind
	Quoted   bool // between quotation marks
	First    bool // begins a sentence
	Capital  bool // the prompt has it with a capital
	From, To int  // the bytes of the prompt that it was made of
}

// Form is the normal form of a prompt.
type Form struct {
	Prompt string
	Tokens []Token
	Fixed  string // why nothing but the very prompt is compared, "" where its tokens are
	Data   bool   // the prompt treats text as data: no edit leaves its answer alone
}

// Of returns the normal form of a prompt. The cost is linear.
func Of(prompt string) *Form {
	f := &Form{Prompt: prompt}
	first := true
	for at := 0; at < len(prompt); {
		r, n := utf8.DecodeRuneInString(prompt[at:])
		end := at + n
		if unicode.IsSpace(r) {
			at = end
			continue
		}
		t := Token{Kind: Mark, From: at, First: first}
		if unicode.IsLetter(r) {
			for end < len(prompt) {
				r, n := utf8.DecodeRuneInString(prompt[end:])
				if !unicode.IsLetter(r) && r != '\'' {
					break
				}
				end += n
			}
			t.Kind, t.Capital = Word, unicode.IsUpper(r)
		}
		t.Text, t.To = prompt[at:end], end
		first = t.Kind == Mark && strings.Contains(".!?", t.Text)
		f.Tokens, at = append(f.Tokens, t), end
	}
	return f
}

// Equal reports whether two prompts have one normal form.
func (f *Form) Equal(g *Form) bool {
	if f.Fixed != "" || g.Fixed != "" {
		return f.Prompt == g.Prompt
	}
	return f.Data == g.Data && slices.EqualFunc(f.Tokens, g.Tokens, func(a, b Token) bool {
		return a.Kind == b.Kind && a.Text == b.Text && a.Quoted == b.Quoted
	})
}

// Append appends the form to b, so that equal forms, and no others, are equal bytes.
func (f *Form) Append(b []byte) []byte {
	if f.Fixed != "" {
		return append(append(b, 0xff), f.Prompt...)
	}
	for _, t := range f.Tokens {
		b = append(append(b, byte(t.Kind)<<1), t.Text...)
		b = append(b, 0)
	}
	return b
}

// TreatsAsData reports whether a text that stands before a prompt, such as a system prompt or an earlier turn, makes data of what follows:
// "Translate what the user writes". Nothing is normalised then.
func TreatsAsData(text string) bool { return strings.Contains(strings.ToLower(text), "translat") }
