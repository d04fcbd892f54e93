package reuse

import (
	"testing"

	"reprise/policy/reuse/evidence"
)

func TestSameAnswer(t *testing.T) {
	const same, different, unknown = evidence.Same, evidence.Different, evidence.Unknown
	for _, c := range []struct {
		a, b string
		want evidence.Outcome
	}{
		{"Paris", "paris.", same},
		{"Sure! The capital of France is **Paris**.", "The capital of France is Paris.", same},
		{"1. Open *Settings*.\n2. Select **Security**.", "- Open Settings.\n- Select Security.\n\nI hope this helps!", same},
		{"The tower was completed in 1889.", "1889", same},
		{"Here's the code:\n```go\nx := 1\n```", "```\nx := 1\n```\nLet me know if you need anything else.", same},
		{"```go\nx := 1\n```", "```go\nX := 1\n```", unknown},
		{"Yes, it is safe.", "No, it is not safe.", different},
		{"Yes.", "no", different},
		{"The Battle of Hastings took place in 1066.", "The Battle of Hastings took place in 1067.", different},
		{"The capital of France is Paris.", "The capital of Spain is Madrid.", different},
		{"Mount Everest is 8,849 m high.", "Mount Everest is 8,848.86 m high.", unknown},
		{"Open Settings and turn on two-factor login.", "Open Settings and turn off two-factor login.", unknown},
		{"To sign in, open the page and enter your email.", "To sign up, open the page and enter your email.", unknown},
		{"", "", unknown},
		{" \n", " \n", unknown},
		{"**", "", unknown},
	} {
		if got := SameAnswer(c.a, c.b); got != c.want {
			t.Errorf("%q, %q: %d, want %d", c.a, c.b, got, c.want)
		}
		if got := SameAnswer(c.b, c.a); got != c.want {
			t.Errorf("%q, %q: %d, want %d", c.b, c.a, got, c.want)
		}
	}
}
