package reuse

// Strict is Check, and a Word veto for every content word without a counterpart on the other side (the same word, an
// inflection, or one of a short list of synonyms) and for every particle such as "off", and a Person veto. It suits
// embedders that see words and not meaning, whose near texts are near-verbatim anyway; behind a dense embedder it would
// refuse most true paraphrases.
func Strict(cached, asked string) Veto {
	if cached == asked {
		return Pass
	}
	if cached > asked {
		cached, asked = asked, cached // pairing words greedily would not be symmetric otherwise
	}
	a, b := scanBoth(cached, asked)
	if len(a) == 0 || len(b) == 0 {
		return Empty
	}
	d := difference(a, b)
	switch {
	case d.has(number):
		return Number
	case d.has(negation):
		return Negation
	case d.has(code):
		return Code
	case d.any(func(t token) bool { return t.quoted }):
		return Quote
	}
	if len(d.a) > most || len(d.b) > most {
		return Word
	}
	switch {
	case opposed(d):
		return Antonym
	case !sameQuestion(a, b):
		return Question
	}
	d.cancelInflections()
	switch {
	case d.any(func(t token) bool { return t.name }):
		return Name
	case !d.sameOrder(a, b):
		return Order
	case !samePeople(a, b):
		return Person
	case (!d.covered() || d.any(particle)), d.substituted():
		return Word
	}
	return Pass
}
