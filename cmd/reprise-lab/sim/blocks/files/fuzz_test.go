package files

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reprise/cmd/reprise-lab/sim/blocks"
)

// checkTrace: the trace is one of its kind, each number follows only one other, and what Write makes of it is read as the same.
func checkTrace(t *testing.T, tr *blocks.Trace) {
	t.Helper()
	if err := tr.Check(); err != nil {
		t.Fatal(err)
	}
	parents := map[uint32]int{}
	for i := range tr.Requests {
		parent := -1
		for _, b := range append(tr.Requests[i].Blocks[:len(tr.Requests[i].Blocks):len(tr.Requests[i].Blocks)], tr.Requests[i].Filled...) {
			if before, ok := parents[b]; ok && before != parent {
				t.Fatalf("block %d follows %d and %d", b, before, parent)
			}
			parents[b] = parent
			parent = int(b)
		}
	}
	var out bytes.Buffer
	if err := Write(&out, tr); err != nil {
		t.Fatal(err)
	}
	again, err := Read(&out, Blocks, Options{})
	if err != nil || describe(again) != describe(tr) {
		t.Fatalf("written and read: %v", err)
	}
}

func fuzzFormat(f *testing.F, format Format) {
	f.Add(samples[format])
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<14 {
			return
		}
		tr, err := Read(strings.NewReader(text), format, Options{Unended: true})
		if err != nil {
			return
		}
		total := 0
		for i := range tr.Requests {
			total += len(tr.Requests[i].Blocks) + len(tr.Requests[i].Filled)
		}
		if total < 1<<18 {
			checkTrace(t, tr)
			checkRecut(t, tr)
		}
	})
}

// checkRecut: in blocks of another size the requests are the same, and their chains are those of a trace.
func checkRecut(t *testing.T, tr *blocks.Trace) {
	for _, tokens := range []int{2 * tr.Tokens, 3 * tr.Tokens, tr.Tokens / 2} {
		got, err := Recut(tr, tokens)
		if tokens == 0 || 2*tokens < tr.Tokens || tokens > mostBlock {
			continue
		}
		if err != nil || len(got.Requests) != len(tr.Requests) {
			t.Fatalf("in blocks of %d instead of %d: %v", tokens, tr.Tokens, err)
		}
		checkTrace(t, got)
	}
}

func FuzzBlocks(f *testing.F)    { fuzzFormat(f, Blocks) }
func FuzzMooncake(f *testing.F)  { fuzzFormat(f, Mooncake) }
func FuzzSessions(f *testing.F)  { fuzzFormat(f, Sessions) }
func FuzzAgentText(f *testing.F) { fuzzFormat(f, AgentText) }
func FuzzChat(f *testing.F)      { fuzzFormat(f, Chat) }
func FuzzAzure(f *testing.F)     { fuzzFormat(f, Azure) }

func FuzzConversations(f *testing.F) {
	for _, format := range []Format{ShareGPT, OASST, SGD} {
		f.Add(samples[format])
	}
	f.Fuzz(func(t *testing.T, text string) {
		path := filepath.Join(t.TempDir(), "in")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, format := range []Format{ShareGPT, OASST, SGD} {
			if tr, err := Open(path, format, Options{Tokens: 1}); err == nil {
				checkTrace(t, tr)
			}
		}
	})
}

// FuzzDetectLine: a format that is detected by one line has a parser of lines.
func FuzzDetectLine(f *testing.F) {
	for _, text := range samples {
		line, _, _ := strings.Cut(text, "\n")
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		if format, ok := DetectLine([]byte(line)); ok && newBuilder(Options{}).parser(format) == nil {
			t.Fatalf("detects %q", format)
		}
	})
}
