package canon

import (
	"bytes"
	"crypto/sha256"
	"slices"
)

// Link is a place of ids that link parts of one conversation and mean nothing else: of a call of a tool and of its result. An id counts
// by the order in which it appears first, so that the same conversation is the same request whichever ids its calls got, while an id that
// links other parts makes another request.
//
// An id counts as it is where it may mean more: where it has other characters than letters, digits, '-' and '_' or more than 64, because it may
// carry data for the upstream, and where its text is also a word elsewhere in the body, because what is said about "call_abc" is about one call.
type Link struct {
	// In and Name: the id is member Name of an element of the conversation; with In, of an object in its list In. Name ends in "id": bodies
	// without such a name are not looked through.
	In, Name string
	// Types are of elements whose ids only link; "" is the type of those without. The ids of others may name what the upstream has, and
	// count as it gets them. nil: the ids of all elements only link.
	Types []string
}

// links reports whether the ids of elements of a type, 0 where it is absent, only link.
func (at *Link) links(d *doc, kind uint32) bool {
	if at.Types == nil {
		return true
	}
	name := ""
	if d.is(kind, text) {
		name = string(d.text(kind))
	}
	return slices.Contains(at.Types, name)
}

// maxLink is how long an id may be that counts by its number, in bytes.
const maxLink = 64

// maxLinks is in how many places of one body ids count by their number; in a body with more of them all count as they are.
const maxLinks = 1 << 14

// linkBytes is the memory of one place of an id: its node, and two words, each with its text, a state and a place in a map, which grow by
// doubling, and what the request keeps.
const linkBytes = 2*4 + 2*(maxLink+2*40+2*28+2*stringBytes)

// links are the ids of the conversation that is read. The buffers are pooled.
type links struct {
	places []uint32          // nodes of ids
	words  map[string]uint32 // place in states of each id, and of what the upstream gets for it
	states []linkState
	sizes  uint64 // bit n: a word has n+1 bytes
}

// linkState is a word: an id, or what the upstream gets for one.
type linkState struct {
	word     string
	original uint32 // place of what the upstream gets for it; its own where that is the same
	number   uint32 // 0 while it has none
	said     bool   // it is a word somewhere else in the body
}

// mostWords is how many words a map has at most that is used again.
const mostWords = 512

func (l *links) reset() {
	if len(l.words) > mostWords {
		*l = links{}
		return
	}
	if len(l.words) > 0 {
		clear(l.words)
	}
	clear(l.states)
	l.places, l.states, l.sizes = l.places[:0], l.states[:0], 0
}

// add adds a word, and returns its place in states; known is true where it was there.
func (l *links) add(word []byte) (i uint32, known bool) {
	if i, known = l.words[string(word)]; !known {
		if l.words == nil {
			l.words = map[string]uint32{}
		}
		s := linkState{word: string(word), original: uint32(len(l.states))}
		i = s.original
		l.words[s.word] = i
		l.states = append(l.states, s)
		l.sizes |= 1 << (len(word) - 1)
	}
	return i, known
}

// numberLinks gives numbers to the ids of a conversation that may have them.
func (l *list) numberLinks(convo uint32) {
	places := l.Reader.rules.Links
	if len(places) == 0 || !l.ids {
		return
	}
	for i := range l.elements(convo) {
		for p := range places {
			l.findLinks(&places[p], i)
		}
	}
	if len(l.links.places) == 0 {
		return
	}
	refers := l.refers(convo)
	if !refers && len(l.links.places) <= maxLinks {
		l.findWords()
		l.setNumbers()
		return
	}
	for _, v := range l.links.places {
		if l.nodes[v].setKind(text); refers {
			l.setOriginal(v)
		}
	}
}

// refers reports whether an element of a conversation names a part that the upstream has.
func (l *list) refers(convo uint32) bool {
	kind := l.Reader.rules.Reference
	return kind != "" && l.anyItem(convo, func(i uint32) bool {
		t := l.member(i, "type")
		return l.isText(t, kind) || !l.given(t) && !l.given(l.member(i, "role"))
	})
}

// findLinks notes the ids of one kind of place in an element.
func (l *list) findLinks(at *Link, element uint32) {
	if at.In == "" {
		l.findLink(at, element, element)
		return
	}
	for i := range l.elements(l.member(element, at.In)) {
		l.findLink(at, element, i)
	}
}

// findLink notes the id of object i, which is element or a part of it.
func (l *list) findLink(at *Link, element, i uint32) {
	v := l.member(i, at.Name)
	if !l.is(v, text) || i == element && l.ignored(at.Name, v, element) {
		return
	}
	if !at.links(&l.doc, l.member(element, "type")) {
		l.setOriginal(v)
		return
	}
	if len(l.links.places) > maxLinks || !isLink(l.text(v)) {
		return
	}
	l.links.places = append(l.links.places, v)
	i, known := l.links.add(l.text(v))
	if !known && l.Reader.rules.Originals != nil {
		if original, ok := l.Reader.rules.Originals.Original(l.links.states[i].word); ok && isLink([]byte(original)) {
			sent, _ := l.links.add([]byte(original)) // which may move the states
			l.links.states[i].original = sent
		}
	}
	l.nodes[v].setKind(linked)
}

// ignored reports whether a member of a message is no part of the key.
func (l *list) ignored(name string, v, element uint32) bool {
	if !l.rules.IsMessage(l.value(element)) {
		return false
	}
	role, err := l.rules.Role(l.Reader, l.value(element))
	return err == nil && l.rules.Ignores([]byte(name), l.value(v), role)
}

// setOriginal replaces the text of id v by what the upstream gets.
func (l *list) setOriginal(v uint32) {
	if l.Reader.rules.Originals == nil {
		return
	}
	original, ok := l.Reader.rules.Originals.Original(string(l.text(v)))
	if !ok {
		return
	}
	at := l.offset(v)
	l.arena = append(l.arena, original...)
	n := &l.nodes[v]
	n.start, n.end, n.aux = uint32(len(l.arena)-len(original)), uint32(len(l.arena)), uint32(at)
	n.link |= escapedBit
}

// isLink reports whether an id has the form of a mere name: 1 to maxLink letters, digits, '-' and '_'.
func isLink(id []byte) bool {
	return 0 < len(id) && len(id) <= maxLink && wordEnd(id, 0) == len(id)
}

// findWords notes which ids are words of texts, names and numbers outside the places of ids.
func (l *list) findWords() {
	for i := range l.nodes {
		if k := l.nodes[i].kind(); k == text || k == number {
			l.links.find(l.text(uint32(i)))
		}
	}
}

// find notes the ids that are words of a text. A text may be JSON or a URL itself, in which a word begins behind an escape: "\\ncall_1",
// "\\u201ccall_1", "%20call_1".
func (l *links) find(text []byte) {
	for i := 0; i < len(text); i++ {
		if !isWordByte[text[i]] {
			continue
		}
		end := wordEnd(text, i)
		l.findWord(text[i:end])
		if i > 0 {
			switch text[i-1] {
			case '\\':
				l.findWord(text[min(i+1, end):end])
				l.findWord(text[min(i+5, end):end])
			case '%':
				l.findWord(text[min(i+2, end):end])
			}
		}
		i = end
	}
}

func (l *links) findWord(word []byte) {
	l.say(word)
	if bare := bytes.Trim(word, "-_"); len(bare) < len(word) { // a dash, or the sign of emphasis
		l.say(bare)
	}
}

func (l *links) say(word []byte) {
	if n := len(word); n == 0 || n > maxLink || l.sizes>>(n-1)&1 == 0 {
		return
	}
	if i, ok := l.words[string(word)]; ok {
		l.states[i].said = true
	}
}

// setNumbers numbers the ids that are not said.
func (l *list) setNumbers() {
	ids, last := &l.links, uint32(0)
	for _, v := range ids.places {
		s := &ids.states[ids.words[string(l.text(v))]]
		sent := &ids.states[s.original]
		if s.said || sent.said {
			l.nodes[v].setKind(text)
			continue
		}
		if s.number == 0 {
			last++
			s.number = last
			if l.req.Links = append(l.req.Links, s.word); sent != s {
				l.req.Links = append(l.req.Links, sent.word)
			}
		}
		l.nodes[v].aux = s.number
	}
}

// Named reports whether JSON text, of an answer to this request, has an id of Links as a word. Such an answer does not fit a request with
// other ids. The cost is linear in the text, and nothing where there are no Links.
func (r *Request) Named(json string) bool { return Mentions(json, r.Links) }

// Mentions reports whether JSON text has one of ids as a word.
func Mentions(json string, ids []string) bool {
	if len(ids) == 0 {
		return false
	}
	var l links
	for _, id := range ids {
		if isLink([]byte(id)) {
			l.add([]byte(id))
		}
	}
	l.find([]byte(json))
	return slices.ContainsFunc(l.states, func(s linkState) bool { return s.said })
}

// Conversation returns the hash of Key and the ids of Links. Requests with equal hashes may read one answer while it is still being written,
// before it is known whether the answer names one of the ids.
func (r *Request) Conversation() Hash {
	if len(r.Links) == 0 {
		return r.Key
	}
	ids := append([]byte{tagLink}, r.Key[:]...)
	for _, id := range r.Links {
		ids = appendText(ids, id)
	}
	return sha256.Sum256(ids)
}

// wordEnd returns the end of the word that continues at byte i of a text.
func wordEnd(text []byte, i int) int {
	for i < len(text) && isWordByte[text[i]] {
		i++
	}
	return i
}

var isWordByte = func() (is [256]bool) {
	for c := range is {
		is[c] = '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z' || c == '-' || c == '_'
	}
	return is
}()
