package answer

import (
	"crypto/sha256"
	"strings"

	"reprise/proxy/answer/rawjson"
)

// Bounds of ids that link parts of one conversation.
const (
	maxLink    = 64 // bytes of one that a replay replaces
	mostRandom = 22 // characters of one that are replaced, at most
	newRandom  = 24 // characters after the prefix of one whose original has too few that may be replaced
)

const (
	decimals = "0123456789"
	hexes    = decimals + "abcdef"
	letters  = decimals + "abcdefghijklmnopqrstuvwxyz" + "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
)

// IsLink reports whether an id that links parts of one conversation is a mere name: 1 to 64 letters, digits, '-' and '_'. Any
// other id may carry data for the upstream, and is replayed as it is.
func IsLink(id string) bool {
	return id != "" && len(id) <= maxLink && strings.IndexFunc(id, func(c rune) bool { return c >= 0x80 || !isWord(byte(c)) }) < 0
}

// AppendLink appends the id that a replay with this nonce has in the place of original: one of its shape, because some upstreams
// take no other, with up to 22 of its last characters replaced ("call_" or "toolu_01" stay), and always the same for the same original and
// nonce. It has some 40 random bits at least: two ids of one answer do not become one. One that is not [IsLink] stays as it is.
func AppendLink(dst []byte, nonce [12]byte, original string) []byte {
	if !IsLink(original) {
		return append(dst, original...)
	}
	sum := sha256.Sum256(append(append(make([]byte, 0, len(nonce)+maxLink), nonce[:]...), original...))
	kept, size, of := original, 0, letters
	for size < mostRandom && kept != "" && isAlnum(kept[len(kept)-1]) {
		kept = kept[:len(kept)-1]
		size++
	}
	switch random := original[len(kept):]; {
	case size >= 12 && consistsOf(random, decimals):
		of = decimals
	case size >= 10 && consistsOf(random, hexes):
		of = hexes
	case size < 8:
		kept, size = prefixOf(original), newRandom
	}
	dst = append(dst, kept...)
	for _, c := range sum[:size] {
		dst = append(dst, of[int(c)%len(of)])
	}
	return dst
}

// prefixOf returns the prefix of an id, such as "call_"; the prefix of OpenAI's calls where it has none.
func prefixOf(id string) string {
	if prefix, _, ok := strings.Cut(id, "_"); ok && len(prefix) <= 8 && prefix != "" && consistsOf(prefix, letters[10:36]) {
		return id[:len(prefix)+1]
	}
	return "call_"
}

func consistsOf(s, chars string) bool { return strings.Trim(s, chars) == "" }

func isAlnum(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

func isWord(c byte) bool { return isAlnum(c) || c == '-' || c == '_' }

// links makes the new ids of one replay. The zero value makes none.
type links struct {
	form  *Form
	nonce [12]byte
	made  []madeLink
}

// madeLink is a new id, both in quotes.
type madeLink struct{ original, id string }

// mostMade bounds the ids that are made once and found again. An answer has few, and a stream has them in every event.
const mostMade = 32

// of returns the new id, in quotes, of one in quotes; nil where it stays.
func (l *links) of(original []byte) []byte {
	if l.nonce == ([12]byte{}) || l.form.Links == nil {
		return nil
	}
	for i := range l.made {
		if l.made[i].original == string(original) {
			return rawjson.Bytes(l.made[i].id)
		}
	}
	name := rawjson.View(original[1 : len(original)-1])
	if !IsLink(name) { // also where it has escapes
		return nil
	}
	var room [2 * maxLink]byte
	made := string(append(l.form.Links.NewLink(append(room[:0], '"'), l.nonce, name), '"'))
	if len(l.made) < mostMade {
		l.made = append(l.made, madeLink{string(original), made})
	}
	return rawjson.Bytes(made)
}
