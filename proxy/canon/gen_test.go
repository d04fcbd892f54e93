package canon_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"unicode/utf16"
)

// The values of generated bodies: string, num, bool, nil, list and record.
type (
	num   struct{ digits, zeros int } // digits × 10^zeros
	list  []any
	field struct {
		name  string
		value any
	}
	record []field
)

// render writes a value in one of the many ways that mean the same: order, white space, escapes and number forms are
// drawn from rng.
func render(rng *rand.Rand, v any) string {
	var b strings.Builder
	renderTo(&b, rng, v)
	return b.String()
}

func renderTo(b *strings.Builder, rng *rand.Rand, v any) {
	space := func() { b.WriteString([]string{"", "", "", " ", "\n\t", "\r\n "}[rng.IntN(6)]) }
	space()
	switch v := v.(type) {
	case string:
		renderString(b, rng, v)
	case num:
		renderNumber(b, rng, v)
	case list:
		b.WriteByte('[')
		for i, item := range v {
			if i > 0 {
				b.WriteByte(',')
			}
			renderTo(b, rng, item)
		}
		b.WriteByte(']')
	case record:
		b.WriteByte('{')
		for i, k := range rng.Perm(len(v)) {
			if i > 0 {
				b.WriteByte(',')
			}
			space()
			renderString(b, rng, v[k].name)
			space()
			b.WriteByte(':')
			renderTo(b, rng, v[k].value)
		}
		b.WriteByte('}')
	case nil:
		b.WriteString("null")
	default:
		fmt.Fprint(b, v)
	}
	space()
}

func renderString(b *strings.Builder, rng *rand.Rand, s string) {
	short := map[rune]string{'"': `\"`, '\\': `\\`, '\n': `\n`, '\t': `\t`, '/': `\/`}
	b.WriteByte('"')
	for _, r := range s {
		must := r < 0x20 || r == '"' || r == '\\'
		switch {
		case !must && rng.IntN(8) > 0:
			b.WriteRune(r)
		case short[r] != "" && rng.IntN(2) == 0:
			b.WriteString(short[r])
		case r > 0xffff:
			hi, lo := utf16.EncodeRune(r)
			fmt.Fprintf(b, `\u%04x\u%04X`, hi, lo)
		default:
			fmt.Fprintf(b, `\u%04x`, r)
		}
	}
	b.WriteByte('"')
}

func renderNumber(b *strings.Builder, rng *rand.Rand, n num) {
	shift := rng.IntN(3)
	if n.digits == 0 {
		b.WriteString([]string{"0", "-0", "0.00", "0e7"}[rng.IntN(4)])
		return
	}
	switch rng.IntN(4) {
	case 0:
		fmt.Fprintf(b, "%d%se%d", n.digits, strings.Repeat("0", shift), n.zeros-shift)
	case 1:
		fmt.Fprintf(b, "%d.%sE%+d", n.digits, strings.Repeat("0", shift+1), n.zeros)
	case 2:
		fmt.Fprintf(b, "%de%03d", n.digits, n.zeros)
	default:
		if n.zeros < 0 {
			fmt.Fprintf(b, "%de%d", n.digits, n.zeros)
			return
		}
		fmt.Fprintf(b, "%d%s", n.digits, strings.Repeat("0", n.zeros))
	}
}

var words = []string{"reset", "my", "password", "Größe", "数字", "😀", "a/b", "\"quoted\"", "back\\slash", "line\nfeed", "\u0000", "ſ", "tab\t"}

func sentence(rng *rand.Rand) string {
	n := 1 + rng.IntN(6)
	if rng.IntN(200) == 0 {
		n = 900 // long enough to stand as its own hash
	}
	s := make([]string, n)
	for i := range s {
		s[i] = words[rng.IntN(len(words))]
	}
	return "q " + strings.Join(s, " ")
}

func number(rng *rand.Rand) num { return num{rng.IntN(2000) - 1000, rng.IntN(9) - 4} }

func value(rng *rand.Rand, depth int) any {
	switch k := rng.IntN(7); {
	case k == 0:
		return nil
	case k == 1:
		return rng.IntN(2) == 0
	case k == 2:
		return number(rng)
	case k == 3 && depth > 0:
		l := make(list, rng.IntN(4))
		for i := range l {
			l[i] = value(rng, depth-1)
		}
		return l
	case k == 4 && depth > 0:
		r := make(record, rng.IntN(30)/(4-min(depth, 3)))
		for i := range r {
			r[i] = field{fmt.Sprintf("x%d %s", i, words[rng.IntN(len(words))]), value(rng, depth-1)}
		}
		return r
	}
	return sentence(rng)
}

func message(rng *rand.Rand, role string) record {
	m := record{{"role", role}}
	switch rng.IntN(4) {
	case 0:
		m = append(m, field{"content", list{record{{"type", "text"}, {"text", sentence(rng)}}}})
	case 1:
		m = append(m, field{"content", list{
			record{{"type", "image_url"}, {"image_url", record{{"url", sentence(rng)}}}},
			record{{"type", "text"}, {"text", sentence(rng)}},
		}})
	default:
		m = append(m, field{"content", sentence(rng)})
	}
	if rng.IntN(5) == 0 {
		m = append(m, field{"name", sentence(rng)})
	}
	return m
}

// conversation is a list of messages that ends with a user's.
func conversation(rng *rand.Rand, turns int) list {
	var l list
	if rng.IntN(2) == 0 {
		l = append(l, message(rng, "system"))
	}
	for range turns {
		l = append(l, message(rng, "user"), message(rng, "assistant"))
		if rng.IntN(4) == 0 {
			l = append(l, message(rng, "tool"), message(rng, "assistant"))
		}
		if rng.IntN(6) == 0 {
			l = append(l, message(rng, "developer"))
		}
	}
	return append(l, message(rng, "user"))
}

// chatRequest is a chat body with the given messages.
func chatRequest(rng *rand.Rand, messages list) record {
	r := record{{"model", "m"}, {"messages", messages}}
	for _, name := range []string{"temperature", "seed", "user", "metadata", "extra_body", "logit_bias"} {
		if rng.IntN(2) == 0 {
			r = append(r, field{name, value(rng, 3)})
		}
	}
	return r
}
