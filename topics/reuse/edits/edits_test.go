package edits

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"reprise/topics/reuse/normal"
)

// explained is how a pair is explained: the classes with a plus between them, "=" for equal forms, or "no".
func explained(stored, asked string) string {
	list, ok := Explain(normal.Of(stored), normal.Of(asked))
	if !ok {
		return "no"
	}
	var names []string
	for _, e := range list {
		names = append(names, e.Class.Name())
	}
	if len(names) == 0 {
		return "="
	}
	return strings.Join(names, "+")
}

// rows are the lines of a file of pairs, with their fields.
func rows(t testing.TB, path string) (all [][]string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	unescape := strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\t`, "\t")
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if line := lines.Text(); line != "" && line[0] != '#' {
			fields := strings.Split(line, "\t")
			for i := range fields {
				fields[i] = unescape.Replace(fields[i])
			}
			all = append(all, fields)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// templates are long texts in front of a prompt, as applications put them there.
func templates() []string {
	const line = "You are the assistant of a shop for garden tools. Answer the customer politely and name the page of the manual where that helps, but do not invent prices. "
	return []string{"", strings.Repeat(line, 2) + "Query: ", strings.Repeat(line, 11) + "Question: "}
}

// TestDifferent reads pairs of different meaning: none may be explained, as it is or behind a template, in either direction.
func TestDifferent(t *testing.T) {
	for _, file := range []string{"../testdata/different.tsv", "../testdata/planted.tsv", "../testdata/round1.tsv", "../testdata/round2e.tsv", "../testdata/round3a.tsv", "testdata/attacked.tsv"} {
		for _, row := range rows(t, file) {
			for i, template := range templates() {
				for _, p := range [][2]string{{row[1], row[2]}, {row[2], row[1]}} {
					e := explained(template+p[0], template+p[1])
					if e == "why" && len(p[0]) > len(p[1]) {
						continue // the answer to "X and why" has that to "X"
					}
					if e != "no" && e != "=" {
						t.Errorf("%s: %s: template %d: %q, %q: explained by %s", file, row[0], i, p[0], p[1], e)
					}
				}
			}
		}
	}
}

// pairs are all pairs of the test sets, with the words that each of them differs by.
func pairs(t testing.TB) (all [][2]string) {
	for _, file := range []string{"different.tsv", "planted.tsv", "paraphrases.tsv", "courtesy.tsv"} {
		for _, row := range rows(t, filepath.Join("..", "testdata", file)) {
			all = append(all, [2]string{row[1], row[2]})
		}
	}
	for _, row := range rows(t, filepath.Join("testdata", "classes.tsv")) {
		all = append(all, [2]string{row[2], row[3]})
	}
	return all
}

// check reports what is wrong with the explanation of a pair: spans out of order or out of range, equal words left out, and edits that do
// not lead from one form to the other.
func check(stored, asked *normal.Form) string {
	list, ok := Explain(stored, asked)
	if stored.Equal(asked) != (ok && len(list) == 0) {
		return "equal forms and no edits are not the same"
	}
	if ok && len(list) > Most {
		return "too many edits"
	}
	stored, asked = stored.Beside(asked), asked.Beside(stored)
	var made []normal.Token
	i, j := 0, 0
	for n, e := range list {
		if e.Stored.From < i || e.Asked.From < j || e.Stored.To < e.Stored.From || e.Asked.To < e.Asked.From || e.Stored.To > len(stored.Tokens) || e.Asked.To > len(asked.Tokens) {
			return "spans are not in order"
		}
		if (e.Class == 0) != (!ok && n == len(list)-1) {
			return "class 0 is for what is not listed"
		}
		made = append(append(made, stored.Tokens[i:e.Stored.From]...), asked.Tokens[e.Asked.From:e.Asked.To]...)
		i, j = e.Stored.To, e.Asked.To
	}
	made = append(made, stored.Tokens[i:]...)
	if ok && !slices.EqualFunc(open(made), open(asked.Tokens), func(a, b normal.Token) bool { return same(&a, &b) }) {
		return "the edits do not make the asked form of the stored one"
	}
	return ""
}

// TestExplain checks the explanations of all pairs in both directions, and of each prompt with itself.
func TestExplain(t *testing.T) {
	for _, p := range pairs(t) {
		a, b := normal.Of(p[0]), normal.Of(p[1])
		for _, q := range [][2]*normal.Form{{a, b}, {b, a}, {a, a}, {b, normal.Of(p[1])}} {
			if wrong := check(q[0], q[1]); wrong != "" {
				t.Errorf("%q, %q: %s", q[0].Prompt, q[1].Prompt, wrong)
			}
		}
	}
}

// TestSymmetry checks that all classes except why serve in both directions, and that why serves in one.
func TestSymmetry(t *testing.T) {
	for _, p := range pairs(t) {
		there, back := explained(p[0], p[1]), explained(p[1], p[0])
		if strings.Contains(there, "why") || strings.Contains(back, "why") {
			if there != "no" && back != "no" {
				t.Errorf("%q, %q: explained in both directions, by %s and %s", p[0], p[1], there, back)
			}
		} else if there != back {
			t.Errorf("%q, %q: explained by %s, and the other way by %s", p[0], p[1], there, back)
		}
	}
}

// TestLong checks that many differences and long sentences are refused, wherever they are.
func TestLong(t *testing.T) {
	many := strings.Repeat("really ", window+1)
	for _, p := range [][2]string{
		{"What is the purpose of tea?", "What " + many + "is the purpose of tea?"},
		{many + "What is the purpose of tea?", "What is the purpose of tea?"},
		{"What is the purpose of tea in " + strings.Repeat("a small house and ", 6) + "a garden?", "What is purpose of tea in " + strings.Repeat("a small house and ", 6) + "a garden?"},
		{"What is the purpose of tea? What is the purpose of milk?", "What is purpose of tea? What is purpose of milk?"},
	} {
		if e := explained(p[0], p[1]); e != "no" {
			t.Errorf("%q, %q: explained by %s", p[0], p[1], e)
		}
	}
}

// TestMost checks the limit of edits and that two of them do not touch.
func TestMost(t *testing.T) {
	for _, c := range []struct{ stored, asked, want string }{
		{"What exactly is the main purpose of a tent?", "What is the main purpose of a tent?", "filler"},
		{"What exactly is the main purpose of a part-time job?", "What is the main purpose of a part time job?", "no"},
		{"What is a part-time job in my time zone and why", "What is a part time job in my timezone", "no"},
		{"Explain the role of tea?", "Explain role of tea", "no"},
		{"Explain the role of tea.", "Explain role of tea", "no"},
		{"what exactly is my role", "what is my role", "no"},
		{"Does it really work?", "Does it work?", "filler"},
		{"Ask him this. Does it really work?", "Ask him this. Does it work?", "no"},
		{"What is the meaning of a time zone?", "What is meaning of the time zone?", "no"},
		{"What are tips for learning outside of the US?", "What are some tips for learning outside the US?", "no"},
	} {
		if e := explained(c.stored, c.asked); e != c.want {
			t.Errorf("%q, %q: explained by %s, want %s", c.stored, c.asked, e, c.want)
		}
	}
}

// TestText checks that a prompt that treats text as data is not edited, and that equal ones are equal all the same.
func TestText(t *testing.T) {
	stored, asked := normal.Of("does it really work"), normal.Of("does it work")
	if _, ok := Explain(stored, asked); !ok {
		t.Fatal("the pair is not explained")
	}
	stored.Data, asked.Data = true, true
	if _, ok := Explain(stored, asked); ok {
		t.Error("an edit of data is explained")
	}
	if list, ok := Explain(stored, stored); !ok || len(list) > 0 {
		t.Error("equal forms have edits")
	}
}

func FuzzExplain(f *testing.F) {
	for _, p := range pairs(f) {
		f.Add(p[0], p[1])
	}
	f.Fuzz(func(t *testing.T, stored, asked string) {
		a, b := normal.Of(stored), normal.Of(asked)
		for _, q := range [][2]*normal.Form{{a, b}, {b, a}, {a, a}} {
			if wrong := check(q[0], q[1]); wrong != "" {
				t.Fatalf("%q, %q: %s", q[0].Prompt, q[1].Prompt, wrong)
			}
		}
	})
}

var update = flag.Bool("update", false, "rewrite the golden file")

// TestTable compares the list as it is in force with a file to review: its classes, and every edit with its contexts.
func TestTable(t *testing.T) {
	var b strings.Builder
	for i, row := range Table[1:] {
		fmt.Fprintf(&b, "%d %s: %s\n  %d pairs, bound %.2f (%s); prior %.3f, weight %g\n", i+1, row.Name, row.Contexts, row.Pairs, row.Bound, row.Source, row.Prior, row.Weight)
		last := ""
		for _, r := range compile(source) {
			if int(r.class) != i+1 {
				continue
			}
			if r.line != last {
				fmt.Fprintf(&b, "  %s\n", r.line)
				last = r.line
			}
			fmt.Fprintf(&b, "    %q may answer %q\n", strings.Join(r.stored, " "), strings.Join(r.asked, " "))
		}
	}
	golden := filepath.Join("testdata", "table.golden")
	if *update {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("the list has changed; read the difference after go test -update")
	}
}

// TestClasses reads, for each class, pairs that it explains, and pairs that are not explained. Behind a template none is.
func TestClasses(t *testing.T) {
	refused := map[string]int{}
	for _, row := range rows(t, filepath.Join("testdata", "classes.tsv")) {
		class, want, stored, asked := row[0], "no", row[2], row[3]
		if row[1] == "yes" {
			want = class
		} else {
			refused[class]++
		}
		for i, template := range templates() {
			if i > 0 {
				want = "no"
			}
			if e := explained(template+stored, template+asked); e != want {
				t.Errorf("template %d: %q, %q: explained by %s, want %s", i, stored, asked, e, want)
			}
			if class == "why" {
				continue // it has a direction
			}
			if e := explained(template+asked, template+stored); e != want {
				t.Errorf("template %d: %q, %q: explained by %s, want %s", i, asked, stored, e, want)
			}
		}
	}
	for _, row := range Table[1:] {
		if refused[row.Name] < 10 {
			t.Errorf("class %s: %d pairs that are not explained, want 10", row.Name, refused[row.Name])
		}
	}
}
