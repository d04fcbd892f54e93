package fleet

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"reprise/proxy/upstream/prefix"
)

// samples are small files of each format.
var samples = map[string]string{
	"calls": `{"timestamp": 3000000, "input": "` + strings.Repeat("one two ", 60) + `", "output": "three", "session_id": "b"}
{"timestamp": 1000000, "input": "` + strings.Repeat("one two ", 40) + `", "output": "", "session_id": "a"}
{"timestamp": 2500000, "input": "` + strings.Repeat("one two ", 40) + strings.Repeat("four ", 90) + `", "output": "five six", "session_id": "a"}
`,
	"sessions": `{"id":"x","block_size":64,"tool_tokens":100,"system_tokens":28,"requests":[{"t":5,"in":200,"out":7,"hash_rle":[[1,3]]},{"t":6,"type":"subagent"},{"t":9.5,"in":330,"out":0,"hash_rle":[[1,3],[9,2]]}]}
{"id":"y","block_size":64,"requests":[{"t":0,"in":200,"out":7,"hash_rle":[[1,3]]}]}
`,
	"blocks": `{"timestamp": 2000, "input_length": 1000, "output_length": 500, "hash_ids": [0, 1]}
{"timestamp": 3500, "input_length": 1500, "output_length": 0, "hash_ids": [0, 2, 3]}
`,
	"arrivals": "TIMESTAMP,ContextTokens,GeneratedTokens\r\n2023-11-16 18:17:03.9799600,4808,10\r\n2023-11-16 18:17:04.0319600,100,8\r\n",
}

func TestFormats(t *testing.T) {
	type request struct {
		at                             float64
		after, prompt, answer          int
		blocks, chain, common, opening int // of blocks of 16 tokens, those of the proxy, those common with the first request; places of equal openings
	}
	for name, want := range map[string][]request{
		"calls":    {{1, none, 81, 1, 5, 1, 5, 0}, {1.5, 0, 171, 2, 10, 3, 5, 0}, {3, none, 121, 1, 7, 1, 5, 2}},
		"sessions": {{0, none, 200, 7, 12, 3, 12, 0}, {4.5, 0, 330, 1, 20, 5, 12, 0}, {1, none, 200, 7, 12, 3, 0, 2}},
		"blocks":   {{0, none, 1000, 500, 62, 15, 62, 0}, {1.5, none, 1500, 1, 93, 23, 32, 1}},
		"arrivals": {{0, none, 4808, 10, 300, 75, 300, 0}, {0.052, none, 100, 8, 6, 1, 0, 1}},
	} {
		tr, err := read(strings.NewReader(samples[name]))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got []request
		var first []uint64
		var openings []prefix.Block
		for i := range tr.Requests {
			r := &tr.Requests[i]
			blocks := r.content.blocks(nil, 16)
			if i == 0 {
				first = blocks
			}
			common := 0
			for common < min(len(first), len(blocks)) && first[common] == blocks[common] {
				common++
			}
			var c prefix.Chain
			r.content.chain(&c)
			openings = append(openings, c.Opening)
			at := float64(int64(r.At*1e6+0.5)) / 1e6
			got = append(got, request{at, r.After, r.Prompt, r.Answer, len(blocks), len(c.Blocks), common, slices.Index(openings, c.Opening)})
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s:\n got %v\nwant %v", name, got, want)
		}
	}
}

func TestReadErrors(t *testing.T) {
	for _, tc := range []struct{ text, want string }{
		{"", "formats"},
		{"\n\n", "formats"},
		{"hello", "formats"},
		{`{"id":1}`, "formats"},
		{`{"input":1,"session_id":"x"}`, "line 1: "},
		{`{"input":"x","session_id":null}`, "line 1: want the fields input and session_id"},
		{samples["calls"] + "{", "line 4: "},
		{`{"hash_ids":[1],"input_length":5}`, "field timestamp"},
		{`{"timestamp":0,"hash_ids":[1],"input_length":513}`, "field hash_ids: 1 numbers: want 2"},
		{`{"timestamp":0,"hash_ids":[],"input_length":0}`, "field input_length: 0: want 1 to"},
		{`{"timestamp":0,"hash_ids":[1],"input_length":5,"output_length":-1}`, "field output_length: -1"},
		{`{"block_size":48,"requests":[{"hash_rle":[]}]}`, "field block_size: 48"},
		{samples["sessions"] + `{"block_size":128,"requests":[]}`, "line 3: field block_size"},
		{`{"block_size":64,"requests":[{"in":5,"hash_rle":[[1,0]]}]}`, "request 0: field hash_rle: a run of 0"},
		{`{"block_size":64,"requests":[{"in":99999999,"hash_rle":[[1,1]]}]}`, "request 0: field in: 99999999"},
		{`{"block_size":64,"requests":[{"hash_rle":[]}]}`, "no requests"},
		{"TIMESTAMP,ContextTokens,GeneratedTokens\n", "no requests"},
		{"TIMESTAMP,ContextTokens,GeneratedTokens\n1,2\n", "line 2: 2 columns"},
		{"TIMESTAMP,ContextTokens,GeneratedTokens\nnow,2,3\n", "column TIMESTAMP"},
		{"TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:04,x,3\n", "column ContextTokens"},
		{"TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:04,0,3\n", "field ContextTokens: 0"},
		{"\x1f\x8b\x08", "unpack"},
	} {
		if _, err := read(strings.NewReader(tc.text)); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%.60q: %v, want %q", tc.text, err, tc.want)
		}
	}
}

// TestCopies: copies share what all sessions share, and go on within themselves.
func TestCopies(t *testing.T) {
	tr, err := read(strings.NewReader(samples["calls"]))
	if err != nil {
		t.Fatal(err)
	}
	two, err := tr.Copies(2)
	if err != nil || len(two.Requests) != 6 || two.Requests[4].After != 3 || two.Requests[3].Next != 4 {
		t.Fatalf("%v, %+v", err, two.Requests)
	}
	first, copied, next := two.Requests[0].content.blocks(nil, 16), two.Requests[3].content.blocks(nil, 16), two.Requests[4].content.blocks(nil, 16)
	if tr.common() != 64 || !slices.Equal(first[:4], copied[:4]) || first[4] == copied[4] || !slices.Equal(copied, next[:5]) {
		t.Errorf("common %d\n%x\n%x\n%x", tr.common(), first, copied, next)
	}
	open, _ := read(strings.NewReader(samples["blocks"]))
	if _, err := open.Copies(2); err == nil {
		t.Error("a trace without sessions was copied")
	}
}

func TestGenerate(t *testing.T) {
	tr, err := Generate(LoadName+":tenants=3,conversations=40,system=160,turns=3,repeat=0.5", 1)
	if err != nil {
		t.Fatal(err)
	}
	keys, systems := map[uint64]bool{}, map[uint64]bool{}
	for i := range tr.Requests {
		r := &tr.Requests[i]
		keys[r.Key] = true
		blocks := r.content.blocks(nil, 16)
		systems[blocks[9]] = true
		if next := r.Next; next != none {
			if longer := tr.Requests[next].content.blocks(nil, 16); !slices.Equal(blocks, longer[:len(blocks)]) || tr.Requests[next].Prompt <= r.Prompt+r.Answer {
				t.Fatalf("request %d does not go on from the one before it", next)
			}
		}
	}
	if len(systems) != 3 || len(keys) == len(tr.Requests) || len(keys) < 20 {
		t.Errorf("%d system prompts and %d different prompts in %d requests", len(systems), len(keys), len(tr.Requests))
	}
	for spec, want := range map[string]string{"generate:tenant": "want generate:tenants", LoadName + ":x=1": `"x": want one of tenants`,
		LoadName + ":turns=0": "turns=0: want a number from 1 to 1000", LoadName + ":tenants=1.5": "tenants=1.5", LoadName + ":skew": "skew=: want"} {
		if _, err := Generate(spec, 1); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", spec, err, want)
		}
	}
}

func TestOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.csv")
	if err := os.WriteFile(path, []byte(samples["arrivals"]), 0o600); err != nil {
		t.Fatal(err)
	}
	if tr, err := Open(path); err != nil || tr.Name != "a.csv" || tr.Prompts() != 4908 || tr.Block(0) != 64 || len(tr.First(1).Requests) != 1 {
		t.Errorf("%+v, %v", tr, err)
	}
	if _, err := Open(path + "x"); err == nil {
		t.Error("opened a file that is not there")
	}
}

func FuzzRead(f *testing.F) {
	for _, text := range samples {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		tr, err := read(strings.NewReader(text))
		if err != nil || len(text) > 1<<16 {
			return
		}
		for i := range tr.Requests {
			r := &tr.Requests[i]
			if r.Prompt < 1 || r.Answer < 1 || r.After >= i || r.Next != none && r.Next != i+1 {
				t.Fatalf("request %d: %+v", i, r)
			}
			if i < 20 && r.Prompt < 1<<16 && len(r.content.blocks(nil, 64)) > r.Prompt/16 {
				t.Fatalf("request %d has too many blocks", i)
			}
		}
	})
}
