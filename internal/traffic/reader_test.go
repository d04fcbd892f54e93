package traffic

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// turns describes a conversation: its turns as parent>text.
func turns(c Conversation) string {
	if c.Body != nil {
		return "body " + string(c.Body)
	}
	var b strings.Builder
	if c.System != "" {
		fmt.Fprintf(&b, "[%s] ", c.System)
	}
	for i, t := range c.Turns {
		if i > 0 {
			b.WriteString(" ")
		}
		fmt.Fprintf(&b, "%d>%s", t.Parent, t.Text)
	}
	return b.String()
}

// readAll returns a line per conversation, and a last one for an error that ended the reading.
func readAll(r *ConversationReader, err error) string {
	if err != nil {
		return "error: " + err.Error()
	}
	var b strings.Builder
	for {
		c, err := r.Next()
		if err == io.EOF {
			return b.String()
		}
		if err != nil {
			return b.String() + "error: " + err.Error() + "\n"
		}
		b.WriteString(turns(c) + "\n")
	}
}

func fromText(text string) (*ConversationReader, error) {
	return NewConversationReader("in.jsonl", io.NopCloser(strings.NewReader(text)), int64(len(text)))
}

const flatMessages = `{"idx":0,"tree":0,"parent_idx":null,"role":"prompter","text":"q"}
{"idx":1,"tree":0,"parent_idx":0,"role":"assistant","text":"a"}
{"idx":2,"tree":0,"parent_idx":1,"role":"prompter","text":"left"}
{"idx":3,"tree":0,"parent_idx":0,"role":"assistant","text":"b"}
{"idx":4,"tree":0,"parent_idx":3,"role":"prompter","text":"right"}
{"idx":5,"tree":1,"parent_idx":null,"role":"prompter","text":"other"}
`

const publishedMessages = `{"message_id":"m0","parent_id":null,"user_id":"u","text":"q","role":"prompter","lang":"en","message_tree_id":"x","tree_state":"ready_for_export"}
{"message_id":"m1","parent_id":"m0","text":"a","role":"assistant","message_tree_id":"x"}
{"message_id":"m2","parent_id":"m1","text":"left","role":"prompter","message_tree_id":"x"}
{"message_id":"m3","parent_id":"m0","text":"b","role":"assistant","message_tree_id":"x"}
{"message_id":"m4","parent_id":"m3","text":"right","role":"prompter","message_tree_id":"x"}
{"message_id":"m5","parent_id":null,"text":"other","role":"prompter","message_tree_id":"y"}
`

const tree = `{"message_tree_id":"x","prompt":{"role":"prompter","text":"q","replies":[` +
	`{"role":"assistant","text":"a","replies":[{"role":"prompter","text":"left","replies":[]}]},` +
	`{"role":"assistant","text":"b","replies":[{"role":"prompter","text":"right","replies":[]}]}]}}` + "\n"

func TestConversationFormats(t *testing.T) {
	for _, c := range []struct{ name, in, format, want string }{
		{"bodies", `{"model":"m","messages":[{"role":"user","content":"hi"}], "x":1}` + "\n", "chat requests",
			`body {"model":"m","messages":[{"role":"user","content":"hi"}], "x":1}` + "\n"},
		{"sgd", `{"id":"1","turns":[["U","a"],["S","b"],["U","c"],["U"," "]]}`, "SGD", "-1>a 0>c\n"},
		{"sharegpt", `{"conversations":[{"from":"system","value":"be brief"},{"from":"human","value":"a"},{"from":"gpt","value":"b"},{"from":"user","value":"c"}]}`,
			"ShareGPT", "[be brief] -1>a 0>c\n"},
		{"sharegpt as an array", ` [{"conversations":[{"from":"human","value":"a"}]},` + "\n" + `{"conversations":[{"from":"human","value":"b"}]}]`, "ShareGPT", "-1>a\n-1>b\n"},
		{"oasst messages", flatMessages, "OASST1 messages", "-1>q 0>left 0>right\n-1>other\n"},
		{"oasst as published", publishedMessages, "OASST1 published messages", "-1>q 0>left 0>right\n-1>other\n"},
		{"oasst trees", tree, "OASST1 trees", "-1>q 0>left 0>right\n"},
		{"blank lines and CRLF", "\r\n\n" + `{"turns":[["U","a"]]}` + "\r\n\r\n" + `{"turns":[["U","b"]]}`, "SGD", "-1>a\n-1>b\n"},
	} {
		r, err := fromText(c.in)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := readAll(r, nil); got != c.want || r.Title() != c.format {
			t.Errorf("%s: %s\n%s\nwant %s\n%s", c.name, r.Title(), got, c.format, c.want)
		}
		if read, total := r.Progress(); read != total {
			t.Errorf("%s: progress %d of %d at the end", c.name, read, total)
		}
		if n, err := r.Skipped(); n != 0 {
			t.Errorf("%s: %d skipped: %v", c.name, n, err)
		}
	}
}

// TestRecordFields: topics and lengths of the answers are read too.
func TestRecordFields(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"sgd", `{"services":["Travel","Hotels"],"turns":[["U","a"],["S","four"],["U","c"]]}`, "sgd Travel+Hotels 4 0"},
		{"sharegpt", `{"conversations":[{"from":"gpt","value":"early"},{"from":"human","value":"a"},{"from":"gpt","value":"five5"}]}`, "sharegpt  5"},
		{"oasst messages", flatMessages, "oasst 0 1 0 0"},
		{"oasst as published", publishedMessages, "oasst x 1 0 0"},
		{"oasst trees", tree, "oasst x 1 0 0"},
	} {
		r, err := fromText(c.in)
		if err != nil {
			t.Fatal(err)
		}
		talk, err := r.Next()
		got := string(r.Format()) + " " + talk.Topic
		for _, turn := range talk.Turns {
			got += fmt.Sprintf(" %d", len(turn.Answer))
		}
		if err != nil || got != c.want {
			t.Errorf("%s: got %q, %v; want %q", c.name, got, err, c.want)
		}
	}
}

func TestFirstRecordMustParse(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"empty", "", "read in.jsonl: no records in it"},
		{"blank", " \n\n", "read in.jsonl: no records in it"},
		{"empty array", "[]", "read in.jsonl: no records in it"},
		{"no JSON", "\nhello\n", "read in.jsonl: line 2: no known format: expected chat requests {"},
		{"other JSON", `{"id":1}`, "line 1: no known format"},
		{"a number", "1\n", "line 1: no known format"},
		{"array of others", `[1]`, "record 1: no known format"},
		{"array cut", `[{"turns":[["U","a"]]}`, "unexpected EOF"},
		{"nothing said", `{"turns":[["S","a"]]}`, `line 1: nothing that a user said; expected {"turns":`},
		{"turns of another shape", `{"turns":"x"}`, `line 1: not such JSON; expected {"turns":`},
		{"no messages", `{"messages":[]}`, "nothing that a user said"},
	} {
		got := readAll(fromText(c.in))
		if !strings.Contains(got, "error: ") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestLaterRecordsAreSkipped(t *testing.T) {
	r, err := fromText(`{"turns":[["U","a"]]}` + "\n" + `{"turns":[` + "\n" + `{"id":1}` + "\n" + `{"turns":[["U","b"]]}` + "\n")
	if got, want := readAll(r, err), "-1>a\n-1>b\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if n, err := r.Skipped(); n != 2 || err == nil || !strings.Contains(err.Error(), "in.jsonl: line 2: not such JSON") {
		t.Errorf("skipped %d: %v", n, err)
	}
}

func TestOrphan(t *testing.T) {
	for _, in := range []string{flatMessages + `{"idx":9,"tree":1,"parent_idx":77,"role":"prompter","text":"lost"}`,
		publishedMessages + `{"message_id":"m9","parent_id":"m2","text":"lost","role":"prompter","message_tree_id":"y"}`} {
		r, err := fromText(in + "\n")
		if got, want := readAll(r, err), "-1>q 0>left 0>right\n-1>other\n"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		if n, err := r.Skipped(); n != 1 || !errors.Is(err, errOrphan) {
			t.Errorf("skipped %d: %v", n, err)
		}
	}
}

// TestLongRecord: a line that is too long is skipped, and the next one is read.
func TestLongRecord(t *testing.T) {
	in := io.MultiReader(strings.NewReader(`{"turns":[["U","a"]]}`+"\n"), io.LimitReader(xs{}, maxLine+1), strings.NewReader("\n"+`{"turns":[["U","b"]]}`))
	r, err := NewConversationReader("in.jsonl", io.NopCloser(in), 0)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := readAll(r, err), "-1>a\n-1>b\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if n, err := r.Skipped(); n != 1 || !strings.Contains(err.Error(), "line 2: line of more than") {
		t.Errorf("skipped %d: %v", n, err)
	}
}

func TestConversationsGzip(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	for i := range 5000 {
		fmt.Fprintf(z, `{"turns":[["U","%d"]]}`+"\n", i*i)
	}
	z.Close()
	path := filepath.Join(t.TempDir(), "sgd") // the name does not decide the format
	open := func(b []byte) *ConversationReader {
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := OpenConversations(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { r.Close() })
		return r
	}
	r := open(packed.Bytes())
	if got := readAll(r, nil); strings.Count(got, "\n") != 5000 || strings.Contains(got, "error") {
		t.Errorf("%d lines", strings.Count(got, "\n"))
	}
	if read, total := r.Progress(); read != total || total != int64(packed.Len()) {
		t.Errorf("progress %d of %d, want %d", read, total, packed.Len())
	}
	if got := readAll(open(packed.Bytes()[:packed.Len()/2]), nil); !strings.Contains(got, "error: read "+path) || !strings.Contains(got, "unexpected EOF") {
		t.Errorf("a file cut short ends with %q", got[max(0, len(got)-200):])
	}
}

func TestOpenConversationsFails(t *testing.T) {
	dir := t.TempDir()
	bad := filepath.Join(dir, "bad.gz")
	if err := os.WriteFile(bad, []byte("\x1f\x8bnot gzip"), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{dir: "this is a folder: want a file", filepath.Join(dir, "none"): "no such file", bad: "read " + bad + ": unpack: "} {
		if _, err := OpenConversations(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("open %s: %v, want %q", path, err, want)
		}
	}
}

// FuzzConversations: for any content the reader ends, and every turn follows an earlier one.
func FuzzConversations(f *testing.F) {
	for _, s := range []string{flatMessages, tree, `{"messages":[1]}`, `{"turns":[["U","a"]]}` + "\n{", `[{"conversations":[{"from":"human","value":"a"}]},`, "\x1f\x8b\x08", "[", "  ["} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		r, err := NewConversationReader("in", io.NopCloser(bytes.NewReader(in)), 0)
		if err != nil {
			return
		}
		for range len(in) + 2 {
			c, err := r.Next()
			if err != nil {
				return
			}
			if (c.Body == nil) == (len(c.Turns) == 0) {
				t.Fatalf("neither body nor turns, or both: %+v", c)
			}
			for i, turn := range c.Turns {
				if turn.Parent >= i || turn.Parent < -1 {
					t.Fatalf("turn %d follows %d", i, turn.Parent)
				}
			}
		}
		t.Fatal("more conversations than bytes")
	})
}

// xs is an endless text of the letter x.
type xs struct{}

func (xs) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}
