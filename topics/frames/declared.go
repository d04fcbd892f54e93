package frames

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
)

// Declared is an expression in the syntax of RE2 whose group "ask" is the part of a prompt that asks, as somebody has declared it. It does not change.
type Declared struct {
	text  string
	re    *regexp.Regexp
	group int
}

// Declare compiles an expression of at most longest bytes, and half as many steps: a match costs at most the steps times the bytes of the prompt. A class
// of characters is a step, and one more for each 16 ranges that it has: \pL takes 5 KiB. The first match counts; flags are as the expression has them,
// such as (?s). The error says what is allowed.
func Declare(expression string, longest int) (*Declared, error) {
	if expression == "" || len(expression) > longest {
		return nil, fmt.Errorf("the expression has %d bytes; allowed are 1 to %d", len(expression), longest)
	}
	parsed, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		return nil, err
	}
	if n := steps(parsed); n > longest/2 {
		return nil, fmt.Errorf("the expression has %d steps, with what it repeats; at most %d are allowed", n, longest/2)
	}
	re, err := regexp.Compile(expression)
	if err != nil {
		return nil, err
	}
	group := slices.Index(re.SubexpNames(), "ask")
	if group < 0 || slices.Contains(re.SubexpNames()[group+1:], "ask") {
		return nil, errors.New("the expression needs one group (?P<ask>…), around the part that asks")
	}
	return &Declared{expression, re, group}, nil
}

// steps is about how many steps the program of an expression has.
func steps(re *syntax.Regexp) int {
	n := max(1, len(re.Rune))
	if re.Op == syntax.OpCharClass {
		n = 1 + len(re.Rune)/(2*16)
	}
	for _, sub := range re.Sub {
		n += steps(sub)
	}
	if re.Op == syntax.OpRepeat {
		n *= max(re.Min, re.Max, 1)
	}
	return n
}

// String is the expression.
func (d *Declared) String() string { return d.text }

// find is the part of a prompt that asks. It is empty where the expression does not match.
func (d *Declared) find(prompt string) (from, to int) {
	at := d.re.FindStringSubmatchIndex(prompt)
	if at == nil || at[2*d.group] < 0 {
		return 0, 0
	}
	return at[2*d.group], at[2*d.group+1]
}

// Cut cuts a prompt that the expression matches: all but what asks has to be equal. Cuts by different expressions have different IDs.
func (d *Declared) Cut(p *Prompt) (c Cut, ok bool) {
	if c.From, c.To = d.find(p.Text); c.From == c.To {
		return Cut{}, false
	}
	c.ID, c.Named = sha256.Sum256([]byte("declared\x00"+d.text)), true
	c.Rest = restOf(&c, p.Text)
	return c, true
}

// mostNarrowed is the longest prompt in bytes in which Within looks: its expressions come from clients.
const mostNarrowed = 16 << 10

// Within narrows a cut of a prompt to what the expression names of the part that asks: only bytes that both allow may differ, so two prompts that are
// compared under it would be compared without it too. Where the two have nothing in common, nothing asks.
func (d *Declared) Within(c Cut, prompt string) Cut {
	from, to := 0, 0
	if len(prompt) <= mostNarrowed {
		from, to = d.find(prompt)
	}
	n := Cut{ID: sha256.Sum256(append([]byte("narrowed\x00"+d.text+"\x00"), c.ID[:]...)), From: max(from, c.From), To: min(to, c.To), Named: c.Named || c.ID == [32]byte{}}
	if n.From >= n.To {
		n.From, n.To, n.Slots = 0, 0, c.Slots
		if c.From < c.To {
			n.Slots = join(prompt, []slot{{from: c.From, to: c.To}})
		}
	}
	rest := restOf(&n, prompt)
	n.Rest = sha256.Sum256(append(rest[:], c.Rest[:]...))
	return n
}

// restOf digests what is before the ask and behind it.
func restOf(c *Cut, prompt string) (rest [32]byte) {
	h := sha256.New()
	writePart(h, prompt[:c.From])
	writePart(h, prompt[c.To:])
	h.Sum(rest[:0])
	return rest
}

const (
	leastAnchor = 16  // bytes of the constants at one side of what asks, that a rule has where there are so many
	mostAnchor  = 120 // of one constant
)

// Rule is an expression for Declare under which the same part of prompts like p asks as under the frame, which p has. Where that lets nothing ask, it is
// for the last slot. It is "" where there is none.
func (f *Frame) Rule(p *Prompt) string {
	places, ok := f.places(p)
	if !ok {
		return ""
	}
	c := f.cut(p.Text, places)
	ends := append(slices.Clone(places), segment{from: len(p.Text)})
	for gap := len(places); gap >= 0; gap-- {
		at := 0
		if gap > 0 {
			at = places[gap-1].to
		}
		from, to := trim(p.Text, at, ends[gap].from)
		if from == to || c.From < c.To && c.From != from {
			continue
		}
		rule := "(?s)^" + f.anchor(p, places[:gap], -1) + `\s*(?P<ask>.+?)\s*` + f.anchor(p, places[gap:], 1)
		if strings.ContainsFunc(rule, unicode.IsControl) {
			return ""
		}
		return rule
	}
	return ""
}

// anchor is the expression of the constants next to what asks: those in front of it, for a step of -1, or behind it. A short one, as a quotation mark,
// comes with those beside it.
func (f *Frame) anchor(p *Prompt, places []segment, step int) (expression string) {
	at, size := 0, 0
	if step < 0 {
		at = len(places) - 1
	}
	for ; at >= 0 && at < len(places) && size < leastAnchor; at += step {
		text := p.Text[places[at].from:places[at].to]
		if size > 0 && strings.TrimSpace(between(p.Text, places, at, step)) != "" {
			break
		}
		size += len(text)
		switch {
		case step < 0 && len(text) > mostAnchor:
			text = strings.ToValidUTF8(text[len(text)-mostAnchor:], "")
		case len(text) > mostAnchor:
			text = strings.ToValidUTF8(text[:mostAnchor], "")
		}
		switch text = regexp.QuoteMeta(text); {
		case expression == "":
			expression = text
		case step < 0:
			expression = text + `\s*` + expression
		default:
			expression += `\s*` + text
		}
	}
	switch {
	case step < 0 && expression != "":
		return ".*" + expression
	case step > 0 && expression == "":
		return "$"
	}
	return expression
}

// between is what stands between the constant at a place and the one before it in the direction of step.
func between(prompt string, places []segment, at, step int) string {
	if step < 0 {
		return prompt[places[at].to:places[at+1].from]
	}
	return prompt[places[at-1].to:places[at].from]
}
