package study

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// writeTraces adds recorded traces to a folder: one of each half, with some 1,000 distinct identities each.
func writeTraces(t *testing.T, dir string) {
	t.Helper()
	var ids, blocks strings.Builder
	for i := range 6000 {
		fmt.Fprintln(&ids, i*i%1009)
	}
	for i := range 700 {
		fmt.Fprintf(&blocks, `{"timestamp":%d,"input_length":1536,"output_length":9,"hash_ids":[0,%d,%d]}`+"\n", 1000*i, 1+i%40, 100+i)
	}
	pack(t, filepath.Join(dir, "traces", "lirs-gli.txt.gz"), ids.String())
	pack(t, filepath.Join(dir, "traces", "other.txt.gz"), ids.String())
	pack(t, filepath.Join(dir, "kv", "mooncake_conversation.jsonl.gz"), blocks.String())
}

// TestRecordedStudy: both halves have their verdicts, small cells are shown and not counted, and a policy that draws no random numbers is played once.
func TestRecordedStudy(t *testing.T) {
	dir := t.TempDir()
	writeTraces(t, dir)
	s := tiny(2)
	s.Data, s.Only, s.Designs = dir, []string{"traces", "blocks", "bytes"}, []string{"rac+:value=hits"}
	if err := Check("regimes", s); err != nil {
		t.Fatal(err)
	}
	page, results, err := Run(t.Context(), "regimes", s)
	if err != nil {
		t.Fatal(err)
	}
	text := rendered(t, page)
	for _, want := range []string{
		"– " + chosenHalf, "– " + heldHalf, "lirs-gli (not counted)", "10% of the bytes", "expert alone", "given", "<figcaption>" + pools[3].title, "gdsf: mean",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in the page", want)
		}
	}
	for _, wrong := range []string{"NaN", "Inf", "Not complete"} {
		if strings.Contains(text, wrong) {
			t.Errorf("%q in the page", wrong)
		}
	}
	played := map[string]int{}
	for _, r := range results {
		played[r.Policy]++
	}
	if n := 3 * 3 * 2; played["lru"] != n || played["haz"] != 2*n || played["rac+:value=hits"] != 2*n {
		t.Errorf("played %v, want lru %d times and twice that with two seeds", played, n)
	}
}

// TestReadBlocks: each block of a prompt is a request, from its first to its deepest, and files are cut at the length that is played.
func TestReadBlocks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl.gz")
	pack(t, path, `{"timestamp":0,"input_length":1024,"output_length":9,"hash_ids":[5,6]}`+"\n"+`{"timestamp":2000,"input_length":1536,"output_length":9,"hash_ids":[5,7,8]}`+"\n")
	r, err := readBlocks(path)
	if err != nil || len(r.ids) != 5 || r.ids[0] != r.ids[2] || !slices.Equal(r.times, []float64{0, 0, 2, 2, 2}) {
		t.Fatalf("%+v, %v", r, err)
	}
	if distinct := slices.Compact(slices.Sorted(slices.Values(r.ids))); len(distinct) != 4 || slices.Contains(distinct, 0) {
		t.Errorf("identities %v, want 4 and none of 0", r.ids)
	}
	long := filepath.Join(filepath.Dir(path), "long.txt.gz")
	pack(t, long, strings.Repeat("1\n2\n3\n", recordedRequests/3+7))
	if r, err := readIDs(long); err != nil || len(r.ids) != recordedRequests {
		t.Errorf("%d requests, %v, want %d", len(r.ids), err, recordedRequests)
	}
	if _, err := readIDs(path + "x"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}

func TestCheck(t *testing.T) {
	full := writeData(t)
	writeTraces(t, full)
	for _, c := range []struct {
		study, data, want string
		only              []string
	}{
		{"regimes", "", "", nil},
		{"rac", "", "", nil},
		{"regimes", full, "", nil},
		{"rac", writeData(t), "", nil},
		{"regimes", writeData(t), "traces", nil},
		{"regimes", writeData(t), "", []string{"texts", "bytes"}},
		{"regimes", t.TempDir(), "kv", []string{"blocks"}},
		{"regimes", t.TempDir(), "oasst1", []string{"texts"}},
		{"regimes", "", "want --data", []string{"blocks"}},
		{"regimes", "", "did you mean traces", []string{"trace"}},
	} {
		err := Check(c.study, Setup{Data: c.data, Only: c.only})
		if (c.want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s --only %v: %v, want %q", c.study, c.only, err, c.want)
		}
	}
}
