package trace

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"reprise/cmd/internal/cli/clitest"
	"reprise/cmd/reprise-lab/sim"
)

// requestLines describes the requests of a trace: identities as letters in the order of their first appearance.
func requestLines(t *testing.T, in sim.Trace) string {
	t.Helper()
	letters := map[uint64]string{0: "-"}
	letter := func(n uint64) string {
		if letters[n] == "" {
			letters[n] = string(rune('a' + len(letters) - 1))
		}
		return letters[n]
	}
	var b strings.Builder
	for r, err := range in.Requests() {
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s<%s c%d t%d %d/%v %s\n", letter(r.ID), letter(r.Parent), r.Conversation, r.Turn, r.Size, r.Cost, r.Content.Text)
	}
	return b.String()
}

func TestConversationTrace(t *testing.T) {
	const dialogues = `{"services":["Travel"],"turns":[["U","hi"],["S","12345678"],["U","go on"],["S","1234"]]}
{"services":["Hotels"],"turns":[["U","go on"],["U","hi"],["U","hi"]]}
{"services":["Hotels"],"turns":[["U","hi"],["U","go on"]]}
`
	const branches = `{"idx":0,"tree":7,"parent_idx":null,"role":"prompter","text":"q"}
{"idx":1,"tree":7,"parent_idx":0,"role":"assistant","text":"answer"}
{"idx":2,"tree":7,"parent_idx":1,"role":"prompter","text":"left"}
{"idx":3,"tree":7,"parent_idx":1,"role":"prompter","text":"right"}
`
	for _, c := range []struct {
		format   Format
		in, want string
	}{
		{SGD, dialogues, `a<- c1 t0 8/2 hi
b<a c1 t1 4/1 go on
c<- c2 t0 5/0 go on
d<c c2 t1 2/0 hi
e<d c2 t2 2/0 hi
a<- c3 t0 2/0 hi
b<a c3 t1 5/0 go on
`},
		{OASST, branches, "a<- c1 t0 6/1 q\nb<a c1 t1 4/0 left\nc<a c1 t1 5/0 right\n"},
		{ShareGPT, `[{"conversations":[{"from":"human","value":"q"},{"from":"gpt","value":"four"}]}]`, "a<- c1 t0 4/1 q\n"},
	} {
		for _, format := range []Format{c.format, Auto} {
			in, err := Open(clitest.Write(t, "in", c.in), format)
			if err != nil {
				t.Fatalf("%s as %s: %v", c.format, format, err)
			}
			for range 2 {
				if got := requestLines(t, in); got != c.want {
					t.Errorf("%s as %s: got\n%swant\n%s", c.format, format, got, c.want)
				}
			}
		}
	}
}

func TestConversationTopics(t *testing.T) {
	in, err := Open(clitest.Write(t, "in", `{"services":["Travel"],"turns":[["U","a"]]}`+"\n"+`{"turns":[["U","b"]]}`), Auto)
	if err != nil {
		t.Fatal(err)
	}
	var got []uint64
	for r := range in.Requests() {
		got = append(got, r.Topic)
	}
	if want := []uint64{Identity("Travel"), 0}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestConversationTraceSkips(t *testing.T) {
	in, err := Open(clitest.Write(t, "in", `{"turns":[["U","a"]]}`+"\n"+`{"turns":`), Auto)
	if err != nil {
		t.Fatal(err)
	}
	requestLines(t, in)
	if n, first := in.(*conversations).Skipped(); n != 1 || first == nil || !strings.Contains(first.Error(), "line 2") {
		t.Errorf("skipped %d: %v", n, first)
	}
}
