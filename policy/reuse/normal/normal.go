// Package normal brings a prompt into a normal form: courtesy and asking frames are taken off, contractions are written out, spelling
// variants become one, and marks and letter case that carry no meaning are dropped. Prompts with equal normal forms want the same answer;
// the form is a key, and no vector is needed to find it.
//
// Nothing is normalised where it could be data: code, quotations, tables, lists, other scripts, hidden characters. A prompt that asks for
// something to be done with a text (translate, count, proofread) loses no more than its courtesy.
//
// Every rule is a closed list of what leaves the answer alone, with the context in which it does. A list of what is dangerous would never
// be complete; the one exception is letter case, see fold.
package normal

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
	class    class
	From, To int // the bytes of the prompt that it was made of; From == To where a rule moved or added it
}

// Form is the normal form of a prompt.
type Form struct {
	Prompt string
	Tokens []Token // their ranges do not overlap and are in the order of the prompt
	Fixed  string  // why nothing but the very prompt is compared, "" where its tokens are
	Data   bool    // the prompt treats text as data: no edit leaves its answer alone
}

// Of returns the normal form of a prompt. The cost is linear: some 4 µs for 20 words.
func Of(prompt string) *Form {
	f := &Form{Prompt: prompt}
	m := maker{scanner: scanner{prompt: prompt}}
	if m.survey(); m.fixed == "" {
		m.scan()
	}
	if m.fixed == "" {
		m.rules()
	}
	if f.Fixed = m.fixed; f.Fixed == "" && m.tokens.words() == 0 {
		f.Fixed = "no words"
	}
	if f.Fixed == "" {
		f.Tokens, f.Data = m.tokens, m.data
	}
	return f
}

// Equal reports whether two prompts have one normal form.
func (f *Form) Equal(g *Form) bool {
	if f.Fixed != "" || g.Fixed != "" {
		return f.Prompt == g.Prompt
	}
	if f.Data != g.Data || len(f.Tokens) != len(g.Tokens) {
		return false
	}
	for i := range f.Tokens {
		if a, b := &f.Tokens[i], &g.Tokens[i]; a.Kind != b.Kind || a.Text != b.Text || a.Quoted != b.Quoted {
			return false
		}
	}
	return true
}

// Append appends the form to b, so that equal forms, and no others, are equal bytes.
func (f *Form) Append(b []byte) []byte {
	if f.Fixed != "" {
		return append(append(b, 0xff), f.Prompt...)
	}
	b = append(b, bit(f.Data))
	for i := range f.Tokens {
		t := &f.Tokens[i]
		b = append(append(b, byte(t.Kind)<<1|bit(t.Quoted)), t.Text...)
		b = append(b, 0) // no token has this byte: a prompt with control characters is fixed
	}
	return b
}

func bit(set bool) byte {
	if set {
		return 1
	}
	return 0
}
