package canon_test

import (
	"strings"
	"testing"
	"unicode"

	"reprise/proxy/canon"
)

// known are the names that are known in requests of each API.
var known = chat.Requests.Names

// TestFoldIsEqualFold replaces each letter of each known name by every other letter that strings.EqualFold takes for it.
func TestFoldIsEqualFold(t *testing.T) {
	for name := range known {
		if canon.IsOdd([]byte(name)) || string(canon.Fold(nil, []byte(name))) != name {
			t.Errorf("known name %q does not fold to itself", name)
		}
		for i, r := range name {
			for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
				odd := name[:i] + string(other) + name[i+1:]
				if !strings.EqualFold(odd, name) || !canon.IsOdd([]byte(odd)) || string(canon.Fold(nil, []byte(odd))) != name {
					t.Errorf("%q is not seen as %q", odd, name)
				}
			}
		}
	}
	for r := rune(0x80); r <= unicode.MaxRune; r++ {
		if folded := canon.Fold(nil, []byte(string(r))); len(folded) == 1 && !strings.EqualFold(string(r), string(folded)) {
			t.Errorf("%q folds to %q", r, folded)
		}
	}
}
