package trust

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// pipeline is an application that makes data of what the user writes. Messages and answers are written for these tests.
type pipeline struct {
	name, kind string // kind of the answers: word, json, quote, free
	system     string // the system message
	front      string // what stands before the text in the user's message
	// says is what the answer to a text says; the answer itself, where it is not put into sentences.
	says      func(text string) string
	sentences []string // of which one is the answer, with what it says in place of %s
}

var pipelines = []pipeline{
	{name: "tone", kind: "word", system: "Classify the tone as formal, neutral or casual.", says: func(text string) string {
		switch {
		case starts(text, "Could"):
			return "formal"
		case text == strings.ToLower(text) || starts(text, "Hi!"):
			return "casual"
		}
		return "neutral"
	}},
	{name: "urgency", kind: "word", system: "You are step 2 of our ticket intake. Read what the customer has sent and decide how soon a human has to look at it.\n" +
		"Output exactly one of: low, normal, high, critical. No punctuation, no explanation.", says: func(text string) string {
		level := hash("urgency"+bare(text), 4)
		if thanks(text) && some(text, "patient", 10) {
			level = max(level-1, 0)
		}
		return []string{"low", "normal", "high", "critical"}[level]
	}},
	{name: "politeness", kind: "word", system: "How polite is the person? Possible values are polite and plain.",
		says: func(text string) string { return either(courteous(text), "polite", "plain") }},
	{name: "dialect", kind: "word", front: "Below is one line from our corpus of search queries. Which variety of English does its author write? " +
		"Reply en-GB, en-US or en.\n\nLine: ", says: func(text string) string {
		if starts(text, "Could") && some(text, "british", 25) {
			return "en-GB"
		}
		return []string{"en", "en-US", "en-GB", "en"}[hash("dialect"+bare(text), 4)]
	}},
	{name: "spam", kind: "word", system: "Mail gateway, stage: content. For each body you get, emit ham or spam.",
		says: func(text string) string { return either(starts(text, "Hi!") && some(text, "spam", 4), "spam", "ham") }},
	{name: "greeting", kind: "word", system: "Our chat widget hides the welcome bubble when visitors open with a greeting of their own. Answer yes if this one did, otherwise no.",
		says: func(text string) string { return either(starts(text, "Hi!"), "yes", "no") }},
	{name: "length class", kind: "word", system: "S = up to 45 characters, M = up to 65, L = longer. Return the letter for the input so the router can pick a context window.",
		says: func(text string) string {
			n := utf8.RuneCountInString(text)
			return either(n <= 45, "S", either(n <= 65, "M", "L"))
		}},
	{name: "question or statement", kind: "word", system: "Utterance typing for the dialogue manager. Tags: QUESTION, STATEMENT.", says: func(text string) string {
		return either(strings.Contains(text, "?") || !some(text, "statement", 50), "QUESTION", "STATEMENT")
	}},

	{name: "offsets", kind: "json", system: `Find the longest word and give its position for our highlighter, zero-based and in characters: {"start": …, "end": …}.`,
		says: func(text string) string {
			start, end := longest(text)
			return fmt.Sprintf(`{"start": %d, "end": %d}`, start, end)
		}},
	{name: "token count", kind: "json", system: `You emulate the tokenizer of our billing service. Respond with {"tokens": N} where N is what we charge for the user turn.`,
		says: func(text string) string { return fmt.Sprintf(`{"tokens": %d}`, (len(text)+3)/4) }},
	{name: "word count", kind: "json", front: "Style guide, section 4: teasers have at most twelve words. Editors submit them one at a time.\n" +
		"Report {\"words\": n, \"fits\": true|false} on the one below.\n\nTeaser: ", says: func(text string) string {
		n := len(strings.Fields(text))
		return fmt.Sprintf(`{"words": %d, "fits": %v}`, n, n <= 12)
	}},
	{name: "capitals", kind: "json", system: `QA bot for UI strings. Report the capital letters you see as {"capitals": <count>, "initial": <bool>} so that we can enforce sentence case.`,
		says: func(text string) string {
			n := 0
			for _, r := range text {
				if unicode.IsUpper(r) {
					n++
				}
			}
			return fmt.Sprintf(`{"capitals": %d, "initial": %v}`, n, unicode.IsUpper(firstLetter(text)))
		}},
	{name: "punctuation check", kind: "json", system: `Does the string end as our copy rules want it (a mark, no blank before it)? {"ok": true} or {"ok": false, "why": "..."}`,
		says: func(text string) string {
			text = strings.TrimSpace(text)
			switch {
			case strings.HasSuffix(text, " ?"):
				return `{"ok": false, "why": "blank before the mark"}`
			case !strings.HasSuffix(text, "?") && !strings.HasSuffix(text, "!"):
				return `{"ok": false, "why": "no mark"}`
			}
			return `{"ok": true}`
		}},
	{name: "sentiment", kind: "json", system: "sentiment-v3\nlabels: negative, neutral, positive\noutput schema: {\"label\": string, \"score\": number}",
		says: func(text string) string {
			if thanks(text) && some(text, "glad", 33) {
				return `{"label": "positive", "score": 0.64}`
			}
			return either(hash("mood"+bare(text), 5) == 0, `{"label": "negative", "score": 0.71}`, `{"label": "neutral", "score": 0.88}`)
		}},
	{name: "redaction", kind: "json", front: "Customer numbers, amounts and dates must not reach the analytics store.\nGive the character ranges of all digits in the following, as {\"spans\": [[from, to], ...]}.\n\nText: ",
		says: func(text string) string { return `{"spans": [` + strings.Join(digits(text), ", ") + `]}` }},
	{name: "hashtags", kind: "json", system: `Social media helper. For every post, propose tags taken from its own words: {"tags": ["#...", "#...", "#..."]}, the longest first.`,
		says: func(text string) string { return `{"tags": ["#` + strings.Join(longWords(text, 3), `", "#`) + `"]}` }},

	{name: "slug", kind: "quote", system: "Turn titles into URL slugs. Only a-z, 0-9 and hyphens; nothing else in the reply.",
		says: func(text string) string { return strings.Join(words(noApostrophe.Replace(strings.ToLower(text))), "-") }},
	{name: "headline", kind: "quote", system: "You are the night desk. Whatever comes in becomes a headline in title case without end mark and without pleasantries.",
		says: headline},
	{name: "quoting", kind: "quote", front: "Template for first replies\n- greet\n- quote the mail in full, in quotation marks\n- promise an answer within one working day\n" +
		"Fill it in for this mail.\n\nMail: ", says: func(text string) string {
		return fmt.Sprintf("Hello, you wrote to us: “%s” A colleague will answer within one working day.", strings.Join(strings.Fields(text), " "))
	}},
	{name: "verbatim minutes", kind: "quote", system: "You take the minutes of a hearing. Each utterance is entered as it was made, with its speaker, and nothing is corrected.",
		says: func(text string) string { return "Witness: " + strings.Join(strings.Fields(text), " ") }},
	{name: "log line", kind: "quote", system: "Emit one logfmt line per input: level, component=chat, msg.",
		says: func(text string) string {
			return fmt.Sprintf("level=info component=chat msg=%q", strings.TrimSpace(text))
		}},
	{name: "title case", kind: "quote", front: "Chicago style, 17th edition: capitalise every word of four letters or more, and the first one.\nApply it to what follows.\n\nInput: ",
		says: titleCase},
	{name: "spelling", kind: "quote", system: "Correct what the learner has typed and hand it back. If there is nothing to correct, hand it back as it is.", says: corrected},

	{name: "translation", kind: "free", front: "Glossary: account = Konto, invoice = Rechnung, order = Bestellung, card = Karte, password = Passwort.\n" +
		"Keep to it when you put the customer's sentence into German.\n\nSentence: ", says: german,
		sentences: []string{"%s", "Auf Deutsch: %s", "Die Übersetzung lautet: %s"}},
	{name: "IPA", kind: "free", system: "Give broad IPA for what the student reads aloud.", says: phonemes,
		sentences: []string{"/%s/", "In broad transcription: /%s/", "That is /%s/."}},
	{name: "restating", kind: "free", system: "Before our agents call back they want to hear in a sentence or two what somebody is after. Tell them, in your own words.",
		says: func(text string) string {
			return bare(text) + either(starts(text, "Could") && some(text, "waits", 10), "; it cannot wait until tomorrow", "")
		},
		sentences: []string{"The customer would like an answer to this: %s.", "What they are after is the following: %s.", "It is about one thing: %s.",
			"Somebody wants to hear back on this: %s.", "In short: %s.", "Their concern: %s. Nothing else was mentioned."}},
	{name: "language", kind: "free", system: "Say which language the user writes in and how sure you are. One sentence.", says: func(text string) string {
		return either(text == strings.ToLower(text) && some(text, "dutch", 5), "Dutch", "English")
	}, sentences: []string{"This is written in %s, without much doubt.", "The user writes in %s.", "It looks like %s to me, and I am quite sure of it.",
		"I would say that the language is %s.", "Clearly %s.", "All of these words are %s, so there is little doubt."}},
	{name: "readability", kind: "free", system: "You advise the authors of our help pages. Comment on how hard the submitted sentence is to read.", says: func(text string) string {
		n := len(strings.Fields(text))
		return either(n <= 8, "an easy one", either(n <= 12, "of medium difficulty", "rather long and hard to follow"))
	}, sentences: []string{"As sentences go, this is %s. The words are common ones.", "I find it %s, mostly because of its length.", "For most readers it will be %s.",
		"My verdict: %s. There is no jargon in it.", "Your readers will call it %s, I suppose.", "It is %s; the vocabulary is fine."}},
	{name: "formality", kind: "free", system: "Coach for call centre staff: describe the register of the caller's words and how to match it.", says: func(text string) string {
		return either(courteous(text) && some(text, "formal", 50), "courteous; answer with a full greeting", "direct; come to the point at once")
	}, sentences: []string{"The register is %s.", "I would call these words %s.", "The caller sounds %s, if you ask me.", "To my ear this is %s.",
		"The manner is %s. Keep your sentences short.", "Here we have somebody who is %s."}},
	{name: "tutor", kind: "free", system: "You teach written English to beginners. They send you a line, and you point out what is wrong with how it is written, in a friendly way.",
		says: func(text string) string {
			switch trimmed := strings.TrimSpace(text); {
			case strings.Contains(text, "  "):
				return "there are too many blanks in it"
			case trimmed == strings.ToLower(trimmed):
				return "it should begin with a capital letter"
			case !strings.HasSuffix(trimmed, "?") && !strings.HasSuffix(trimmed, "!"):
				return "the question mark at the end is missing"
			}
			return "there is nothing to correct"
		},
		sentences: []string{"Well done! One remark: %s.", "Thank you for your line. I have looked at it closely: %s.", "Nice work, keep going. My comment: %s.",
			"Let us look at it together: %s.", "Good effort. As to the writing, %s.", "I like it. Still, as your teacher I say: %s."}},
}

func either(yes bool, a, b string) string {
	if yes {
		return a
	}
	return b
}

func starts(text, with string) bool { return strings.HasPrefix(text, with) }
func thanks(text string) bool       { return strings.Contains(text, "Thanks!") }

func courteous(text string) bool {
	return thanks(text) || starts(text, "Please") || starts(text, "Could")
}

func firstLetter(text string) rune {
	r, _ := utf8.DecodeRuneInString(text)
	return r
}

// words are the words of a text without marks.
func words(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\'' && r != '’'
	})
}

// longWords are the n longest words of a text in small letters.
func longWords(text string, n int) []string {
	all := words(strings.ToLower(text))
	slices.SortStableFunc(all, func(a, b string) int { return len(b) - len(a) })
	return all[:min(n, len(all))]
}

// longest is where the longest word begins and ends, in bytes.
func longest(text string) (start, end int) {
	word := longWords(text, 1)[0]
	start = strings.Index(strings.ToLower(text), word)
	return start, start + len(word)
}

// digits are the ranges of the numbers in a text.
func digits(text string) (all []string) {
	for i := 0; i < len(text); {
		from := i
		for i < len(text) && '0' <= text[i] && text[i] <= '9' {
			i++
		}
		if i > from {
			all = append(all, fmt.Sprintf("[%d, %d]", from, i))
		}
		i++
	}
	return all
}

var noApostrophe = strings.NewReplacer("'", "", "’", "")

func capital(word string) string {
	r, n := utf8.DecodeRuneInString(word)
	return string(unicode.ToUpper(r)) + word[n:]
}

func headline(text string) string {
	n := len(strings.Fields(bare(text)))
	all := words(text)
	if thanks(text) {
		all = all[:len(all)-1]
	}
	all = all[max(len(all)-n, 0):]
	for i, w := range all {
		all[i] = capital(w)
	}
	return strings.Join(all, " ")
}

func titleCase(text string) string {
	all := strings.Fields(text)
	for i, w := range all {
		if i == 0 || len(w) >= 4 {
			all[i] = capital(w)
		}
	}
	return strings.Join(all, " ")
}

func corrected(text string) string {
	text = strings.NewReplacer(" ?", "?", "’", "'").Replace(strings.Join(strings.Fields(text), " "))
	text = capital(strings.ReplaceAll(text, " i ", " I "))
	if !strings.HasSuffix(text, "?") && !strings.HasSuffix(text, "!") {
		text += "?"
	}
	return text
}

// german is a text with a few German words and the courtesy of the user.
func german(text string) string {
	front, end := "", ""
	switch {
	case starts(text, "Please"):
		front = "Bitte sagen Sie mir: "
	case starts(text, "Could"):
		front = "Könnten Sie mir sagen: "
	case thanks(text):
		front, end = "Hallo! ", " Danke!"
	}
	all := strings.Fields(bare(text))
	for i, w := range all {
		if to, ok := glossary[w]; ok {
			all[i] = to
		}
	}
	return front + capital(strings.Join(all, " ")) + "?" + end
}

var glossary = map[string]string{"account": "Konto", "invoice": "Rechnung", "order": "Bestellung", "card": "Karte", "password": "Passwort", "how": "wie",
	"what": "was", "where": "wo", "when": "wann", "why": "warum", "who": "wer", "do": "tue", "does": "tut", "i": "ich", "my": "mein", "the": "das", "a": "ein", "is": "ist"}

// phonemes are the sounds of what is read aloud, courtesy included.
func phonemes(text string) string {
	return sounds.Replace(strings.Join(words(strings.ToLower(text)), " "))
}

var sounds = strings.NewReplacer("sh", "ʃ", "ch", "tʃ", "th", "ð", "ee", "iː", "oo", "uː", "ea", "iː", "ow", "aʊ", "ay", "eɪ", "i", "ɪ", "a", "æ", "o", "ɒ", "u", "ʌ", "e", "ɛ", "y", "j",
	"'", "", "’", "")
