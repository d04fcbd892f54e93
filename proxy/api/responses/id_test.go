package responses

import (
	"strings"
	"testing"
)

func TestNewID(t *testing.T) {
	random := [12]byte{1, 2, 0xff}
	const nonce = "0102ff000000000000000000"
	for _, c := range []struct {
		original, want string
		carries        bool
	}{
		{"resp_68a1", "resp_rp" + nonce + "_68a1", true},
		{"resp_a_b", "resp_rp" + nonce + "_a_b", true},
		{"other-1.2", "resp_rx" + nonce + "_other-1.2", true},
		{"resp_rp" + nonce + "_68a1", "resp_rp" + nonce + "_rp" + nonce + "_68a1", true}, // a replay behind a replay
		{"", "resp_" + nonce, false},
		{`resp_"x`, "resp_" + nonce, false},
		{"resp_é", "resp_" + nonce, false},
		{"resp_" + strings.Repeat("a", 300), "resp_" + nonce, false},
		{"resp_", "resp_" + nonce, false},
	} {
		got := newID(random, c.original)
		if got != c.want {
			t.Errorf("%q: %q, want %q", c.original, got, c.want)
		}
		if original, ok := originalID(got); ok != c.carries || ok && original != c.original {
			t.Errorf("%q carries %q, %v", got, original, ok)
		}
	}
}

func TestOriginalIDOfOthers(t *testing.T) {
	for _, id := range []string{"", "resp_68a1", "resp_rp", "resp_rp_x", "resp_rp12_x", "resp_rpzzzzzzzzzzzzzzzzzzzzzzzz_x",
		"resp_rp0102ff000000000000000000", "resp_rp0102ff000000000000000000_", "chatcmpl-1"} {
		if original, ok := originalID(id); ok {
			t.Errorf("%q carries %q", id, original)
		}
	}
}
