package openai

import (
	"encoding/binary"
	"encoding/hex"
	"strings"

	"reprise/proxy/answer"
)

// maxCarried bounds the original id that a replay's id carries, in bytes.
const maxCarried = 256

// An id that carries another: the prefix, a nonce in hex, an underscore, the original. An original that begins with resp_
// is carried without that, and one that does not is marked by the second prefix. No upstream's own hex id begins with rp
// or rx.
const (
	prefix   = "resp_"
	carried  = prefix + "rp"
	carriedX = prefix + "rx"
)

// responseIDs implements [api.ReplayIDs].
type responseIDs struct{}

// New returns an id for a replay of the answer whose own id is original, and carries the original inside: a later
// request may name the replay as previous_response_id, and the upstream has only the original. An original over 256
// bytes, or of bytes other than letters, digits, '-', '_' and '.', is not carried: a request that names such a replay
// cannot be forwarded.
func (responseIDs) New(random [12]byte, original string) string {
	nonce := hex.EncodeToString(random[:])
	if original == prefix || !carriable(original) {
		return prefix + nonce
	}
	if rest, ok := strings.CutPrefix(original, prefix); ok {
		return carried + nonce + "_" + rest
	}
	return carriedX + nonce + "_" + original
}

func carriable(id string) bool {
	return id != "" && len(id) <= maxCarried && strings.IndexFunc(id, func(c rune) bool {
		return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.')
	}) < 0
}

// Original returns the upstream's id that a replay's id carries; false for an id that New did not make so.
func (responseIDs) Original(id string) (string, bool) {
	begin := prefix
	rest, ok := strings.CutPrefix(id, carried)
	if !ok {
		begin = ""
		if rest, ok = strings.CutPrefix(id, carriedX); !ok {
			return "", false
		}
	}
	nonce, original, ok := strings.Cut(rest, "_")
	if !ok || len(nonce) != 24 || !carriable(original) {
		return "", false
	}
	if _, err := hex.DecodeString(nonce); err != nil {
		return "", false
	}
	return begin + original, true
}

// An id of an item or a call that carries another: the original's prefix of letters, the mark, nine letters or digits of the nonce, an
// underscore, the rest of the original. Without such a prefix it begins with the mark. It has 12 bytes more than the original, 13
// where that has no prefix; OpenAI takes ids of up to 64, and its own have up to 52. No upstream's own id has an underscore eleven bytes
// after one.
const (
	linkMark  = "_rp"
	linkNonce = 9
	mostLink  = 64
)

// NewLink appends an id for a part of a replay, which carries the original: a later request may name it where the server has the rest
// of the conversation (an item_reference, a result behind previous_response_id). An original that leaves no room for that stays.
func (responses) NewLink(dst []byte, nonce [12]byte, original string) []byte {
	prefix, rest, ok := strings.Cut(original, "_")
	if !ok || !isPrefix(prefix) || rest == "" {
		prefix, rest = "", original
	}
	if len(prefix)+len(linkMark)+linkNonce+len("_")+len(rest) > mostLink {
		return append(dst, original...)
	}
	dst = append(append(dst, prefix...), linkMark...)
	const digits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	n := binary.LittleEndian.Uint64(nonce[:])
	for range linkNonce {
		dst = append(dst, digits[n%uint64(len(digits))])
		n /= uint64(len(digits))
	}
	return append(append(dst, '_'), rest...)
}

// Original returns the upstream's id that the id of a part of a replay carries; false for any other id. It implements [canon.Originals].
func (responses) Original(id string) (string, bool) {
	prefix, rest, ok := strings.Cut(id, linkMark)
	if !ok || len(id) > mostLink || len(rest) < linkNonce+2 || rest[linkNonce] != '_' || !answer.IsLink(id) ||
		strings.ContainsAny(rest[:linkNonce], "-_") || prefix != "" && !isPrefix(prefix) {
		return "", false
	}
	if prefix != "" {
		prefix += "_"
	}
	return prefix + rest[linkNonce+1:], true
}

// isPrefix reports whether s is a word of small letters.
func isPrefix(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz") == ""
}
