package continuation

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"reprise/proxy/answer/rawjson"
	"reprise/proxy/canon"
	"reprise/proxy/observe/learn"
	"reprise/proxy/upstream/continues"
)

// Bounds of what a request pays for its prediction.
const (
	mostRead  = 128 << 10 // bytes of its messages that are copied or searched for a role; asks before them are not seen
	leastRead = 64        // that a message counts for
)

// asksOf copies the messages of the user's last asks, the last one first in both, as the client wrote them; of a long message the begin and the
// end, which have more than a model of so many tokens reads. Messages of the user that follow each other are one ask. There are up to twice as
// many asks as the model has prompts, as some may have no text.
func asksOf(r *canon.Request, body []byte, prompts, tokens int) (asks [][]string) {
	half := min(3*continues.TokenBytes*tokens+512, mostRead/8) // half of the text with six bytes a character, and what is around it
	left := mostRead
	follows := false // the message after this one is the user's too
	for _, s := range slices.Backward(r.Segments) {
		if s.Kind != canon.SegmentMessage {
			continue
		}
		raw, read := s.Of(body), leastRead
		user := len(raw) > 0 && raw[0] == '"' // a conversation of one string
		if !user {
			var role string
			role, read = roleOf(raw, half)
			user = role == "user"
		}
		if left -= read; left < 0 || user && !follows && len(asks) == 2*prompts {
			break
		}
		if follows = user && take(&asks, shortened(raw, half), follows, &left); left < 0 {
			break
		}
	}
	return asks
}

// take adds a message to the last ask, or as one of its own, if there is room for it.
func take(asks *[][]string, message string, follows bool, left *int) bool {
	switch *left -= len(message); {
	case *left < 0:
		return false
	case follows:
		last := &(*asks)[len(*asks)-1]
		*last = append(*last, message)
	default:
		*asks = append(*asks, []string{message})
	}
	return true
}

// roleOf is the role of a message, and how many of its bytes were searched.
func roleOf(raw []byte, half int) (role string, read int) {
	head := raw[:min(len(raw), 2*half)]
	m := gjson.Get(rawjson.View(head), "role")
	if !m.Exists() && len(head) < len(raw) {
		m = gjson.Get(shortened(raw, half), "role")
		return m.Str, 4 * half
	}
	return m.Str, max(m.Index, leastRead)
}

// shortened is a copy of a message without its middle, if it is longer than two halves. Where both cuts are in one text it is a message with a
// shorter text; elsewhere the text around the cuts can be lost, as of an image and a text that are both long.
func shortened(raw []byte, half int) string {
	if len(raw) <= 2*half {
		return string(raw)
	}
	return string(raw[:headEnd(raw, half)]) + string(raw[tailStart(raw, len(raw)-half):])
}

// headEnd is the last place up to most that is in no escape and no rune.
func headEnd(raw []byte, most int) int {
	end := 0
	for next := 0; next <= most; next += escape(raw[next:]) {
		end = next
	}
	return end
}

// escape is the length of the character at the begin of b, as JSON has it.
func escape(b []byte) int {
	switch {
	case b[0] != '\\':
		_, n := utf8.DecodeRune(b)
		return n
	case len(b) > 1 && b[1] == 'u':
		return 6
	}
	return 2
}

// tailStart is the first place from at that is in no escape and no rune.
func tailStart(raw []byte, at int) int {
	for at < len(raw) && !utf8.RuneStart(raw[at]) {
		at++
	}
	for k := max(0, at-5); k < at; k++ {
		run := 0 // of backslashes that end at k: after an even number of them the next one begins an escape
		for run < mostRead && run <= k && raw[k-run] == '\\' {
			run++
		}
		if end := k + escape(raw[k:]); run%2 == 1 && end > at {
			return min(end, len(raw))
		}
	}
	return at
}

// promptsOf are the user's last prompts that have a text, the oldest first.
func promptsOf(asks [][]string, most int) (prompts []string) {
	for _, ask := range asks {
		var texts []string
		for _, m := range slices.Backward(ask) {
			text, _ := learn.TextOf(canon.Segment{Len: uint32(len(m)), Kind: canon.SegmentMessage}, rawjson.Bytes(m))
			if strings.TrimSpace(text) != "" {
				texts = append(texts, text)
			}
		}
		if len(texts) > 0 && len(prompts) < most {
			prompts = append(prompts, strings.Join(texts, "\n"))
		}
	}
	slices.Reverse(prompts)
	return prompts
}
