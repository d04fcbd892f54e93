package files

import (
	"strings"
	"testing"

	"reprise/cmd/internal/cli/clitest"
)

// TestRecutText: blocks that are joined are those of a text that is cut into larger ones at once.
func TestRecutText(t *testing.T) {
	for _, format := range []Format{AgentText, ShareGPT, OASST} {
		small, err := Open(clitest.Write(t, "sample", samples[format]), format, Options{Tokens: 2})
		if err != nil {
			t.Fatal(err)
		}
		for _, tokens := range []int{2, 4, 10, 32} {
			want, err := Open(clitest.Write(t, "sample", samples[format]), format, Options{Tokens: tokens})
			if err != nil {
				t.Fatal(err)
			}
			got, err := Recut(small, tokens)
			if err != nil || describe(got) != describe(want) || got.Distinct != want.Distinct || got.Tokens != tokens {
				t.Errorf("%s in blocks of %d: %v\n got %s\nwant %s", format, tokens, err, describe(got), describe(want))
			}
		}
	}
}

// TestRecutPartial: a last block that is not full stays one, in blocks of any size.
func TestRecutPartial(t *testing.T) {
	const text = `{"format":"blocks","block_size":16}
{"at":0,"prompt":40,"blocks":[1,2,3],"session":1}
{"at":1,"prompt":80,"blocks":[1,2,4,5,6],"session":1,"turn":2,"after":1}
{"at":2,"prompt":33,"answer":31,"blocks":[1,2],"filled":[4,5]}
`
	for tokens, want := range map[int][]string{
		16: {"[0 1 2][]", "[0 1 3 4 5][]", "[0 1][3 4]"},
		32: {"[0 1][]", "[0 2][]", "[0][2]"},
		64: {"[0][]", "[1][]", "[][1]"},
		8:  {"[0 1 2 3 4][]", "[0 1 2 3 5 6 7 8 9 10][]", "[0 1 2 3][5 6 7 8]"},
	} {
		tr, err := Read(strings.NewReader(text), Blocks, Options{Tokens: tokens})
		if err != nil {
			t.Fatal(err)
		}
		checkTrace(t, tr)
		lines := strings.Split(describe(tr), "\n")
		for i, part := range want {
			if !strings.Contains(lines[i], " "+part+" ") {
				t.Errorf("blocks of %d, request %d: %s, want %s", tokens, i+1, lines[i], part)
			}
		}
	}
}

func TestRecutErrors(t *testing.T) {
	tr, err := Read(strings.NewReader(samples[Mooncake]), Mooncake, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, tokens := range []int{0, -1, 48, 700} {
		if _, err := Recut(tr, tokens); err == nil {
			t.Errorf("cut into blocks of %d", tokens)
		}
	}
	tr.Distinct = MostDistinct / 2
	if _, err := Recut(tr, 64); err == nil || !strings.Contains(err.Error(), "different blocks: want") {
		t.Error(err)
	}
}
