package reuse

import (
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"
)

// negative reports whether the - here is a sign and not a hyphen, dash, range or subtraction.
func (s *scanner) negative() bool {
	return s.at+1 < len(s.text) && digit(s.text[s.at+1]) && !alnumBefore(s.text, s.at) && !strings.HasSuffix(s.text[:s.at], ")")
}

// number consumes digits with what stands between them (3.5, 1,000, 10:30, 2024-01-31, 1/2) and letters that follow at
// once (5km, 10k, 3rd, 4x4).
func (s *scanner) number() {
	end := s.at + 1
	for end < len(s.text) && (digit(s.text[end]) || end+1 < len(s.text) && digit(s.text[end-1]) && digit(s.text[end+1]) && strings.IndexByte(".,:/-", s.text[end]) >= 0) {
		end++
	}
	value := plain(s.text[s.at:end])
	tail := end
	for tail < len(s.text) && (digit(s.text[tail]) || s.text[tail]|0x20 >= 'a' && s.text[tail]|0x20 <= 'z') {
		tail++
	}
	suffix := s.text[end:tail]
	if !cased(suffix) {
		suffix = strings.ToLower(suffix)
	}
	switch {
	case suffix == "":
		s.emit(value, number, tail)
	case suffix == "st" || suffix == "nd" || suffix == "rd" || suffix == "th":
		s.emit(value+".", number, tail)
	case suffix == "k":
		s.emit(scaled(value, 1000), number, tail)
	case suffix[0] == 'e' && len(suffix) > 1 && strings.Trim(suffix[1:], "0123456789") == "" && len(suffix) < 4:
		s.emit(amount(scientific(value+suffix)), number, tail)
	case units[suffix] != "":
		s.emit(amount(value)+" "+units[suffix], number, tail)
	default:
		s.emit(value+suffix, number, tail)
	}
}

// plain is the form in which numbers are compared: without thousands separators. A list (1,2,3) is no number, and one of
// two or more leading zeros is a name (007): both stay.
func plain(n string) string {
	if whole(n) {
		return unpadded(n)
	}
	if strings.ContainsAny(n, ":/") || strings.Count(n, ".") > 1 || strings.Contains(n[1:], "-") || !grouped(n) {
		return n
	}
	return unpadded(strings.ReplaceAll(n, ",", ""))
}

// unpadded takes the zero from a number such as 05.
func unpadded(n string) string {
	if len(n) == 2 && n[0] == '0' {
		return n[1:]
	}
	return n
}

// whole reports whether a number is of digits alone, as most are.
func whole(n string) bool {
	for i := range len(n) {
		if !digit(n[i]) {
			return false
		}
	}
	return true
}

// grouped reports whether the commas of n, if any, part its digits as thousands are parted: 1,000,000 or 10,00,000.
func grouped(n string) bool {
	whole, _, _ := strings.Cut(n, ".")
	groups := strings.Split(strings.TrimPrefix(whole, "-"), ",")
	for i, g := range groups[1:] {
		if len(g) != 3 && (len(g) != 2 || i+2 == len(groups)) {
			return false
		}
	}
	return len(groups) == 1 || len(groups[0]) <= 3 && !strings.Contains(n[len(whole):], ",")
}

// amount is plain for what is measured or computed, where zeros at the end of a fraction add nothing. Elsewhere they do:
// Python 3.10 is not 3.1.
func amount(n string) string {
	if n = plain(n); whole(n) {
		return n
	}
	if isPlain(n) && strings.Count(n, ".") == 1 {
		n = strings.TrimRight(strings.TrimRight(n, "0"), ".")
	}
	return n
}

func scientific(n string) string {
	v, ok := new(big.Rat).SetString(n)
	if !ok {
		return n
	}
	return v.FloatString(6)
}

// short reads a whole number of few digits, whose products with a scale are no overflow.
func short(n string) (int64, bool) {
	if len(n) > 6 {
		return 0, false
	}
	v, err := strconv.ParseUint(n, 10, 63)
	return int64(v), err == nil
}

// scaled multiplies a plain number, where it is one.
func scaled(n string, by int64) string {
	if v, ok := short(n); ok {
		return strconv.FormatInt(v*by, 10)
	}
	v, ok := new(big.Rat).SetString(n)
	if !ok || len(n) > 30 {
		return n + " x" + strconv.FormatInt(by, 10)
	}
	return amount(v.Mul(v, new(big.Rat).SetInt64(by)).FloatString(6))
}

// foldNumbers joins number words into numbers and numbers with their units, in place.
func foldNumbers(in []token) []token {
	out := in[:0]
	for i := 0; i < len(in); {
		next := i
		for next < len(in) && in[next].kind != number && !in[next].is(numeric) {
			next++
		}
		if len(out) < i {
			out = append(out, in[i:next]...)
		} else {
			out = in[:next] // nothing has moved
		}
		if i = next; i < len(in) {
			var used int
			out, used = appendNumber(out, in[i:])
			i += used
		}
	}
	return out
}

// appendNumber appends what in begins with, a number or a word that may be part of one, to out, and says how many tokens it takes.
func appendNumber(out, in []token) ([]token, int) {
	t, used := spelled(in)
	if used == 0 {
		t, used = in[0], 1
	}
	if t.kind != number {
		return append(out, t), used
	}
	if n := len(out); n > 0 && out[n-1].kind == code && currencies[out[n-1].key] != "" {
		t.key = amount(t.key) + " " + currencies[out[n-1].key]
		out = out[:n-1]
	}
	if used < len(in) && !strings.Contains(t.key, " ") && !strings.HasSuffix(t.key, ".") {
		if unit := units[in[used].key]; unit != "" && !in[used].pausing {
			t.key = amount(t.key) + " " + unit
			used++
		}
	}
	return append(out, t), used
}

// spelled reads a number at the head of in that has at least one word, and says how many tokens it takes.
func spelled(in []token) (token, int) {
	first := in[0]
	digits := first.kind == number && isPlain(first.key)
	if !digits && !first.is(numeric) || first.key == "once" && len(in) > 1 && in[1].is(personal|determining) {
		return token{}, 0
	}
	first.kind, first.name, first.class = number, false, 0
	switch value, cardinal := cardinals[first.key]; {
	case ordinals[first.key] != 0:
		first.key = strconv.Itoa(ordinals[first.key]) + "."
		return first, 1
	case cardinal && value == 1 && !oneCounts(in):
		return token{}, 0
	case !cardinal && !digits: // a day, a month, twice
		return first, 1
	}
	value, used := first.key, 1
	if !digits {
		value, used = cardinalValue(in)
	}
	for used < min(len(in), longestNumber) && in[used].kind == word && scales[in[used].key] != 0 {
		value = scaled(value, scales[in[used].key])
		used++
		if rest, n := smaller(in[used:]); n > 0 {
			value = sum(value, rest)
			used += n
		}
	}
	first.key = value
	return first, used
}

// longestNumber bounds one spelled number, in words.
const longestNumber = 16

func isPlain(n string) bool {
	return strings.Trim(n, "0123456789.") == "" && !strings.HasSuffix(n, ".")
}

// oneCounts: "one" is a number before a scale or a unit, and a pronoun elsewhere.
func oneCounts(in []token) bool {
	return len(in) > 1 && (scales[in[1].key] != 0 || units[in[1].key] != "")
}

// cardinalValue reads "twenty" or "twenty five".
func cardinalValue(in []token) (string, int) {
	v := cardinals[in[0].key]
	if v >= 20 && len(in) > 1 {
		if unit := cardinals[in[1].key]; unit > 0 && unit < 10 {
			return strconv.Itoa(v + unit), 2
		}
	}
	return strconv.Itoa(v), 1
}

// smaller reads what follows hundred or thousand: "[and] twenty five", "[and] 5".
func smaller(in []token) (string, int) {
	skip := 0
	if len(in) > 1 && in[0].key == "and" {
		skip = 1
	}
	if len(in) > skip && in[skip].kind == word && cardinals[in[skip].key] > 0 {
		v, n := cardinalValue(in[skip:])
		if len(in) > skip+n && scales[in[skip+n].key] != 0 {
			v, n = scaled(v, scales[in[skip+n].key]), n+1
		}
		return v, skip + n
	}
	return "", 0
}

func sum(a, b string) string {
	v, ok := short(a)
	if w, ok2 := short(b); ok && ok2 {
		return strconv.FormatInt(v+w, 10)
	}
	x, ok := new(big.Rat).SetString(a)
	y, ok2 := new(big.Rat).SetString(b)
	if !ok || !ok2 || utf8.RuneCountInString(a) > 30 {
		return a + "+" + b
	}
	return amount(x.Add(x, y).FloatString(6))
}

var (
	cardinals = map[string]int{"zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
		"eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15,
		"sixteen": 16, "seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40,
		"fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90, "dozen": 12}
	scales   = map[string]int64{"hundred": 100, "thousand": 1000, "million": 1e6, "billion": 1e9, "trillion": 1e12}
	ordinals = map[string]int{"first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7,
		"eighth": 8, "ninth": 9, "tenth": 10, "eleventh": 11, "twelfth": 12}
	currencies = map[string]string{"$": "dollar", "€": "euro", "£": "pound", "¥": "yen", "₹": "rupee"}
	units      = table(`km kilometer kilometers kilometre kilometres
		m meter meters metre metres
		cm centimeter centimeters centimetre centimetres
		mm millimeter millimeters millimetre millimetres
		mile miles mi
		foot feet ft
		inch inches
		kg kilo kilos kilogram kilograms
		g gram grams
		mg milligram milligrams
		pound pounds lb lbs
		ounce ounces oz
		l liter liters litre litres
		ml milliliter milliliters millilitre millilitres
		s sec secs second seconds
		ms millisecond milliseconds
		min mins minute minutes
		h hr hrs hour hours
		day days
		week weeks
		month months
		year years
		% percent
		degree degrees °
		dollar dollars usd $
		euro euros eur €
		yen jpy
		gb gigabyte gigabytes GB
		mb megabyte megabytes MB
		kb kilobyte kilobytes KB kB
		tb terabyte terabytes TB
		Gb gigabit gigabits
		Mb megabit megabits
		Kb kilobit kilobits
		Tb terabit terabits
		mph
		kmh
		am
		pm
		px pixel pixels`)
)
