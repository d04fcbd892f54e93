package answer

import (
	"encoding/hex"
	"strings"

	"reprise/proxy/canon"
)

// maxCarried bounds the original id that a Responses replay carries, in bytes.
const maxCarried = 256

// A Responses id that carries another: the prefix, a nonce in hex, an underscore, the original. An original that begins
// with resp_ goes without that, and one that does not is marked by the second prefix. No upstream's own hex id begins
// with rp or rx.
const (
	response = "resp_"
	carried  = response + "rp"
	carriedX = response + "rx"
)

// NewID returns an id for a replay of the answer whose own id is original. It looks like the family's ids (chatcmpl-…,
// cmpl-…, resp_…; embeddings have none and get an empty one). random must be fresh for every replay.
//
// A Responses id carries the original inside, because a later request may name it as previous_response_id and the
// upstream knows only the original; OriginalID takes it out. An original over 256 bytes, or of bytes other than letters,
// digits, '-', '_' and '.', is not carried: a request that names such a replay cannot be forwarded.
func NewID(f canon.Family, random [12]byte, original string) string {
	nonce := hex.EncodeToString(random[:])
	switch f {
	case canon.Chat:
		return "chatcmpl-" + nonce
	case canon.Completions:
		return "cmpl-" + nonce
	case canon.Responses:
		return responseID(nonce, original)
	}
	return ""
}

func responseID(nonce, original string) string {
	if original == response || !carriable(original) {
		return response + nonce
	}
	if rest, ok := strings.CutPrefix(original, response); ok {
		return carried + nonce + "_" + rest
	}
	return carriedX + nonce + "_" + original
}

func carriable(id string) bool {
	return id != "" && len(id) <= maxCarried && strings.IndexFunc(id, func(c rune) bool {
		return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.')
	}) < 0
}

// OriginalID returns the upstream's id that a Responses replay's id carries; false for an id that NewID did not make so.
func OriginalID(id string) (string, bool) {
	prefix := response
	rest, ok := strings.CutPrefix(id, carried)
	if !ok {
		prefix = ""
		if rest, ok = strings.CutPrefix(id, carriedX); !ok {
			return "", false
		}
	}
	nonce, original, ok := strings.Cut(rest, "_")
	if !ok || len(nonce) != 24 || original == "" {
		return "", false
	}
	if _, err := hex.DecodeString(nonce); err != nil {
		return "", false
	}
	return prefix + original, true
}
