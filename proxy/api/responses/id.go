package responses

import (
	"encoding/hex"
	"strings"
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

// newID returns an id for a replay of the answer whose own id is original, and carries the original inside: a later
// request may name the replay as previous_response_id, and the upstream has only the original. An original over 256
// bytes, or of bytes other than letters, digits, '-', '_' and '.', is not carried: a request that names such a replay
// cannot be forwarded.
func newID(random [12]byte, original string) string {
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

// originalID returns the upstream's id that a replay's id carries; false for an id that newID did not make so.
func originalID(id string) (string, bool) {
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
