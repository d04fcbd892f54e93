package replay

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"reprise/cmd/internal/cli/clitest"
	"reprise/cmd/reprise-lab/sim"
	"reprise/policy"
)

// state describes requests: identities as letters in the order of their first appearance, text, and the fields that are set.
func state(t *testing.T, in sim.Trace) string {
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
		text := ""
		if r.Content != nil {
			text = " " + r.Content.Text
		}
		fmt.Fprintf(&b, "%s<%s c%d t%d %d/%v%s\n", letter(r.ID), letter(r.Parent), r.Conversation, r.Turn, r.Size, r.Cost, text)
	}
	return b.String()
}

func TestOpen(t *testing.T) {
	if in, err := Open(clitest.Write(t, "in", "5\n6\n"), "auto", 1); err != nil || state(t, in) != "a<- c0 t0 0/0\nb<- c0 t0 0/0\n" {
		t.Errorf("ids: %v", err)
	}
	if in, err := Open(clitest.Write(t, "in", `{"id":5,"text":"hi"}`), "auto", 1); err != nil || state(t, in) != "a<- c0 t0 0/0 hi\n" {
		t.Errorf("a request log: %v", err)
	}
	if in, err := Open("generate:irm:n=10,items=5", "sgd", 1); err != nil || strings.Count(state(t, in), "\n") != 10 {
		t.Errorf("a workload: %v", err)
	}
	for _, c := range []struct{ in, format, want string }{
		{`{"messages":[{"role":"user","content":"hi"}]}`, "auto", "these are chat requests: `reprise demo --input` plays them"},
		{`{"turns":[["U","a"]]}`, "sharegpt", "these are SGD, not sharegpt"},
		{"", "auto", "no requests in it"},
		{`{"timestamp": 0, "input_length": 600, "output_length": 9, "hash_ids": [1, 2]}`, "auto", "format mooncake: this is a trace of KV blocks, which an engine's prefix cache holds and not the cache of answers: `reprise-lab replay` plays it"},
		{"[1,2]", "auto", "no known format: want one of ids, requests, oasst, sgd, sharegpt, oracle-general"},
	} {
		if _, err := Open(clitest.Write(t, "in", c.in), c.format, 1); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q as %s: %v", c.in, c.format, err)
		}
	}
}

func TestSplit(t *testing.T) {
	for in, want := range map[string]string{
		"a.gz":                             "a.gz",
		"a=1.gz,b=2.gz,":                   "a=1.gz|b=2.gz",
		"generate:syn:n=5,long=0.7,a":      "generate:syn:n=5,long=0.7|a",
		"generate:irm,generate:loop:n=5,b": "generate:irm|generate:loop:n=5|b",
	} {
		if got := strings.Join(SplitTraces(in), "|"); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
}

func result(policy string, hits int64, bound bool) sim.Result {
	r := sim.Result{Trace: "t", Policy: policy, Capacity: "10%", Requests: 1000, Hits: hits, Bound: bound, HitRatioInfinite: 0.9}
	r.HitRatio, r.NormalizedHitRatio, r.ByteHitRatio = float64(hits)/1000, float64(hits)/900, float64(hits)/2000
	r.TokensSaved, r.Evictions = float64(hits)*10, 1000-hits
	return r
}

func TestTables(t *testing.T) {
	all := []sim.Result{result("lru", 300, false), result("rac:alpha=1/C", 250, false), result("sieve", 400, false), result("rac+", 450, false),
		result("arc", 400, false), result("belady", 600, true), result("infinite", 900, true)}
	for i := range all[:6] {
		all[i].Limit = policy.Limit{Entries: 1234}
	}
	const want = `t at 10% = 1,234 entries: 1,000 requests, 90.00 % of them asked before
  policy          hit ratio  of infinite  of bytes  tokens saved  evictions  gap closed
  infinite          90.00 %     100.00 %   45.00 %         9,000
  belady            60.00 %      66.67 %   30.00 %         6,000        400
  rac+              45.00 %      50.00 %   22.50 %         4,500        550     25.00 %
* sieve             40.00 %      44.44 %   20.00 %         4,000        600
  arc               40.00 %      44.44 %   20.00 %         4,000        600
  lru               30.00 %      33.33 %   15.00 %         3,000        700
  rac:alpha=1/C     25.00 %      27.78 %   12.50 %         2,500        750    -75.00 %

` + legend
	var b strings.Builder
	writeTables(&b, all)
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

// TestTablesOfObjectives has tables where policies maximise the tokens saved. Where all do these order the rows, and the best baseline is
// best by them; where one maximises hits, hits do.
func TestTablesOfObjectives(t *testing.T) {
	tokens := func(name string, hits int64, saved float64, bound bool) sim.Result {
		r := result(name, hits, bound)
		r.TokensSaved, r.TokenHitRatio, r.Limit.Bytes = saved, saved/10_000, 1<<20
		if !bound {
			r.Objective = sim.ObjectiveTokens
		}
		return r
	}
	few := []sim.Result{tokens("lru", 300, 1000, false), tokens("gdsf", 200, 3000, false), tokens("rac+", 250, 4000, false), tokens("belady", 600, 7000, true)}
	const head = `t at 10%: 1,000 requests, 90.00 % of them asked before
(with a limit in bytes belady is no bound but where all sizes are equal)
  policy   hit ratio  of infinite  of bytes  tokens saved  of tokens  objective  evictions  gap closed
  belady     60.00 %      66.67 %   30.00 %         7,000    70.00 %                   400
`
	const byTokens = head + `  rac+       25.00 %      27.78 %   12.50 %         4,000    40.00 %     tokens        750     25.00 %
* gdsf       20.00 %      22.22 %   10.00 %         3,000    30.00 %     tokens        800
  lru        30.00 %      33.33 %   15.00 %         1,000    10.00 %     tokens        700

` + legend
	const byHits = head + `* lru        30.00 %      33.33 %   15.00 %         1,000    10.00 %     tokens        700
  rac+       25.00 %      27.78 %   12.50 %         4,000    40.00 %     tokens        750    -16.67 %
  gdsf       20.00 %      22.22 %   10.00 %         3,000    30.00 %       hits        800

` + legend
	for _, want := range []string{byTokens, byHits} {
		var b strings.Builder
		writeTables(&b, slices.Clone(few))
		if b.String() != want {
			t.Errorf("got\n%s\nwant\n%s", b.String(), want)
		}
		few[1].Objective = sim.ObjectiveHits
	}
}

func TestProgress(t *testing.T) {
	var b strings.Builder
	p := Progress{out: &b}
	p.Note(12_000, 0)
	p.draw("t", time.Second)
	p.Note(25_000, 100_000)
	p.draw("t", 5*time.Second)
	if got, want := b.String(), "t: 12,000 requests read\nt:  25 %, 6,250 requests/s, 12s left\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	b.Reset()
	p.live = true
	hide := p.Show("t")
	hide()
	if !strings.HasSuffix(b.String(), "\r\x1b[2K") {
		t.Errorf("the line stays: %q", b.String())
	}
}
