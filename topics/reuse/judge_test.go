package reuse

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reprise/topics/reuse/evidence"
)

// lexicalJudge is that of an embedder that sees words, dense that of one that sees meaning and is sure of every pair.
var (
	lexicalJudge = &Judge{Words: true, MaxError: 0.01}
	denseJudge   = &Judge{MaxError: 0.01}
	sure         = Context{Similarity: 1, Draw: 0.999, Trust: Granted}
)

// triple is a line of a file of pairs.
type triple struct{ class, a, b string }

// triples reads a file of testdata.
func triples(t testing.TB, name string) (all []triple) {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	unescape := strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\t`, "\t")
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		line := lines.Text()
		if line == "" || line[0] == '#' {
			continue
		}
		fields := strings.Split(line, "\t")
		if len(fields) != 3 {
			t.Fatalf("%s: %q has %d fields", name, line, len(fields))
		}
		all = append(all, triple{fields[0], unescape.Replace(fields[1]), unescape.Replace(fields[2])})
	}
	return all
}

// TestVerdicts is the composition of vetoes, forms, edits and estimates.
func TestVerdicts(t *testing.T) {
	const (
		cancel   = "How do I cancel my subscription?"
		polite   = "How do I cancel my subscription? Thanks!"
		stop     = "I would like to know how cancelling my subscription works"
		swapped  = "Which is better, coffee or tea?"
		swap     = "Which is better, tea or coffee?"
		russian  = "как отменить подписку"
		russian2 = "как мне отменить подписку"
	)
	strict, loose := Judge{Words: true}, Judge{MaxError: 0}
	for _, row := range []struct {
		name          string
		judge         *Judge
		stored, asked string
		change        func(*Context)
		want          Decision
		why           string
	}{
		{"the same", lexicalJudge, cancel, cancel, nil, Serve, "the same"},
		{"courtesy", lexicalJudge, cancel, polite, nil, Serve, "equal"},
		{"courtesy, explored", lexicalJudge, cancel, polite, func(c *Context) { c.Draw = 0.009 }, Explore, "chosen"},
		{"courtesy, found by form", lexicalJudge, cancel, polite, func(c *Context) { c.Similarity = 0 }, Serve, "equal"},
		{"courtesy, where nothing was shown", lexicalJudge, cancel, polite, func(c *Context) { c.Trust = Earned }, Explore, "0 of 5"},
		{"a listed edit, where nothing was shown", lexicalJudge, swap, swapped, func(c *Context) { c.Trust = Earned }, Explore, "0 of 5"},
		{"not listed, by meaning, where nothing was shown", denseJudge, cancel, stop, func(c *Context) { c.Trust = Earned }, Explore, "0 of 5"},
		{"courtesy, where an operator forbids it", lexicalJudge, cancel, polite, func(c *Context) { c.Trust = Withdrawn }, Miss, "operator"},
		{"courtesy, no error allowed", &strict, cancel, polite, nil, Serve, "equal"},
		{"courtesy behind a document", lexicalJudge, "A long document.\n\nQuestion: " + cancel, "A long document.\n\nQuestion: " + polite, nil, Serve, "equal"},
		{"another document", lexicalJudge, "A long document.\n\nQuestion: " + cancel, "Another document.\n\nQuestion: " + polite, nil, Miss, "not a listed edit"},
		{"another label", lexicalJudge, "A document.\nQuestion: " + cancel, "A document.\nText: " + polite, nil, Miss, "not a listed edit"},
		{"a listed edit", lexicalJudge, swap, swapped, nil, Serve, "listed"},
		{"a listed edit, explored", lexicalJudge, swap, swapped, func(c *Context) { c.Draw = 0.009 }, Explore, "chosen"},
		{"a listed edit, no error allowed", &strict, swap, swapped, func(c *Context) { c.Draw = 0 }, Miss, "needed"},
		{"a listed edit in its direction", lexicalJudge, "Is it safe and why?", "Is it safe?", nil, Serve, "listed"},
		{"and in the other", lexicalJudge, "Is it safe?", "Is it safe and why?", nil, Miss, "not a listed edit"},
		{"not listed, by words", lexicalJudge, cancel, stop, nil, Miss, "not a listed edit"},
		{"not listed, by meaning", denseJudge, cancel, stop, nil, Serve, "similarity of 1.000"},
		{"not listed, by meaning, explored", denseJudge, cancel, stop, func(c *Context) { c.Draw = 0.009 }, Explore, "chosen"},
		{"not listed, by meaning, no error allowed", &loose, cancel, stop, nil, Miss, "needed"},
		{"not listed, no similarity", denseJudge, cancel, stop, func(c *Context) { c.Similarity = 0 }, Miss, "not a listed edit"},
		{"vetoed", denseJudge, "What costs 5 kg of flour?", "What costs 50 kg of flour?", nil, Miss, `veto "number"`},
		{"another script, by words", lexicalJudge, russian, russian2, nil, Miss, "normalised"},
		{"another script, by meaning", denseJudge, russian, russian2, nil, Miss, `veto "word"`},
		{"a table, by meaning", denseJudge, "Which column has the price?\na|b", "Which column has the price?\na| b", nil, Miss, "normalised"},
		{"hidden characters, by meaning", denseJudge, cancel, "How do I can\u200bcel my subscription?", nil, Miss, "normalised"},
		{"no text", denseJudge, cancel, " \t ", nil, Miss, "normalised"},
	} {
		c := sure
		if row.change != nil {
			row.change(&c)
		}
		v := row.judge.Judge(row.stored, row.asked, c)
		if v.Decision != row.want || !strings.Contains(v.Why(), row.why) {
			t.Errorf("%s: %d, %q, want %d, %q", row.name, v.Decision, v.Why(), row.want, row.why)
		}
		if hit := row.want == Serve && row.stored != row.asked || row.want == Explore && c.Trust == Granted; v.Case.Hit != hit {
			t.Errorf("%s: it would be served: %v", row.name, v.Case.Hit)
		}
		if serves, _ := row.judge.Serves(&v.Case, 0, c.Trust); row.want == Serve && !serves && row.stored != row.asked {
			t.Errorf("%s: not served any more", row.name)
		}
	}
}

// TestWhatFailsIsNotServed: an edit that changed the answer in a scope is compared there from then on, and served again when enough
// comparisons came out the same. Other tenants do not notice.
func TestWhatFailsIsNotServed(t *testing.T) {
	const stored, asked = "Which is better, tea or coffee?", "Which is better, coffee or tea?"
	book := evidence.NewBook(evidence.Embedder{})
	judge := func(c Context) Verdict {
		j := Judge{Words: true, MaxError: 0.01, Rates: book.Rates()}
		return j.Judge(stored, asked, c)
	}
	here := Context{Tenant: 1, Scope: 1, Similarity: 0.99, Draw: 0.999}
	for tenant := range uint64(3) {
		c := evidence.Case{Tenant: tenant, Scope: 1, Explained: true, Edits: judge(here).Case.Edits}
		for range evidence.First {
			book.Add(evidence.Sample{Case: c, Outcome: evidence.Same, Source: evidence.Explored})
		}
	}
	elsewhere := here
	elsewhere.Tenant = 2
	first := judge(here)
	book.Add(evidence.Sample{Case: first.Case, Outcome: evidence.Different, Source: evidence.Explored})
	v := judge(here)
	if v.Decision != Explore || v.Case.Hit || !strings.Contains(v.Why(), "5 of 105") {
		t.Errorf("after an error: %+v, %q", v, v.Why())
	}
	j := Judge{Words: true, MaxError: 0.01, Rates: book.Rates()}
	if serves, _ := j.Serves(&first.Case, 0, Earned); serves {
		t.Error("after an error an alias of the same case still serves")
	}
	if v := judge(elsewhere); v.Decision != Serve || v.P != first.P {
		t.Errorf("after an error of one tenant, another one gets %+v", v)
	}
	n := 0
	for ; n < 200 && judge(here).Decision != Serve; n++ {
		book.Add(evidence.Sample{Case: v.Case, Outcome: evidence.Same, Source: evidence.Explored})
	}
	t.Logf("served again after %d comparisons", n)
	if n < 30 || n >= 150 {
		t.Errorf("served again after %d comparisons", n)
	}
}

func FuzzJudge(f *testing.F) {
	for _, file := range []string{"different.tsv", "planted.tsv", "courtesy.tsv"} {
		for i, p := range triples(f, file) {
			if i%20 == 0 {
				f.Add(p.a, p.b)
			}
		}
	}
	for _, text := range []string{"", " ", strings.Repeat("a ", 4096), "mixed смесь 混合", "\u202eabc", "a\u200bb", "\"open", "```", "x\xff"} {
		f.Add(text, "What is it?")
		f.Add(text, text+" ")
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		for _, j := range []*Judge{lexicalJudge, denseJudge} {
			v := j.Judge(a, b, sure)
			if !(v.P >= 0 && v.P <= 1) || v.Why() == "" {
				t.Errorf("%+v, %q", v, v.Why())
			}
			if v.Decision == Serve && a != b && (strings.TrimSpace(a) == "" || strings.TrimSpace(b) == "") {
				t.Errorf("%q answers %q", a, b)
			}
		}
	})
}

// BenchmarkJudge judges prompts of 20, 100 and 1,000 words against a near repeat; both forms are made each time.
func BenchmarkJudge(b *testing.B) {
	const line = "The customer of our shop for garden tools in Leeds has bought a mower last May, and it stops after ten minutes. "
	for _, words := range []int{20, 100, 1000} {
		template := strings.Join(strings.Fields(strings.Repeat(line, 50))[:words-8], " ") + ". "
		for _, pair := range []struct{ name, stored, asked string }{
			{"form", "How do I cancel my subscription today?", "How can I cancel my subscription today? Thanks!"},
			{"edit", "Which is better, tea or coffee?", "Which is better, coffee or tea?"},
			{"other", "How do I cancel my subscription?", "How do I cancel my booking?"},
		} {
			for name, j := range map[string]*Judge{"words": lexicalJudge, "meaning": denseJudge} {
				v := j.Judge(template+pair.stored, template+pair.asked, sure)
				b.Run(fmt.Sprintf("%d/%s/%s/%s", words, pair.name, name, strings.ReplaceAll(v.Bar(), " ", "-")), func(b *testing.B) {
					b.ReportAllocs()
					for b.Loop() {
						j.Judge(template+pair.stored, template+pair.asked, sure)
					}
				})
			}
		}
	}
}
