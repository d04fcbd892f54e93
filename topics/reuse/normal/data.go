package normal

// treatsText reports whether the prompt does something to a text: it has a word for that, or begins with an order to.
func (ts tokens) treatsText() bool {
	for i := range ts {
		switch c := ts[i].class; {
		case c&(dataCue|dataVerb|dataWord|task|verb) == 0 || ts[i].Quoted:
		case c&dataCue != 0:
			return true
		case c&dataVerb != 0 && (ts.opens(i) || ts.is(i-1, "you", "please", "to", "and", "then", "also", "just")) && ts.textBehind(i+1):
			return true
		case c&dataWord != 0 && ts.wording(i):
			return true
		case c&(task|verb) != 0 && ts.opens(i) && ts.is(i+1, "this", "these", "it") && i+2 < len(ts) && contains(shapes, ts[i+2].Text) && !(ts.is(i+1, "it") && ts.is(i+2, "in", "as")):
			return true // Make this sound polite
		}
	}
	return false
}

// shapes come behind an order to give a text another form.
const shapes = ` into in as sound more less shorter longer better formal informal polite professional simple simpler friendly rhyme `

// wording reports whether a word such as "say" or "letters" at i is about how something is worded.
func (ts tokens) wording(i int) bool {
	switch ts[i].Text {
	case "say":
		return ts.is(i-1, "you", "i", "we") && ts.is(i-3, "how") || ts.is(i-1, "to") && ts.is(i-2, "how") ||
			(ts[i].First || ts.is(i-1, "you", "i", "we", "to", "people")) && ts.textBehind(i+1)
	case "times":
		return ts.is(i-1, "many") && ts.textBehind(i+1)
	case "words", "letters", "characters":
		return ts.is(i-1, "many")
	}
	if ts[i].Text == "letter" {
		return ts.is(i-1, "the") && i+1 < len(ts) && (ts[i+1].Quoted || ts[i+1].To-ts[i+1].From == 1)
	}
	return ts.is(i-1, "the") || ts.is(i+1, "of", "for")
}

// textBehind reports whether a text follows that the prompt contains or refers to.
func (ts tokens) textBehind(i int) bool {
	for start := i; i < len(ts) && i < start+64; i++ {
		t := &ts[i]
		if i == start && t.class&ending != 0 {
			return false
		}
		if t.Quoted || t.Text == ":" || t.Text == `"` || t.Kind == Break ||
			ts.is(i, "this", "these", "following", "below", "above", "text", "paragraph", "passage", "message", "article", "essay", "letters", "words") {
			return true
		}
	}
	return false
}

// mayCut reports whether courtesy outside of tokens [from, to) may come off. What a prompt does to a text it may do to the courtesy, too:
// then the text must be quoted, so that it is known where it ends.
func (e *ends) mayCut(from, to int) bool {
	all := e.tokens
	rest := sentences{all[from:to]}
	switch f := rest.front(); {
	case f > asked, f == asked && !rest.lastAsks():
		return false
	}
	if !rest.treatsText() {
		return true
	}
	for i := from; i < to; i++ {
		if all[i].Text == ":" || all[i].Kind == Break || e.is(i, "this", "that", "it", "above", "following") {
			return false
		}
	}
	if to == len(all) {
		return true
	}
	quoted := false
	for i := from; i < to; i++ {
		quoted = quoted || all[i].Quoted
	}
	return quoted || to > from && all[to-1].Text == "?"
}

// lastAsks reports whether the last sentence is a question by its form, and no request.
func (ts sentences) lastAsks() bool {
	end := len(ts.tokens)
	for end > 0 && ts.tokens[end-1].Kind == Mark {
		end--
	}
	i := end
	for i > 0 && ts.tokens[i-1].class&ending == 0 && ts.tokens[i-1].Kind != Break {
		i--
	}
	return i < end && ts.question(i, end) && !(ts.has(i, modal) && ts.is(i+1, "you"))
}
