package proxy

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"reprise/proxy/canon"
	"reprise/topics/reuse/evidence"
)

// families remembers to which family of scopes a scope belongs. Scopes are of one family whose requests have one path, namespace and model, and
// whose system messages are equal beside what applications put into them for each user or day: what has a digit (dates, times, ids, versions),
// months, weekdays, and words with a capital in the middle of a sentence, which are mostly names. What two scopes of one family show of each other
// is little (see package evidence), so that a wrong guess costs little: "Translate into French" and "Translate into German" are one.
//
// It is safe for concurrent use, and has two generations of mostFamilies scopes.
type families struct {
	mu         sync.Mutex // guards what follows
	young, old map[canon.Hash]uint64
}

const mostFamilies = 2048

// of is the family of the scope of q.
func (f *families) of(q *request) uint64 {
	f.mu.Lock()
	family, known := f.young[q.Scope]
	if !known {
		family, known = f.old[q.Scope]
	}
	f.mu.Unlock()
	if known {
		return family
	}
	var text strings.Builder
	for _, part := range []string{q.d.Namespace, q.family.Path, q.Model} {
		text.WriteString(part)
		text.WriteByte(0)
	}
	for _, t := range q.systemTexts() {
		mask(&text, t.Text)
	}
	family = max(evidence.ID(text.String()), 1)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.young == nil || len(f.young) >= mostFamilies {
		f.old, f.young = f.young, map[canon.Hash]uint64{}
	}
	f.young[q.Scope] = family
	return family
}

var dayNames = func() map[string]bool {
	all := map[string]bool{}
	for _, name := range strings.Fields("january february march april may june july august september october november december " +
		"jan feb mar apr jun jul aug sep oct nov dec monday tuesday wednesday thursday friday saturday sunday mon tue wed thu fri sat sun") {
		all[name] = true
	}
	return all
}()

// mask writes the words of a text, each that varies as one mark. Several in a row are one: "Ada King" and "Ada".
func mask(to *strings.Builder, text string) {
	masked := false // the word before was
	for line := range strings.Lines(text) {
		start := true // of a sentence or a line
		for word := range strings.FieldsSeq(line) {
			bare := strings.TrimFunc(word, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
			first, _ := utf8.DecodeRuneInString(bare)
			varies := strings.ContainsFunc(bare, unicode.IsDigit) || !start && unicode.IsUpper(first) && bare != "I" || dayNames[strings.ToLower(bare)]
			if !varies {
				to.WriteString(word)
				to.WriteByte(' ')
			} else if !masked {
				to.WriteByte('#')
			}
			masked, start = varies, strings.ContainsAny(word[len(word)-1:], ".!?:")
		}
		to.WriteByte('\n')
	}
}
