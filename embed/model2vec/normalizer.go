package model2vec

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// step changes a text before it is cut.
type step func(string) string

// newNormalizer makes the steps of a normalizer; nil has none.
func newNormalizer(c *component) (step, error) {
	if c == nil {
		return func(s string) string { return s }, nil
	}
	switch c.Type {
	case "Sequence":
		return sequence(c.Normalizers)
	case "BertNormalizer":
		return bert(c), nil
	case "Lowercase":
		return strings.ToLower, nil
	case "NFC":
		return norm.NFC.String, nil
	case "NFD":
		return norm.NFD.String, nil
	case "NFKC":
		return norm.NFKC.String, nil
	case "NFKD":
		return norm.NFKD.String, nil
	case "StripAccents":
		return withoutMarks, nil
	case "Strip":
		return strip(c.StripLeft, c.StripRight), nil
	case "Prepend":
		return func(s string) string {
			if s == "" {
				return s
			}
			return c.Prepend + s
		}, nil
	case "Replace":
		return replace(c)
	}
	return nil, fmt.Errorf("its normalizer is of type %.30q: want Sequence, BertNormalizer, Lowercase, NFC, NFD, NFKC, NFKD, StripAccents, Strip, Prepend or Replace", c.Type)
}

func sequence(all []component) (step, error) {
	var steps []step
	for i := range all {
		s, err := newNormalizer(&all[i])
		if err != nil {
			return nil, err
		}
		steps = append(steps, s)
	}
	return func(s string) string {
		for _, f := range steps {
			s = f(s)
		}
		return s
	}, nil
}

func replace(c *component) (step, error) {
	switch {
	case c.Pattern.String != nil && *c.Pattern.String != "":
		from := *c.Pattern.String
		return func(s string) string { return strings.ReplaceAll(s, from, c.Content) }, nil
	case c.Pattern.Regex != nil:
		r, err := regexp.Compile(*c.Pattern.Regex)
		if err != nil {
			return nil, fmt.Errorf("its normalizer Replace has a pattern that cannot be used: %w", err)
		}
		return func(s string) string { return r.ReplaceAllLiteralString(s, c.Content) }, nil
	}
	return nil, fmt.Errorf("its normalizer Replace has no pattern")
}

func strip(left, right bool) step {
	return func(s string) string {
		if left {
			s = strings.TrimLeftFunc(s, unicode.IsSpace)
		}
		if right {
			s = strings.TrimRightFunc(s, unicode.IsSpace)
		}
		return s
	}
}

func withoutMarks(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, s)
}

// bert is the normalizer of BERT: control characters go, ideographs are words of their own, then accents and letter case. Accents go with
// the case where nothing is said of them.
func bert(c *component) step {
	clean, chinese, lower := flag(c.CleanText, true), flag(c.HandleChineseChars, true), flag(c.Lowercase, true)
	accents := flag(c.StripAccents, lower)
	return func(s string) string {
		if clean || chinese {
			s = characters(s, clean, chinese)
		}
		if accents {
			s = withoutMarks(norm.NFD.String(s))
		}
		if lower {
			s = strings.ToLower(s)
		}
		return s
	}
}

func characters(s string, clean, chinese bool) string {
	var b strings.Builder
	b.Grow(len(s))
	for _, r := range s {
		switch {
		case clean && (r == 0 || r == unicode.ReplacementChar || control(r)):
		case clean && unicode.IsSpace(r):
			b.WriteByte(' ')
		case chinese && ideograph(r):
			b.WriteByte(' ')
			b.WriteRune(r)
			b.WriteByte(' ')
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func control(r rune) bool {
	return r != '\t' && r != '\n' && r != '\r' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs)
}

// ideograph reports whether BERT takes a character for a Chinese one.
func ideograph(r rune) bool {
	return r >= 0x4E00 && r <= 0x9FFF || r >= 0x3400 && r <= 0x4DBF || r >= 0x20000 && r <= 0x2CEAF && (r <= 0x2A6DF || r >= 0x2A700) ||
		r >= 0xF900 && r <= 0xFAFF || r >= 0x2F800 && r <= 0x2FA1F
}
