package files

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"reprise/cmd/internal/cli/clitest"
)

// TestSharedChains: chains that share memory are those that a naive reader makes, which numbers each prefix by its text. Sessions extend,
// cut and change their chains, and continue the same request several times.
func TestSharedChains(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var lines bytes.Buffer
	lines.WriteString(`{"format":"blocks","block_size":16}` + "\n")
	var want [][]uint64
	for i := range 3000 {
		at := float64(i)
		one := Record{At: &at, Prompt: MostTokens, Session: uint32(random.IntN(20))}
		if i > 0 && random.IntN(3) > 0 {
			one.After = int32(max(1, i-random.IntN(30)))
			one.Blocks = slices.Clone(want[one.After-1])
		}
		one.Blocks = one.Blocks[:len(one.Blocks)-random.IntN(min(3, len(one.Blocks)+1))]
		for range random.IntN(4) {
			one.Blocks = append(one.Blocks, uint64(random.IntN(3)))
		}
		want = append(want, one.Blocks)
		line, _ := json.Marshal(one)
		lines.Write(append(line, '\n'))
	}
	tr, err := Read(&lines, Blocks, Options{})
	if err != nil {
		t.Fatal(err)
	}
	numbers := map[string]uint32{}
	for i, ids := range want {
		for n := range ids {
			prefix := fmt.Sprint(ids[:n+1])
			number, ok := numbers[prefix]
			if !ok {
				number = uint32(len(numbers))
				numbers[prefix] = number
			}
			if got := tr.Requests[i].Blocks; len(got) != len(ids) || got[n] != number {
				t.Fatalf("request %d: %v, want number %d at %d of %v", i+1, got, number, n, ids)
			}
		}
	}
	if tr.Distinct != len(numbers) {
		t.Errorf("%d different blocks, want %d", tr.Distinct, len(numbers))
	}
}

// TestSessionRuns: chains of runs are those that a naive reader makes of their single numbers.
func TestSessionRuns(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	var lines strings.Builder
	var want []string
	for range 40 {
		var requests []string
		var runs [][2]int
		for i := range 30 {
			runs = runs[:len(runs)-random.IntN(min(2, len(runs)+1))]
			for range 1 + random.IntN(3) {
				runs = append(runs, [2]int{random.IntN(5), 1 + random.IntN(4)})
			}
			var ids []int
			for _, run := range runs {
				for k := range run[1] {
					ids = append(ids, run[0]+k)
				}
			}
			text, _ := json.Marshal(runs)
			requests = append(requests, fmt.Sprintf(`{"t":%d,"in":%d,"hash_rle":%s}`, i, 2*len(ids), text))
			want = append(want, fmt.Sprint(ids))
		}
		fmt.Fprintf(&lines, `{"block_size":2,"requests":[%s]}`+"\n", strings.Join(requests, ","))
	}
	tr, err := Read(strings.NewReader(lines.String()), Sessions, Options{Unended: true})
	if err != nil {
		t.Fatal(err)
	}
	checkTrace(t, tr)
	byChain := map[string]string{}
	seen := map[uint32]int{} // requests of each session so far: its order is that of the file
	for i := range tr.Requests {
		r := &tr.Requests[i]
		n := seen[r.Session]
		seen[r.Session]++
		ids := fmt.Sprint(r.Session, want[int(r.Session-1)*30+n])
		got := fmt.Sprint(r.Blocks)
		if before, ok := byChain[ids]; ok && before != got {
			t.Fatalf("request %d: %s, and %s before", i, got, before)
		}
		if other, ok := byChain[got]; ok && other != ids {
			t.Fatalf("request %d: %s is that of %s too", i, got, other)
		}
		byChain[ids], byChain[got] = got, ids
	}
}

// TestMemory: a session whose prompts grow holds each block once or twice, not in each prompt.
func TestMemory(t *testing.T) {
	var requests []string
	for i := range 1000 {
		requests = append(requests, fmt.Sprintf(`{"t":%d,"in":%d,"hash_rle":[[0,%d]]}`, i, 64*(i+1), i+1))
	}
	b := newBuilder(Options{Unended: true, Active: 1}.withDefaults())
	p := b.parser(Sessions)
	if err := p.line([]byte(`{"block_size":64,"requests":[` + strings.Join(requests, ",") + `]}`)); err != nil {
		t.Fatal(err)
	}
	if err := p.end(); err != nil || b.held > 10*1000 {
		t.Errorf("%d block numbers for 1000 different blocks, %v", b.held, err)
	}
}

// TestPlace: at most Active conversations are active at one time, and the rate is not far below that.
func TestPlace(t *testing.T) {
	var lines strings.Builder
	for range 300 {
		lines.WriteString(`{"turns":[["U","a"],["S","b"],["U","c"],["U","d"]]}` + "\n")
	}
	tr, err := Open(clitest.Write(t, "sample", lines.String()), SGD, Options{Active: 10, Think: 50, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	first, last := map[uint32]float64{}, map[uint32]float64{}
	for i := range tr.Requests {
		r := &tr.Requests[i]
		if _, ok := first[r.Session]; !ok {
			first[r.Session] = r.At
		}
		last[r.Session] = r.At
	}
	most, sum := 0, 0
	for _, at := range first {
		n := 0
		for session, from := range first {
			if from <= at && at < last[session]+50-1e-6 {
				n++
			}
		}
		most = max(most, n)
		sum += n
	}
	if most > 10 || sum < 5*len(first) {
		t.Errorf("at most %d active conversations, %d on average: want at most 10", most, sum/len(first))
	}
	other, err := Open(clitest.Write(t, "sample", lines.String()), SGD, Options{Active: 10, Think: 50, Seed: 2})
	if err != nil || describe(other) == describe(tr) {
		t.Errorf("another seed gives the same times, %v", err)
	}
}

// TestPredict: the predictor has the user's texts in their order.
func TestPredict(t *testing.T) {
	for format, want := range map[Format][]string{
		ShareGPT:  {"1 chat 0: question", "2 chat 1: question|and then?", "1 chat 0: hello"},
		OASST:     {"1 chat 0: question", "2 chat 1: question|left", "2 chat 1: question|right"},
		AgentText: {"1 call 0: one two", "1 call 0: one two", "2 call 1: one two|four"},
	} {
		var got []string
		tr, err := Open(clitest.Write(t, "sample", samples[format]), format, Options{Predict: func(turn Turn) float32 {
			line := fmt.Sprintf("%d %s %d: ", turn.Number, turn.Kind, len(turn.Answers))
			for i, text := range turn.Prompts {
				if i > 0 {
					line += "|"
				}
				line += short(text)
			}
			got = append(got, line)
			return 0.5
		}})
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) || tr.Requests[0].Prob != 0.5 {
			t.Errorf("%s:\n got %q\nwant %q", format, got, want)
		}
	}
}

// short is a text whose repetitions are left out.
func short(text string) string {
	words := strings.Fields(text)
	return strings.Join(slices.Compact(words[:min(2, len(words))]), " ")
}

// TestAzureBlocks: a request that continues another begins with its prompt and its answer, and about the given share of them do.
func TestAzureBlocks(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	lines := ArrivalHeader + "\n"
	for i := range 2000 {
		lines += fmt.Sprintf("2023-11-16 18:%02d:%02d,%d,%d\n", i/60, i%60, 1+random.IntN(2000), random.IntN(300))
	}
	for share, want := range map[float64][2]int{0: {800, 1100}, 0.2: {300, 500}, -1: {0, 0}} {
		tr, err := Read(strings.NewReader(lines), Azure, Options{Continues: share, Tokens: 64, Seed: 9})
		if err != nil {
			t.Fatal(err)
		}
		checkTrace(t, tr)
		n := 0
		for i := range tr.Requests {
			r := &tr.Requests[i]
			if r.After == 0 {
				continue
			}
			before := &tr.Requests[r.After-1]
			if n++; before.Prompt+before.Answer >= r.Prompt || common(before.Blocks, r.Blocks) != len(before.Blocks) || r.Session != before.Session {
				t.Fatalf("request %d does not begin with %d", i+1, r.After)
			}
		}
		if n < want[0] || n > want[1] || !tr.Generated || tr.Tokens != 64 {
			t.Errorf("share %g: %d continuations, want %v; %v", share, n, want, tr.Generated)
		}
	}
}
