package files

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reprise/cmd/internal/cli/clitest"
)

func TestReadErrors(t *testing.T) {
	const (
		head    = `{"format":"blocks","block_size":16}` + "\n"
		compact = `{"format":"blocks","block_size":16,"distinct":3}` + "\n"
		call    = `{"timestamp":1,"input":"x","session_id":"a"}` + "\n"
		rows    = ArrivalHeader + "\n"
	)
	for _, c := range []struct {
		format     Format
		text, want string
	}{
		{Mooncake, "", "no requests in it"},
		{Mooncake, "\n\n", "no requests in it"},
		{Mooncake, "x", "line 1: want a record as JSON"},
		{Mooncake, `{"hash_ids":[1],"input_length":5}`, "line 1: want the field timestamp in milliseconds"},
		{Mooncake, `{"timestamp":"0"}`, "line 1: field timestamp: string: want a number"},
		{Mooncake, `{"timestamp":-1,"input_length":5,"hash_ids":[1]}`, "field timestamp: -0.001: want 0 to"},
		{Mooncake, `{"timestamp":0,"input_length":5.5}`, "field input_length: number 5.5: want a whole number"},
		{Mooncake, `{"timestamp":0,"input_length":-5}`, "field input_length: -5: want 1 to 16777216 tokens"},
		{Mooncake, `{"timestamp":0,"input_length":1e12}`, "field input_length: number 1e12"},
		{Mooncake, `{"timestamp":0,"input_length":1000000000000}`, "field input_length: 1000000000000: want 1 to"},
		{Mooncake, `{"timestamp":0,"input_length":5,"output_length":-1,"hash_ids":[1]}`, "field output_length: -1: want 0 to"},
		{Mooncake, `{"timestamp":0,"input_length":513,"hash_ids":[1]}`, "field hash_ids: 1 numbers: want 2 for 513 tokens in blocks of 512"},
		{Mooncake, `{"timestamp":0,"input_length":5,"hash_ids":[-1]}`, "field hash_ids: number -1: want a whole number from 0"},
		{Mooncake, `{"timestamp":0,"input_length":5,"hash_ids":3}`, "field hash_ids: number: want a list"},
		{Mooncake, samples[Mooncake] + "\n\n{", "line 7: want a record"},
		{Mooncake, "\x1f\x8b\x08", "unpack"},
		{Sessions, `{"requests":[]}`, "field block_size: 0: want 1 to 4096 tokens"},
		{Sessions, `{"block_size":64,"requests":[]}`, "no requests in it"},
		{Sessions, samples[Sessions] + `{"block_size":128,"requests":[]}`, "line 3: field block_size: 128: want 64, as in the lines before"},
		{Sessions, `{"block_size":64,"requests":[{"in":5,"hash_rle":[[1,0]]}]}`, "line 1: request 0: field hash_rle: a run of 0: want 1 to"},
		{Sessions, `{"block_size":64,"requests":[{"in":5,"hash_rle":[[1,1000000000000]]}]}`, "a run of 1000000000000: want 1 to"},
		{Sessions, `{"block_size":64,"requests":[{"in":5,"hash_rle":[[-1,1]]}]}`, "a run from -1: want 0 to"},
		{Sessions, `{"block_size":64,"requests":[{"in":5,"hash_rle":[[9000000000,1]]}]}`, "a run from 9000000000: want 0 to"},
		{Sessions, `{"block_size":64,"requests":[{"in":130,"hash_rle":[[1,4]]}]}`, "field hash_rle: 4 blocks: want 2 or 3 for 130 tokens in blocks of 64"},
		{Sessions, `{"block_size":64,"requests":[{"in":128,"hash_rle":[[1,1]]}]}`, "field hash_rle: 1 blocks: want 2 for 128 tokens"},
		{Sessions, `{"block_size":1,"requests":[{"in":9000000,"hash_rle":[` + strings.Repeat(`[1,1000000],`, 8) + `[1,1000000]]}]}`, "want 1048576 for 9000000 tokens"},
		{Sessions, `{"block_size":64,"requests":[{"t":5,"in":5,"hash_rle":[[1,1]]},{"t":4,"in":5,"hash_rle":[[1,1]]}]}`, "request 1: field t: 4: want 5 to"},
		{Sessions, `{"block_size":64,"requests":[{"in":5,"think_time":-1,"hash_rle":[[1,1]]}]}`, "field think_time: -1: want 0 to"},
		{AgentText, `{"input":1,"session_id":"x"}`, "line 1: field input: number: want a string"},
		{AgentText, `{"input":"x","session_id":null}`, "want the fields input and session_id"},
		{AgentText, strings.Replace(call, ":1,", ":-1,", 1), "field timestamp: -1e-06"},
		{Chat, `{"model":"m"}`, "line 1: want a field messages, a list that is not empty"},
		{Chat, `{"messages":{}}`, "line 1: field messages: object: want a list"},
		{Chat, `{"messages":[{"role":"user","content":"x"},7]}`, "line 1: field messages[1]: want an object with role and content"},
		{Azure, rows, "no requests in it"},
		{Azure, "1,2,3\n", "want TIMESTAMP,"},
		{Azure, rows + "1,2\n", "line 2: 2 columns"},
		{Azure, rows + "now,2,3\n", "column TIMESTAMP"},
		{Azure, rows + "2023-11-16 18:17:04,x,3\n", "column ContextTokens"},
		{Azure, rows + "2023-11-16 18:17:04,0,3\n", "field ContextTokens: 0"},
		{Azure, rows + "2023-11-16 18:17:04,3,-3\n", "field GeneratedTokens: -3"},
		{Blocks, `{"at":1,"prompt":5}`, "line 1: field format"},
		{Blocks, `{"format":"blocks","block_size":-1}`, "field block_size: -1"},
		{Blocks, `{"format":"blocks","block_size":16,"distinct":1000000000000}`, "field distinct: 1000000000000"},
		{Blocks, `{"format":"blocks","block_size":16,"kinds":["` + strings.Repeat(`a","`, 3) + `b",1]}`, "field kinds"},
		{Blocks, head, "no requests in it"},
		{Blocks, head + `{"prompt":5}`, "line 2: want the field at"},
		{Blocks, head + `{"at":1,"prompt":0}`, "field prompt: 0"},
		{Blocks, head + `{"at":1e300,"prompt":1}`, "field at: 1e+300"},
		{Blocks, head + `{"at":1,"prompt":1,"after":1}`, "field after: 1: want the number of an earlier request, below 1, or 0"},
		{Blocks, head + `{"at":1,"prompt":1,"after":-1}`, "field after: -1"},
		{Blocks, head + `{"at":1,"prompt":1}` + "\n" + `{"at":0,"prompt":1,"after":1}`, "line 3: time 0 s: want 1 s or later"},
		{Blocks, head + `{"at":1,"prompt":1,"runs":[[0,1000000000000]]}`, "field runs: a run of 1000000000000: want 1 to"},
		{Blocks, head + `{"at":1,"prompt":1,"runs":[[0,1048576],[0,1]]}`, "want at most 1048576 blocks"},
		{Blocks, head + `{"at":1,"prompt":1,"runs":[[18446744073709551615,2]]}`, "want numbers of 64 bits"},
		{Blocks, head + `{"at":1,"prompt":1,"runs":[[0,1]],"blocks":[1]}`, "want one of them"},
		{Blocks, head + `{"at":1,"prompt":33,"blocks":[1,2,3,4]}`, "line 2: fields blocks and runs: 4 blocks: want at most 3 for 33 tokens in blocks of 16, the block_size of the first line"},
		{Blocks, head + `{"at":1,"prompt":33,"runs":[[1,2],[5,2]]}`, "4 blocks: want at most 3"},
		{Blocks, head + `{"at":1,"prompt":1,"prob":1}`, "field prob: 1"},
		{Blocks, head + `{"at":1,"prompt":1,"turn":-1}`, "field turn: -1"},
		{Blocks, head + `{"at":1,"prompt":1,"session":-1}`, "field session: number -1: want a whole number from 0 to 4294967295"},
		{Blocks, compact + `{"at":1,"prompt":1,"blocks":[3]}`, "line 2: block 3: want less than 3"},
		{Blocks, compact + `{"at":1,"prompt":32,"blocks":[1,2]}` + "\n" + `{"at":1,"prompt":1,"blocks":[2]}`, "line 3: block 2: want it after the same blocks"},
		{Blocks, head + `{"at":1,"prompt":1,"kind":"\u001b[31m"}`, `line 2: type "\x1b[31m": want at most 64 characters, all of which can be printed`},
		{Blocks, head + `{"at":1,"prompt":1,"kind":"\u202egnp"}`, `type "\u202egnp": want at most 64`},
		{Blocks, head + `{"at":1,"prompt":1,"kind":"` + strings.Repeat("x", 65) + `"}`, "want at most 64 characters"},
		{ShareGPT, "", "of a stream: want one of blocks, mooncake"},
		{"x", "", `format "x"`},
	} {
		if _, err := Read(strings.NewReader(c.text), c.format, Options{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %.80q: %v, want %q", c.format, c.text, err, c.want)
		}
	}
}

func TestOpenErrors(t *testing.T) {
	for _, c := range []struct {
		format     Format
		options    Options
		text, want string
	}{
		{"x", Options{}, "", `format "x": want one of auto, blocks, mooncake`},
		{Auto, Options{}, "", "no requests in it"},
		{Auto, Options{}, "hello", "want one of blocks, mooncake"},
		{Auto, Options{}, `{"id":1}`, "want one of blocks"},
		{Auto, Options{}, `{"format":"blocks","block_size":0}`, "line 1: field block_size: 0"},
		{Mooncake, Options{}, "{", "line 1"},
		{Mooncake, Options{Tokens: 48}, samples[Mooncake], "block size 48: want a multiple or a divisor of 512"},
		{Mooncake, Options{Tokens: -1}, samples[Mooncake], "block size -1: want 1 to 4096"},
		{SGD, Options{Think: -1}, samples[SGD], "think time -1"},
		{SGD, Options{Active: -1}, samples[SGD], "active conversations -1"},
		{Azure, Options{Continues: 1}, samples[Azure], "share of continuations 1"},
		{SGD, Options{}, samples[ShareGPT], "these are conversations of format sharegpt: want sgd"},
		{SGD, Options{}, samples[Mooncake], "no known format"},
		{SGD, Options{Tokens: 1}, `{"turns":[["U","` + strings.Repeat("x", 5<<20) + `"]]}`, "conversation 1: turn 1: a prompt of 5242880 bytes: want at most 4194304 in blocks of 1 tokens"},
		{AgentText, Options{Tokens: 1}, `{"session_id":"a","input":"` + strings.Repeat("x", 5<<20) + `"}`, "line 1: field input: a prompt of 5242880 bytes"},
	} {
		path := clitest.Write(t, "sample", c.text)
		_, err := Open(path, c.format, c.options)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "sample") {
			t.Errorf("%s %.60q: %v, want %q", c.format, c.text, err, c.want)
		}
	}
	for _, path := range []string{filepath.Join(t.TempDir(), "none"), t.TempDir()} {
		for _, f := range Formats() {
			if _, err := Open(path, f, Options{}); err == nil || !strings.Contains(err.Error(), path) {
				t.Errorf("%s of %s: %v", f, path, err)
			}
		}
	}
}

// TestMostKinds: a file that names a type for each request ends with an error.
func TestMostKinds(t *testing.T) {
	text := `{"format":"blocks","block_size":16}`
	for i := range MostKinds + 1 {
		text += "\n" + fmt.Sprintf(`{"at":1,"prompt":1,"kind":"k%d"}`, i)
	}
	if _, err := Read(strings.NewReader(text), Blocks, Options{}); err == nil || !strings.Contains(err.Error(), "line 258: type") {
		t.Error(err)
	}
}

// TestTruncated: the error of a packed file that ends too early is that, and not one of the record in which it ends.
func TestTruncated(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	for i := range 3000 {
		fmt.Fprintf(z, `{"timestamp": %d, "input_length": 600, "output_length": %d, "hash_ids": [%d, 1]}`+"\n", i, i*i%997, i*i*7%991)
	}
	z.Close()
	for cut := packed.Len() / 2; cut < packed.Len()/2+40; cut++ {
		if _, err := Read(bytes.NewReader(packed.Bytes()[:cut]), Mooncake, Options{}); err == nil || !strings.Contains(err.Error(), "unpack: unexpected EOF") {
			t.Fatalf("after %d bytes: %v", cut, err)
		}
	}
}

// TestDetectNeedsAFile: what can be read once is not read to detect its format, because the reader would wait for it for ever.
func TestDetectNeedsAFile(t *testing.T) {
	if _, err := Open(os.DevNull, Auto, Options{}); err == nil || !strings.Contains(err.Error(), "no regular file") {
		t.Error(err)
	}
	if _, err := Open(os.DevNull, Mooncake, Options{}); err == nil || !strings.Contains(err.Error(), "no requests in it") {
		t.Error(err)
	}
}

// TestNameIsPrintable: the name of a file cannot change the terminal or the direction of the text in which tables have it.
func TestNameIsPrintable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a\x1b[31m\u202eb é.jsonl")
	if err := os.WriteFile(path, []byte(samples[Mooncake]), 0o600); err != nil {
		t.Skipf("no such name on this file system: %v", err)
	}
	tr, err := Open(path, Auto, Options{})
	if err != nil || tr.Name != "a\ufffd[31m\ufffdb é.jsonl" {
		t.Errorf("%+v, %v", tr, err)
	}
}
