package responses

import (
	"strings"
	"testing"

	"reprise/proxy/answer"
)

// TestStreamOutOfProportion: each event repeats the id of its item, so that a long one times many parts would be gigabytes.
func TestStreamOutOfProportion(t *testing.T) {
	for _, c := range []struct {
		id, parts int
		ok        bool
	}{{50, 200, true}, {100_000, 20_000, false}} {
		body := `{"id":"r","object":"response","status":"completed","output":[{"id":"` + strings.Repeat("i", c.id) +
			`","type":"message","content":[` + strings.Repeat(`{"type":"output_text","text":"a","annotations":[]},`, c.parts) + `{"type":"output_text","text":"b"}]}]}`
		z, err := answer.Freeze(Family.Answers, "application/json", []byte(body))
		if err != nil || !answer.Judge(Family.Answers, false, []byte(body)).Keep {
			t.Fatal("not kept: ", err)
		}
		out, _, err := z.Replay(nil, answer.ReplayOptions{Stream: true})
		if (err == nil) != c.ok || len(out) > 1<<20+33*len(body) {
			t.Errorf("an id of %d bytes: a stream of %d bytes for %d, %v", c.id, len(out), len(body), err)
		}
	}
}
