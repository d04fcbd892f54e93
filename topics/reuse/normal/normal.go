// Package normal brings a prompt into a normal form: courtesy and asking frames are taken off, contractions are written out, spelling
// variants become one, and marks and letter case that carry no meaning are dropped. Prompts with equal normal forms want the same answer;
// the form is a key, and no vector is needed to find it.
//
// Nothing is normalised where it could be data: code, quotations, tables, lists, other scripts, hidden characters. A prompt that asks for
// something to be done with a text (translate, count, proofread) loses no more than its courtesy.
//
// Every rule is a closed list of what leaves the answer alone, with the context in which it does. A list of what is dangerous would never
// be complete. In particular, a capital in the middle of a sentence counts, except against a prompt that is typed without any capital: what
// was meant there cannot be seen, and the names and shapes that are no other word are compared without their case.
package normal

// Version is that of the rules. Forms of two versions are not compared.
const Version = 5

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
	exact    bool   // its capital counts against a prompt without capitals, too
	small    string // Text without letter case, where Text has some
	From, To int    // the bytes of the prompt that it was made of; From == To where a rule moved or added it
}

// Form is the normal form of a prompt.
type Form struct {
	Prompt string
	Front  string  // what stands before its last line and the label of that: see Front
	Tokens []Token // of what is behind Front; their ranges do not overlap and are in the order of the prompt
	Fixed  string  // why nothing but the very prompt is compared, "" where its tokens are
	Data   bool    // the prompt treats text as data: no edit leaves its answer alone
	small  bool    // the prompt is typed without capitals, or in nothing else
}

// Of returns the normal form of a prompt. The cost is linear: some 4 µs for 20 words.
func Of(prompt string) *Form {
	f := &Form{Prompt: prompt, Front: Front(prompt)}
	m := maker{scanner: scanner{prompt: prompt[len(f.Front):]}}
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
		f.Tokens, f.Data, f.small = m.tokens, m.data, m.small
		for i := range f.Tokens {
			f.Tokens[i].From += len(f.Front)
			f.Tokens[i].To += len(f.Front)
		}
	}
	return f
}

// Equal reports whether two prompts have one normal form. Capitals are compared where both prompts have some, so that a prompt in small
// letters may equal two that do not equal each other.
func (f *Form) Equal(g *Form) bool {
	if f.Fixed != "" || g.Fixed != "" {
		return f.Prompt == g.Prompt
	}
	if f.Data != g.Data || len(f.Tokens) != len(g.Tokens) || f.Front != g.Front {
		return false
	}
	folded := f.small != g.small
	for i := range f.Tokens {
		a, b := &f.Tokens[i], &g.Tokens[i]
		if a.Kind != b.Kind || a.Quoted != b.Quoted || a.Text != b.Text && !(folded && a.beside() == b.beside()) && !ways(a, b) {
			return false
		}
	}
	return true
}

// ways reports whether two tokens are frames of which one asks how to do what the other asks for the best way or the steps to do.
func ways(a, b *Token) bool {
	return a.Kind == Frame && a.small != "" && a.small == b.small && (a.Text == a.small || b.Text == b.small)
}

// beside is what of a token is compared with a prompt without capitals.
func (t *Token) beside() string {
	if t.small != "" && !t.exact && t.Kind != Frame {
		return t.small
	}
	return t.Text
}

// Beside returns the form with what is compared with that of g: itself, or a copy without the capitals that do not count where only g is of
// a prompt without capitals, and with the frame of g where that leaves open which way is asked for.
func (f *Form) Beside(g *Form) *Form {
	folded, open := !f.small && g.small, g.open() && !f.open()
	if !folded && !open || f.Fixed != "" {
		return f
	}
	c := *f
	c.Tokens = make([]Token, len(f.Tokens))
	for i := range f.Tokens {
		t := f.Tokens[i]
		switch {
		case t.Kind == Frame && open && t.small != "":
			t.Text = t.small
		case folded:
			t.Text = t.beside()
		}
		c.Tokens[i] = t
	}
	return &c
}

// open reports whether the prompt asks how to do something, and leaves open which way.
func (f *Form) open() bool {
	for i := range f.Tokens {
		if t := &f.Tokens[i]; t.Kind == Frame && t.Text == t.small {
			return true
		}
	}
	return false
}

// Append appends the form to b, without letter case: equal forms are equal bytes, but not all others are different ones.
func (f *Form) Append(b []byte) []byte {
	if f.Fixed != "" {
		return append(append(b, 0xff), f.Prompt...)
	}
	b = append(append(b, bit(f.Data)), f.Front...)
	b = append(b, 0)
	for i := range f.Tokens {
		t := &f.Tokens[i]
		text := t.Text
		if t.small != "" {
			text = t.small
		}
		b = append(append(b, byte(t.Kind)<<1|bit(t.Quoted)), text...)
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
