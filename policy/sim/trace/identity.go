package trace

import (
	"crypto/sha256"
	"encoding/binary"
)

// hashed is set in the identity of what is no number.
const hashed = 1 << 63

// Identity is the number that stands for a name of the trace: an id, a topic, a conversation. A whole number from 1 to
// 2^64-1 in its plain decimal form stands for itself, so that no two numbers collide; anything else is the first 63 bits of
// its SHA-256 with the highest bit set, so that it collides with no number below 2^63, and two texts by chance only: one
// trace in a hundred thousand where it has ten million of them. The empty name is 0, and nothing else is.
func Identity(name string) uint64 { return identity(name) }

func identity[T string | []byte](name T) uint64 {
	if len(name) == 0 {
		return 0
	}
	if n, ok := decimal(name); ok {
		return n
	}
	sum := sha256.Sum256([]byte(name))
	return binary.BigEndian.Uint64(sum[:]) | hashed
}

// decimal reads a number that is written in one way only: no sign, no leading zero.
func decimal[T string | []byte](s T) (n uint64, ok bool) {
	if len(s) > 20 || s[0] == '0' {
		return 0, false
	}
	for i := range len(s) {
		d := uint64(s[i] - '0')
		if d > 9 || n > (1<<64-1-d)/10 {
			return 0, false
		}
		n = n*10 + d
	}
	return n, true
}
