package reuse

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"io"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reprise/internal/dataset"
	"slices"
	"strings"
	"testing"
)

// naiveScan is scan without the shorter ways of plainWord and plainStop.
func naiveScan(text string) []token {
	s := &scanner{text: text, start: true}
	for s.at < len(s.text) {
		s.anything()
	}
	return s.finish()
}

// naiveSurplus counts the keys of both prompts from end to end.
func naiveSurplus(a, b []token) (out []string) {
	counts := make(map[string]int)
	for _, t := range a {
		counts[t.key]++
	}
	for _, t := range b {
		counts[t.key]--
	}
	for _, t := range a {
		if counts[t.key] > 0 {
			out = append(out, t.key)
		}
	}
	return out
}

func keysOf(tokens []token) (out []string) {
	for _, t := range tokens {
		out = append(out, t.key)
	}
	return out
}

// compareNaively fails where a prompt is not scanned, or a pair not compared, as it is without anything that makes it fast.
func compareNaively(t *testing.T, x, y string) {
	t.Helper()
	a, b := scanBoth(x, y)
	for _, c := range []struct {
		text       string
		got, naive []token
	}{{x, a, naiveScan(x)}, {y, b, naiveScan(y)}} {
		for i, n := range c.naive {
			if i >= len(c.got) || c.got[i] != n {
				t.Fatalf("%.3000q, %.3000q: token %d is not %+v; tokens are %+v", x, y, i, n, c.got[max(0, i-3):min(i+3, len(c.got))])
			}
		}
		if len(c.got) != len(c.naive) {
			t.Fatalf("%.3000q, %.3000q: %d tokens, not %d", x, y, len(c.got), len(c.naive))
		}
	}
	if len(a) == 0 || len(b) == 0 {
		return
	}
	d := difference(a, b)
	if want := naiveSurplus(a, b); !slices.Equal(keysOf(d.a), want) {
		t.Fatalf("%q, %q: surplus %q, naively %q", x, y, keysOf(d.a), want)
	}
	if want := naiveSurplus(b, a); !slices.Equal(keysOf(d.b), want) {
		t.Fatalf("%q, %q: surplus of the second %q, naively %q", x, y, keysOf(d.b), want)
	}
	d.cancelInflections()
	whole := *d
	whole.x, whole.y = a, b
	if got, want := d.sameOrder(a, b), whole.sameOrder(a, b); got != want {
		t.Fatalf("%q, %q: same order %v, of all tokens %v", x, y, got, want)
	}
}

// pieces are parts of prompts that the guards look at.
var pieces = strings.Fields(`please Please the The not don't can't won’t what's who Who i I me you us US kB Kb 3 3.5 1,000 007 05 5km 10k 1e5 three
	hundred thousand and one twenty $ € % c++ C# f# a+b a=b x==y f() f(x) /etc/passwd -rf --all user_name os.Open a.b.c e.g. U.S. http://a.b/c
	` + "`code` ``` ` \u0301 \xff \u200b \u0085 " + `" ' ( ) [ { } ? ! . , ; : — – - * # 北京 天气 不 カ é É İ ß ſ ’ “quoted” 'q' "w w" translate language into
	in to from hello thanks say between Oslo Rome off on out could tell give want need like cannot cannot's dont it's let's whether if of my apr
	files file filing city cities & && ² ½ 🍕 \ :: -> ()) .) www.x ~x $x -5 5-3 2024-01-02 10:30 1/2 1st 2nd`)

// oneLine is the same in one line.
var oneLine = strings.Repeat("It's a mower of \"ours\" (the big one). Does it cut 3 lawns? 'Yes, 4', he says - and stops! ", 16)

func mixture(rng *rand.Rand, n int) string {
	var b strings.Builder
	for range n {
		b.WriteString(pieces[rng.IntN(len(pieces))])
		b.WriteString([]string{"", " ", " ", " ", "\n", "\n  ", ", "}[rng.IntN(7)])
	}
	return b.String()
}

// mutate changes one to three places of a prompt.
func mutate(rng *rand.Rand, s string) string {
	for range 1 + rng.IntN(3) {
		at := rng.IntN(len(s) + 1)
		if i := strings.IndexByte(s[at:], ' '); i >= 0 && rng.IntN(4) > 0 {
			at += i
		}
		piece, rest := pieces[rng.IntN(len(pieces))], s[at:]
		_, behind, _ := strings.Cut(strings.TrimLeft(rest, " "), " ")
		switch rng.IntN(8) {
		case 0:
			s = s[:at] + " " + behind
		case 1:
			s = s[:at] + " " + piece + " " + behind
		case 2:
			s = s[:at] + piece + rest
		case 3:
			s = piece + " " + s
		case 4:
			s += " " + piece
		case 5:
			s = s[:at] + []string{",", ".", "!", "?", "\n", "\n  ", "'", "\"", "`", "("}[rng.IntN(10)] + rest
		case 6:
			s = strings.ToLower(s)
		default:
			s = s[:at] + " " + piece + " " + rest
		}
	}
	return s
}

func TestNaive(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 3))
	for i := range 30_000 {
		x := mixture(rng, rng.IntN(14))
		if i%3 == 0 {
			p := pairs[rng.IntN(len(pairs))]
			x = p.a + " " + p.b
		}
		compareNaively(t, x, mutate(rng, x))
	}
	for range 300 {
		x := frame + mixture(rng, rng.IntN(30)) + frame
		compareNaively(t, x, mutate(rng, x))
		x = oneLine + mixture(rng, rng.IntN(30)) + oneLine
		compareNaively(t, x, mutate(rng, x))
		x = mixture(rng, 100+rng.IntN(400))
		compareNaively(t, x, mutate(rng, x))
	}
}

// frame is text so long that what is between two of them is scanned by parts.
var frame = strings.Repeat("\nSome lines of prose,\n  with a \"quotation\" and it's `code`.\n", 20)

// TestRecordedVerdicts compares the verdicts of 100,000 pairs with recorded ones, so that a change meant for speed alone can be seen
// to be one.
func TestRecordedVerdicts(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 4))
	var record recorder
	for range 50_000 {
		x := mixture(rng, 1+rng.IntN(12))
		record.add(x, mutate(rng, x))
		p := pairs[rng.IntN(len(pairs))]
		record.add(mutate(rng, p.a), p.b)
	}
	record.check(t, 0xa97f2973b4ae3979)
}

// TestRecordedVerdictsOnData does the same with text below the folder that REPRISE_DATA names.
func TestRecordedVerdictsOnData(t *testing.T) {
	dir := os.Getenv("REPRISE_DATA")
	if dir == "" {
		t.Skip("REPRISE_DATA is not set")
	}
	for _, c := range []struct {
		file, member string
		want         uint64
	}{
		{"intent/clinc150", "text", 0x6e6645497662abf},
		{"intent/banking77", "text", 0x906fc69e70a355fc},
		{"prompts/nq_open_dev", "question", 0xb0bb2fb251e36e83},
		{"prompts/arena_hard_v0.1", "prompt", 0x1b8c72e72cac4d90},
		{"dialogue/oasst1_en", "text", 0xff5e12720685c922},
		{"kv/agent_miniswe", "input", 0x5443866d7c6b72f2},
	} {
		t.Run(c.file, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(3, 5))
			var record recorder
			last := ""
			for text := range texts(t, filepath.Join(dir, c.file+".jsonl.gz"), c.member) {
				record.add(text, mutate(rng, text))
				x := mutate(rng, text)
				record.add(x, mutate(rng, x))
				record.add(last, text)
				last = text
			}
			record.check(t, c.want)
		})
	}
}

// texts yields one member of each line of a file, at most 20,000 bytes of it.
func texts(t *testing.T, file, member string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for row, err := range dataset.Rows[map[string]any](file) {
			if err != nil {
				t.Fatal(err)
			}
			if text, _ := row[member].(string); text != "" && !yield(text[:min(len(text), 20_000)]) {
				return
			}
		}
	}
}

// recorder hashes verdicts, and counts them so that a change can be seen.
type recorder struct {
	verdicts strings.Builder
	counts   map[Veto]int
}

func (r *recorder) add(x, y string) {
	if r.counts == nil {
		r.counts = make(map[Veto]int)
	}
	v := Check(x, y)
	r.counts[v]++
	fmt.Fprintln(&r.verdicts, v)
}

func (r *recorder) check(t *testing.T, want uint64) {
	t.Helper()
	h := fnv.New64a()
	io.WriteString(h, r.verdicts.String())
	if got := h.Sum64(); got != want {
		var lines []string
		for v, n := range r.counts {
			lines = append(lines, fmt.Sprintf("%s %d", cmp.Or(v, "pass"), n))
		}
		slices.Sort(lines)
		t.Errorf("the verdicts hash to %#x, want %#x; their numbers are\n%s", got, want, strings.Join(lines, "\n"))
	}
}
