package trace

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"reprise/cmd/internal/cli/clitest"
	"reprise/cmd/reprise-lab/sim"
)

// state describes requests: the fields that are set, labels as l1, l2, … in the order of their first use.
type state struct{ labels map[uint64]string }

func (s *state) label(b *strings.Builder, name string, n uint64) {
	if n == 0 {
		return
	}
	text := fmt.Sprint(n)
	if n&hashed != 0 {
		if s.labels[n] == "" {
			s.labels[n] = fmt.Sprintf("l%d", len(s.labels)+1)
		}
		text = s.labels[n]
	}
	fmt.Fprintf(b, " %s=%s", name, text)
}

func (s *state) request(r sim.Request) string {
	var b strings.Builder
	s.label(&b, "id", r.ID)
	s.label(&b, "topic", r.Topic)
	s.label(&b, "conversation", r.Conversation)
	s.label(&b, "parent", r.Parent)
	s.label(&b, "scope", r.Scope)
	for _, n := range []struct {
		name  string
		value float64
	}{{"at", r.At}, {"turn", float64(r.Turn)}, {"size", float64(r.Size)}, {"cost", r.Cost}} {
		if n.value != 0 {
			fmt.Fprintf(&b, " %s=%v", n.name, n.value)
		}
	}
	if r.Content != nil {
		fmt.Fprintf(&b, " %q", r.Content.Text)
		if r.Content.Vector != nil {
			fmt.Fprintf(&b, " %.2g", r.Content.Vector)
		}
	}
	return b.String()[1:]
}

// read returns a line per request, and a last one for an error that ended the trace.
func read(t testing.TB, path string, f Format) string {
	t.Helper()
	in, err := Open(path, f)
	if err != nil {
		return "open: " + strings.ReplaceAll(err.Error(), path, "IN")
	}
	var b strings.Builder
	s := state{map[uint64]string{}}
	for r, err := range in.Requests() {
		if err != nil {
			b.WriteString("error: " + strings.ReplaceAll(err.Error(), path, "IN") + "\n")
			continue
		}
		b.WriteString(s.request(r) + "\n")
	}
	return b.String()
}

// record is one of libCacheSim's.
func record(at uint32, id uint64, size uint32, next int64) []byte {
	b := binary.LittleEndian.AppendUint32(nil, at)
	b = binary.LittleEndian.AppendUint64(b, id)
	b = binary.LittleEndian.AppendUint32(b, size)
	return binary.LittleEndian.AppendUint64(b, uint64(next))
}

var oracle = string(bytes.Join([][]byte{record(3, 7, 100, 2), record(3, 0, 5, -1), record(9, 7, 100, 1<<63-1)}, nil))

var cases = []struct {
	name   string
	format Format // Auto must detect it too, unless the name begins with "!"
	in     string
	want   string
}{
	{"numbers", IDs, "5\n6\r\n\n  5 \n", "id=5\nid=6\nid=5\n"},
	{"names", IDs, "\ufeffalice\n18446744073709551615\n007\n0\nalice\n", "id=l1\nid=l2\nid=l3\nid=l4\nid=l1\n"},
	{"texts with commas", IDs, "Hello, what is this?\nHello, you, there\n", "id=l1\nid=l2\n"},
	{"record", Requests,
		`{"id":5,"at":1.5,"topic":"travel","conversation":7,"parent":4,"scope":"travel","turn":2,"size":10,"cost":2.5,"text":"hi","new":{}}` + "\n",
		"id=5 topic=l1 conversation=7 parent=4 scope=l1 at=1.5 turn=2 size=10 cost=2.5 \"hi\"\n"},
	{"labels", Requests, `{"id":"5"}` + "\n" + `{"id":5}` + "\n" + `{"id":"five","parent":null,"topic":0}`, "id=5\nid=5\nid=l1 topic=l2\n"},
	{"no id", Requests, `{"text":"hi"}` + "\n" + `{"text":"hi","topic":1}` + "\n" + `{"vector":[3,4]}`, "id=l1 \"hi\"\nid=l1 topic=1 \"hi\"\nid=l2 \"\" [0.6 0.8]\n"},
	{"base64", Requests, `{"vector":"AABAQAAAgEA="}`, "id=l1 \"\" [0.6 0.8]\n"},
	{"nothing", Requests, `{"id":1}` + "\n" + `{"topic":2}` + "\n" + `{"id":3}`, "id=1\nerror: line 2: want at least one of the fields id, text and vector\n"},
	{"types", Requests, "{\"id\":1}\n\n" + `{"id":1,"size":"big"}`, "id=1\nerror: line 3: field size: string: want a whole number of bytes from 0 to 1e12\n"},
	{"part of a byte", Requests, `{"id":1,"size":1.5}`, "error: line 1: field size: number 1.5: want a whole number of bytes from 0 to 1e12\n"},
	{"label of objects", Requests, `{"id":{}}`, "error: line 1: field id: object: want a string or a number\n"},
	{"label of a truth", Requests, `{"id":1,"parent":true}`, "error: line 1: field parent: bool: want a string or a number\n"},
	{"more than sums take", Requests, `{"id":1,"size":1000000000000,"cost":1e12}` + "\n" + `{"id":1,"cost":1e308}`,
		"id=1 size=1e+12 cost=1e+12\nerror: line 2: field cost: 1e+308: want a number of tokens from 0 to 1e12\n"},
	{"negative", Requests, `{"id":1,"cost":-1}`, "error: line 1: field cost: -1: want a number of tokens from 0 to 1e12\n"},
	{"turn", Requests, `{"id":1,"turn":-1}`, "error: line 1: field turn: -1: want a whole number, 0 or more\n"},
	{"no direction", Requests, `{"vector":[0,0]}`, "error: line 1: field vector: without a direction: want an array of numbers, or base64 of little-endian float32 numbers\n"},
	{"lengths", Requests, `{"vector":[1]}` + "\n" + `{"vector":[1,0]}`,
		"id=l1 \"\" [1]\nerror: line 2: field vector: 2 numbers, where others of the file have 1: want an array of numbers, or base64 of little-endian float32 numbers\n"},
	{"no base64", Requests, `{"vector":"??"}`, "error: line 1: field vector: string: want an array of numbers, or base64 of little-endian float32 numbers\n"},
	{"cut line", Requests, `{"id":1}` + "\n" + `{"id":`, "id=1\nerror: line 2: want one JSON object: unexpected end of JSON input\n"},
	{"!no object", Requests, `[1]`, "error: line 1: want a JSON object, not a JSON array\n"},
	{"records", OracleGeneral, oracle, "id=7 at=3 size=100\nid=l1 at=3 size=5\nid=7 at=9 size=100\n"},
	{"cut record", OracleGeneral, oracle[:60], "id=7 at=3 size=100\nid=l1 at=3 size=5\nerror: record 3: cut short: 12 of 24 bytes\n"},
}

func TestRead(t *testing.T) {
	for _, c := range cases {
		path := clitest.Write(t, "in", c.in)
		for _, f := range []Format{c.format, Auto} {
			if f == Auto && c.name[0] == '!' {
				continue
			}
			if got := read(t, path, f); got != c.want {
				t.Errorf("%s as %s: got\n%swant\n%s", c.name, f, got, c.want)
			}
		}
	}
}

func packGzip(in string) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write([]byte(in))
	z.Close()
	return b.Bytes()
}

func packZstd(in string) []byte {
	z, _ := zstd.NewWriter(nil)
	return z.EncodeAll([]byte(in), nil)
}

func TestReadPacked(t *testing.T) {
	for _, c := range cases {
		for name, pack := range map[string]func(string) []byte{"gzip": packGzip, "zstd": packZstd} {
			if got := read(t, clitest.Write(t, "in", string(pack(c.in))), c.format); got != c.want {
				t.Errorf("%s in %s: got\n%swant\n%s", c.name, name, got, c.want)
			}
		}
	}
}

// TestReadCut: requests before the cut are read, the one that is cut is not.
func TestReadCut(t *testing.T) {
	var ids strings.Builder
	for i := range 200_000 {
		fmt.Fprintln(&ids, i*7919%1_000_003)
	}
	for name, pack := range map[string]func(string) []byte{"gzip": packGzip, "zstd": packZstd} {
		whole := pack(ids.String())
		got := read(t, clitest.Write(t, "in", string(whole[:len(whole)/2])), Auto)
		all := strings.Split(strings.TrimSpace(got), "\n")
		n := len(all)
		if n < 1000 || all[n-1] != fmt.Sprintf("error: line %d: unpack: unexpected EOF", n) {
			t.Errorf("%s: %d lines, the last %q", name, n, all[n-1])
			continue
		}
		if want := fmt.Sprintf("id=%d", (n-2)*7919%1_000_003); all[n-2] != want {
			t.Errorf("%s: the last request is %s, want %s", name, all[n-2], want)
		}
	}
}

// TestLongLine: nor is a line without an end.
func TestLongLine(t *testing.T) {
	err := parseIDs(bufio.NewReader(io.LimitReader(xs{}, 128<<20)), func(sim.Request) bool { return true })
	if want := "line 1: more than 67108864 bytes"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

type xs struct{}

func (xs) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

func TestReadAgain(t *testing.T) {
	in, err := Open(clitest.Write(t, "in", "5\n6\n7\n"), Auto)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		n := 0
		for range in.Requests() {
			if n++; n == 2 {
				break // a reading may stop early
			}
		}
	}
	if got := read(t, in.Name(), IDs); got != "id=5\nid=6\nid=7\n" {
		t.Errorf("got %s", got)
	}
}

// TestDetectWantsTimesInOrder: records whose times decrease are not libCacheSim's.
func TestDetectWantsTimesInOrder(t *testing.T) {
	for _, second := range []uint32{8, 9, 10} {
		f, ok := detect(append(record(9, 1, 1, -1), record(second, 1, 1, -1)...))
		if want := second >= 9; ok != want || f != OracleGeneral {
			t.Errorf("9, then %d: %s, %v; want %v", second, f, ok, want)
		}
	}
}

func TestOpenFails(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		in   string
		f    Format
		want string
	}{
		{"", Auto, "open: read IN: no requests in it"},
		{" \n", Auto, "open: read IN: no requests in it"},
		{"[1]", Auto, "open: read IN: no known format: want one of ids, requests, oasst, sgd, sharegpt, oracle-general"},
		{"\x00\x01\x02", Auto, "open: read IN: no known format: want one of ids, requests, oasst, sgd, sharegpt, oracle-general"},
		{"\x1f\x8b\x08", Auto, "open: read IN: unpack: unexpected EOF"},
		{"[]", Auto, "open: read IN: no records in it"},
		{"[{", Auto, "open: read IN: record 1: unexpected EOF"},
		{`{"messages":[{"role":"user","content":"hi"}]}`, Auto, "open: read IN: these are chat requests"},
		{`{"turns":[["U","a"]]}`, ShareGPT, "open: read IN: these are SGD, not sharegpt"},
		{"The quick brown fox jumps\nover the lazy dog of mine.\nshort\n", Auto, "error: " + errProse.Error() + "\n"},
		{"What is the capital of France?\n", IDs, "error: " + errProse.Error() + "\n"},
		{"a,b,c\nd,e,f\n", Auto, "error: " + errRows.Error() + "\n"},
		{"1,2\n3,4\n", IDs, "error: " + errRows.Error() + "\n"},
		{"a,b\n7\n", IDs, "id=l1\nid=7\n"},
		{"GET /a\nGET /b,c\nGET /d\n", Auto, "id=l1\nid=l2\nid=l3\n"},
		{"5\n", "id", `open: format "id": want one of auto, ids, requests, oasst, sgd, sharegpt, oracle-general`},
	} {
		if got := read(t, clitest.Write(t, "in", c.in), c.f); got != c.want {
			t.Errorf("%q as %s: got %q, want %q", c.in, c.f, got, c.want)
		}
	}
	if _, err := Open(dir, IDs); err == nil || !strings.Contains(err.Error(), "this is a folder") {
		t.Errorf("a folder: %v", err)
	}
	if _, err := Open(filepath.Join(dir, "none"), IDs); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}
