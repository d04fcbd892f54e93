package trace

import (
	"crypto/sha256"
	"encoding/binary"
)

// hashed is set in the identity of a name that is not a number.
const hashed = 1 << 63

// Identity returns the number of a name in a trace: an id, a topic, a conversation. A whole number from 1 to 2^64-1 in plain
// decimal form is its own identity, so that no two numbers collide. The identity of any other name is the first 63 bits of
// its SHA-256 with the highest bit set. It collides with no number below 2^63, and with another name only by chance: one
// trace in a hundred thousand with ten million names has a collision. Only the empty name is 0.
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

// decimal parses a number without sign and leading zeros, so that each number has one form.
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
