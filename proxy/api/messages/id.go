package messages

import "encoding/hex"

// newID returns an id for a replay: msg_01 and 22 digits.
func newID(random [12]byte, _ string) string {
	var few [32]byte
	return string(hex.AppendEncode(append(few[:0], "msg_01"...), random[:11]))
}
