package answer

import (
	"strings"
	"testing"

	"reprise/proxy/canon"
)

func TestNewID(t *testing.T) {
	random := [12]byte{1, 2, 0xff}
	const nonce = "0102ff000000000000000000"
	for _, c := range []struct {
		family         canon.Family
		original, want string
		carries        bool
	}{
		{canon.Chat, "chatcmpl-9aB", "chatcmpl-" + nonce, false},
		{canon.Completions, "cmpl-7", "cmpl-" + nonce, false},
		{canon.Embeddings, "", "", false},
		{canon.Responses, "resp_68a1", "resp_rp" + nonce + "_68a1", true},
		{canon.Responses, "resp_a_b", "resp_rp" + nonce + "_a_b", true},
		{canon.Responses, "other-1.2", "resp_rx" + nonce + "_other-1.2", true},
		{canon.Responses, "resp_rp" + nonce + "_68a1", "resp_rp" + nonce + "_rp" + nonce + "_68a1", true}, // a replay behind a replay
		{canon.Responses, "", "resp_" + nonce, false},
		{canon.Responses, `resp_"x`, "resp_" + nonce, false},
		{canon.Responses, "resp_é", "resp_" + nonce, false},
		{canon.Responses, "resp_" + strings.Repeat("a", 300), "resp_" + nonce, false},
		{canon.Responses, "resp_", "resp_" + nonce, false},
	} {
		got := NewID(c.family, random, c.original)
		if got != c.want {
			t.Errorf("%v %q: %q, want %q", c.family, c.original, got, c.want)
		}
		if original, ok := OriginalID(got); ok != c.carries || ok && original != c.original {
			t.Errorf("%q carries %q, %v", got, original, ok)
		}
	}
}

func TestOriginalIDOfOthers(t *testing.T) {
	for _, id := range []string{"", "resp_68a1", "resp_rp", "resp_rp_x", "resp_rp12_x", "resp_rpzzzzzzzzzzzzzzzzzzzzzzzz_x",
		"resp_rp0102ff000000000000000000", "resp_rp0102ff000000000000000000_", "chatcmpl-1"} {
		if original, ok := OriginalID(id); ok {
			t.Errorf("%q carries %q", id, original)
		}
	}
}
