package openai

import (
	"strings"
	"testing"

	"reprise/proxy/answer"
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
		got := (responseIDs{}).New(random, c.original)
		if got != c.want {
			t.Errorf("%q: %q, want %q", c.original, got, c.want)
		}
		if original, ok := (responseIDs{}).Original(got); ok != c.carries || ok && original != c.original {
			t.Errorf("%q carries %q, %v", got, original, ok)
		}
	}
}

func TestOriginalIDOfOthers(t *testing.T) {
	for _, id := range []string{"", "resp_68a1", "resp_rp", "resp_rp_x", "resp_rp12_x", "resp_rpzzzzzzzzzzzzzzzzzzzzzzzz_x",
		"resp_rp0102ff000000000000000000", "resp_rp0102ff000000000000000000_", "chatcmpl-1"} {
		if original, ok := (responseIDs{}).Original(id); ok {
			t.Errorf("%q carries %q", id, original)
		}
	}
}

// TestAppendLink: an id of a part of a replay carries the original, or is the original where there is no room for it.
func TestAppendLink(t *testing.T) {
	for _, c := range []struct {
		original, want string
	}{
		{"call_1", "call_rp100000000_1"},
		{"fc_a_b", "fc_rp100000000_a_b"},
		{"1", "_rp100000000_1"},
		{"call_", "_rp100000000_call_"},
		{"Call_1", "_rp100000000_Call_1"},
		{"call_rp100000000_1", "call_rp100000000_rp100000000_1"}, // a replay behind a replay
		{"call_" + strings.Repeat("a", 47), "call_rp100000000_" + strings.Repeat("a", 47)},
		{"call_" + strings.Repeat("a", 48), "call_" + strings.Repeat("a", 48)},
		{strings.Repeat("a", 51), "_rp100000000_" + strings.Repeat("a", 51)},
		{strings.Repeat("a", 52), strings.Repeat("a", 52)},
	} {
		got := string((responses{}).NewLink(nil, [12]byte{1}, c.original))
		if got != c.want || !answer.IsLink(got) {
			t.Errorf("%q: %q, want %q", c.original, got, c.want)
		}
		if original, ok := (responses{}).Original(got); ok != (got != c.original) || ok && original != c.original {
			t.Errorf("%q carries %q, %v", got, original, ok)
		}
	}
}
