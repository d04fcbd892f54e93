package align

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestTexts: a difference has the place at which it was put, and its class.
func TestTexts(t *testing.T) {
	frames := []string{"%s", "You are a support bot.\nToday is %s.\nAnswer \"briefly\".", "Grüße, \\ and\ttabs: 数字 %s", "Rule 1: be kind.\n\nContext (%s) follows:\n" + stable}
	for _, c := range []struct {
		a, b  string
		looks Class
		clock bool
		at    int // of the word that differs, in a
	}{
		{"2026-11-22", "2026-11-23", Timestamp, false, 0},
		{"2026-11-22", "2025-01-01", Timestamp, false, 0},
		{"2026-11-23T04:25:31Z", "2026-11-23T05:25:31Z", Timestamp, true, 0},
		{"2026-11-23T04:25:31.123Z", "2026-11-23T04:25:31.456Z", Timestamp, true, 0},
		{"2026-11-22T04:25:31Z", "2026-11-23T05:26:31Z", Timestamp, false, 0},
		{"04:25", "17:31", Timestamp, true, 0},
		{"2026-11-23 04:25", "2026-11-23 04:26", Timestamp, true, 11},
		{"22/11/2026", "23/11/2026", Timestamp, false, 0},
		{"Monday", "Tuesday", Timestamp, false, 0},
		{"1795407931", "1795407999", Timestamp, true, 0},
		{"7f8c1f0e-1111-4222-8333-944455556666", "91d2aaaa-0000-4bbb-9ccc-0ddd0eee0fff", UUID, false, 0},
		{"req_8f3kd02mXq1", "req_1m49dk3Plz7", Token, false, 0},
		{"41", "42", Number, false, 0},
		{"be polite", "use slang", Unknown, false, 0},
	} {
		for _, frame := range frames {
			p, q := fmt.Sprintf(frame, c.a), fmt.Sprintf(frame, c.b)
			want := strings.Index(p, c.a) + c.at
			got := Texts(p, q, 4)
			if len(got) != 1 || got[0].Byte != want || got[0].Looks != c.looks || got[0].Clock != c.clock {
				t.Errorf("%q and %q in %.20q: %+v, not %s (%t) at byte %d", c.a, c.b, frame, got, c.looks, c.clock, want)
			}
			if got := Texts(p, p, 4); len(got) != 0 {
				t.Errorf("%q differs from itself: %+v", p, got)
			}
		}
	}
}

// TestTextsSeveral: differences that are apart are several, and those next to each other one.
func TestTextsSeveral(t *testing.T) {
	of := func(date, clock, id string) string {
		return "Now: " + date + " at " + clock + ".\n" + stable[:300] + "\nRequest: " + id + "\n" + stable[300:]
	}
	got := Texts(of("2026-11-22", "04:25", "7f8c1f0e-1111-4222-8333-944455556666"), of("2026-11-23", "05:26", "91d2aaaa-0000-4bbb-9ccc-0ddd0eee0fff"), 4)
	second := strings.Index(of("2026-11-22", "04:25", "7f8c"), "7f8c")
	if len(got) != 2 || got[0].Byte != 5 || got[0].Looks != Timestamp || got[1].Byte != second || got[1].Looks != UUID {
		t.Errorf("differences %+v, and the second is at %d", got, second)
	}
	if got := Texts(of("2026-11-22", "04:25", "7f8c1f0e-1111-4222-8333-944455556666"), of("2026-11-23", "05:26", "91d2aaaa-0000-4bbb-9ccc-0ddd0eee0fff"), 1); len(got) != 1 {
		t.Errorf("differences %+v, of which one was asked for", got)
	}
}

// TestTextsOfAnything: whatever the texts, places are in order and inside the first one, at the beginning of characters.
func TestTextsOfAnything(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	pieces := []string{"a", "12", "\n", "\"", "\\", "é", "数", " ", "2026-11-22", "\x01", "word ", "\\n"}
	text := func() string {
		var b strings.Builder
		for range rng.IntN(60) {
			b.WriteString(pieces[rng.IntN(len(pieces))])
		}
		return b.String()
	}
	for range 3000 {
		p, q := text(), text()
		if rng.IntN(2) == 0 {
			q = p + text()
		}
		all := Texts(p, q, 5)
		if (len(all) == 0) != (p == q) {
			t.Fatalf("%q and %q: %+v", p, q, all)
		}
		last := 0
		for _, d := range all {
			if d.Byte < last || d.End < d.Byte || d.End > len(p) || d.Looks == "" {
				t.Fatalf("%q and %q: %+v", p, q, all)
			}
			last = d.End
		}
		if len(all) > 0 && !strings.HasPrefix(q, p[:all[0].Byte]) {
			t.Fatalf("%q and %q differ before byte %d", p, q, all[0].Byte)
		}
	}
}
