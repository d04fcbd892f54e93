package reuse

import "testing"

// TestPersons: found by sending labelled utterances to the proxy one after the other; each pair is near for an embedder
// that gives function words little weight.
func TestPersons(t *testing.T) {
	for _, tc := range []struct {
		a, b string
		want Veto
	}{
		{"call bob for me", "please call me bob", Word},
		{"call jim", "please call me jim", Word},
		{"call sarah", "you can call me sarah", Word},
		{"do you have a name", "do i have a name to you", Word},
		{"can i call you something else", "can i have you call me something else", Word},
		{"set an alarm", "set off this alarm", Word},
		{"put my workout playlist on", "put this in my workout playlist", Word},
		{"turn the light on please", "turn on the light please", Pass},
		{"what's the status on my days", "what's the status of my days", Word},
		{"turn the page", "turn over the page", Word},
		{"can you translate that to french", "translate hello to french", Word},
		{"how can i send money to another account", "send money to another account", Question},
		{"how do i turn on the light", "turn on the light", Question},

		{"how long do 5 MB take", "how long do 5 Mb take", Number},
		{"how long does a MB take", "how long does a Mb take", Word},
		{"is WHO right", "is who right", Question},

		{"how long do 5 MB take", "how long do 5 megabytes take", Pass},
		{"how long do 5mb take", "how long do 5 MB take", Pass},
		{"translate hello into french", "translate hello in french", Word},
		{"translate goodbye to french", "translate thanks to french", Word},
		{"how do you say thank you in german", "how do you say, thank you in german", Word},
		{"my card fell in the toilet", "my card fell into the toilet", Word},
		{"find cheap flights in paris", "find cheap flights to paris", Antonym},
		{"could you tell me the time", "tell me the time", Pass},
		{"please set a reminder for me", "set a reminder", Pass},
		{"would you please confirm that", "please confirm that", Pass},
		{"hello, what is the capital of france", "what is the capital of france", Pass},
		{"how do I reset my password", "how to reset my password", Pass},
		{"how do I reset my password", "explain how to reset my password", Pass},
		{"how do I reset my password", "help me reset my password", Pass},
		{"i want to move money from one account to another", "move money from one account to another", Pass},
	} {
		for _, p := range [][2]string{{tc.a, tc.b}, {tc.b, tc.a}} {
			if got := vetoOf(p[0], p[1]); (got == Pass) != (tc.want == Pass) {
				t.Errorf("%q, %q: %q, want %q", p[0], p[1], got, tc.want)
			}
		}
	}
}
