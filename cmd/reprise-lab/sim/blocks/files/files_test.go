package files

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"reprise/cmd/internal/cli/clitest"
	"reprise/cmd/reprise-lab/sim/blocks"
)

// samples are small files of each format.
var samples = map[Format]string{
	Blocks: `{"format":"blocks","block_size":32,"name":"hand","kinds":["api","chat"]}
{"at":1,"prompt":96,"answer":8,"blocks":[900,7,12],"kind":"chat","session":4,"user":2,"filled":[5],"prob":0.25}
{"at":3.5,"prompt":160,"runs":[[900,1],[7,1],[12,1],[5,2]],"kind":"chat","session":4,"turn":2,"after":1,"think":2.5}
{"at":2,"prompt":40,"blocks":[7]}
`,
	Mooncake: `{"timestamp": 2000, "input_length": 1000, "output_length": 500, "hash_ids": [0, 1]}
{"timestamp": 3500, "input_length": 1500, "output_length": 0, "hash_ids": [0, 2, 3]}
{"timestamp": 9000, "input_length": 1700, "output_length": 1, "hash_ids": [0, 2, 4, 5]}
{"timestamp": 9500, "input_length": 1499, "output_length": 1, "hash_ids": [0, 2, 6]}
`,
	Sessions: `{"id":"x","block_size":64,"requests":[{"t":0,"in":200,"out":7,"stop":"tool_use","api_time":2,"input_types":["text"],"hash_rle":[[1,3]]},{"t":1,"type":"subagent"},{"t":3,"in":210,"out":1,"stop":"","input_types":["text"],"hash_rle":[[1,3]]},{"t":9.5,"in":330,"out":0,"api_time":1,"think_time":6,"input_types":["tool_result"],"hash_rle":[[1,2],[3,1],[9,2]]}]}
{"id":"y","block_size":64,"requests":[{"t":0,"in":200,"out":7,"stop":"end_turn","hash_rle":[[1,3]]}]}
`,
	AgentText: `{"timestamp": 3000000, "input": "` + strings.Repeat("one two ", 16) + `", "output": "three", "session_id": "b"}
{"timestamp": 4500000, "input": "` + strings.Repeat("one two ", 16) + strings.Repeat("four ", 20) + `", "output": "five six", "session_id": "a"}
{"timestamp": 1000000, "input": "` + strings.Repeat("one two ", 16) + `", "output": "", "session_id": "a"}
`,
	Chat: `{"model":"m","user":"ann","messages":[{"role":"system","content":"` + strings.Repeat("be brief ", 8) + `"},{"role":"user","content":"` + strings.Repeat("question ", 8) + `"}]}
{"model":"m","user":"bob","messages":[{"role":"system","content":"` + strings.Repeat("be brief ", 8) + `"},{"role":"user","content":"hello"}]}
{"model":"m","user":"ann","messages":[{"role":"system","content":"` + strings.Repeat("be brief ", 8) + `"},{"role":"user","content":"` + strings.Repeat("question ", 8) + `"},{"role":"assistant","content":"` + strings.Repeat("answer ", 20) + `"},{"role":"user","content":[{"type":"text","text":"and then?"},{"type":"image_url","image_url":{"url":"data:"}}]}]}
{"model":"n","messages":[{"role":"system","content":"` + strings.Repeat("be brief ", 8) + `"},{"role":"user","content":"hello"}]}
`,
	ShareGPT: `{"conversations":[{"from":"system","value":"` + strings.Repeat("be brief ", 8) + `"},{"from":"human","value":"` + strings.Repeat("question ", 8) + `"},{"from":"gpt","value":"` + strings.Repeat("answer ", 20) + `"},{"from":"human","value":"and then?"}]}
{"conversations":[{"from":"system","value":"` + strings.Repeat("be brief ", 8) + `"},{"from":"human","value":"hello"}]}
`,
	OASST: `{"message_tree_id":"x","prompt":{"role":"prompter","text":"` + strings.Repeat("question ", 8) + `","replies":[` +
		`{"role":"assistant","text":"` + strings.Repeat("answer ", 20) + `","replies":[{"role":"prompter","text":"left","replies":[]}]},` +
		`{"role":"assistant","text":"b","replies":[{"role":"prompter","text":"right","replies":[]}]}]}}
`,
	SGD: `{"services":["Hotels"],"turns":[["U","a room"],["S","where?"],["U","in San Jose"]]}
`,
	Azure: "TIMESTAMP,ContextTokens,GeneratedTokens\r\n2023-11-16 18:17:03.9799600,48,16\r\n2023-11-16 18:17:04.9799600,100,8\r\n",
}

// describe is a line for each request: time, tokens, blocks+filled, kind, turn, session, what it continues after how long.
func describe(t *blocks.Trace) string {
	var b strings.Builder
	for i := range t.Requests {
		r := &t.Requests[i]
		fmt.Fprintf(&b, "%.4g %d/%d %v%v %s turn %d of %d", r.At, r.Prompt, r.Answer, r.Blocks, r.Filled, t.Kinds[r.Kind], r.Turn, r.Session)
		if r.After > 0 {
			fmt.Fprintf(&b, " after %d by %.4g", r.After, r.Think)
		}
		if r.GoesOn {
			b.WriteString(" goes on")
		}
		b.WriteString("\n")
	}
	return b.String()
}

func TestFormats(t *testing.T) {
	for format, want := range map[Format]string{
		Blocks: `1 96/8 [0 1 2][3] chat turn 1 of 4 goes on
2 40/0 [5][] request turn 1 of 0
3.5 160/0 [0 1 2 3 4][] chat turn 2 of 4 after 1 by 2.5
`,
		Mooncake: `2 1000/500 [0 1][] chat turn 1 of 1
3.5 1500/0 [0 2 3][] chat turn 1 of 2 goes on
9 1700/1 [0 2 4 5][] chat turn 2 of 2 after 2 by 5.5
9.5 1499/1 [0 2 6][] chat turn 1 of 3
`,
		Sessions: `0 200/7 [0 1 2][] text turn 1 of 1 goes on
0.01448 200/7 [5 6 7][] other turn 1 of 2
9.5 330/0 [0 1 2 3 4][] tool_result turn 2 of 1 after 1 by 7.5
`,
		AgentText: `0 32/0 [0 1][] call turn 1 of 2 goes on
2 32/2 [0 1][] call turn 1 of 1
3.5 57/2 [0 1 2][] call turn 2 of 2 after 1 by 3.5
`,
		Chat: `0 41/38 [0 1][] chat turn 1 of 1 goes on
19.35 24/0 [0][] chat turn 1 of 2
70.76 87/0 [0 1 2 3 4][] chat turn 2 of 1 after 1 by 70.76
170.5 24/0 [5][] chat turn 1 of 3
`,
		ShareGPT: `0 36/35 [0 1][2 3] chat turn 1 of 1 goes on
0.5218 20/0 [0][] chat turn 1 of 2
178.4 74/0 [0 1 2 3][] chat turn 2 of 1 after 1 by 178.4
`,
		OASST: `0 18/35 [0][1 2] chat turn 1 of 1 goes on
120.7 55/0 [0 1 2][] chat turn 2 of 1 after 1 by 120.7
178.4 54/0 [0 1 2][] chat turn 2 of 1 after 1 by 178.4
`,
		SGD: `0 2/2 [][] chat turn 1 of 1 goes on
178.4 6/0 [][] chat turn 2 of 1 after 1 by 178.4
`,
		Azure: `0 48/16 [0 1 2][3] request turn 1 of 1 goes on
1 100/8 [0 1 2 3 4 5][] request turn 2 of 1 after 1 by 1
`,
	} {
		path := clitest.Write(t, "sample", samples[format])
		if found, err := Detect(path); err != nil || found != format {
			t.Errorf("%s: detected %q, %v", format, found, err)
		}
		tr, err := Open(path, Auto, Options{})
		if err != nil {
			t.Errorf("%s: %v", format, err)
			continue
		}
		if got := describe(tr); got != want {
			t.Errorf("%s:\n got %s\nwant %s", format, got, want)
		}
		if err := tr.Check(); err != nil {
			t.Errorf("%s: %v", format, err)
		}
	}
}

// TestWrite: what is written is read as the same trace, for each format.
func TestWrite(t *testing.T) {
	for format, text := range samples {
		want, err := Open(clitest.Write(t, "sample", text), format, Options{Seed: 3, Unended: true, Predict: func(turn Turn) float32 { return 1 / float32(turn.Number+1) }})
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := Write(&out, want); err != nil {
			t.Fatal(err)
		}
		got, err := Read(bytes.NewReader(out.Bytes()), Blocks, Options{})
		if err != nil || describe(got) != describe(want) {
			t.Errorf("%s: %v\n%s", format, err, out.String())
			continue
		}
		for i := range got.Requests { // an empty list and none are equal
			for _, r := range []*blocks.Request{&got.Requests[i], &want.Requests[i]} {
				r.Blocks, r.Filled = append([]uint32{}, r.Blocks...), append([]uint32{}, r.Filled...)
			}
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n got %+v\nwant %+v", format, got, want)
		}
	}
}

// TestArrivalTimes: the traces of 2024 have an offset behind their times, and others RFC 3339.
func TestArrivalTimes(t *testing.T) {
	for _, time := range []string{"2024-05-10 00:00:01.009930", "2024-05-10 00:00:01.009930+00:00", "2024-05-10T00:00:01.00993Z", "2024-05-10T02:00:01.00993+02:00"} {
		r, err := ParseArrival([]byte(time + ",48,16"))
		if err != nil || r.At != 1715299201.00993 {
			t.Errorf("%s: %v, %v", time, r.At, err)
		}
	}
}
