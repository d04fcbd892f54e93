package yamlfile

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// readRules is a reader as those of this package's users: a list of rules with names and shares.
func readRules(d *Document) (read []string, err error) {
	rules, _ := d.Root().Fields("rules", "currency").Get("rules")
	for rule := range rules.List("a list of rules") {
		f := rule.Fields("name", "share", "tags", "prices")
		name, _ := f.Need("name")
		text, _ := name.Text("a name")
		line := text
		if v, ok := f.Get("share"); ok {
			share, _ := v.Number("a number from 0 to 1", func(n float64) bool { return n >= 0 && n <= 1 })
			line += fmt.Sprint(" ", share)
		}
		tags, _ := f.Get("tags")
		for tag := range tags.List("a list of tags") {
			text, _ := tag.Text("a tag")
			line += " " + text
		}
		prices, _ := f.Get("prices")
		for model, price := range prices.Each("prices by model") {
			n, _ := price.Number("a price", func(n float64) bool { return n >= 0 })
			line += fmt.Sprint(" ", model.Key(), "=", n)
		}
		read = append(read, line)
	}
	return read, d.Err()
}

func TestRead(t *testing.T) {
	d, err := Parse("rules.yaml", []byte(`# the first file
currency: USD
rules:
  - name: "a b"   # quotes are not part of a value
    share: 0.50
    tags: [yes, 24h, 1_000, '']
  - {name: c, prices: {gpt-4o: 2.5, 'm*': 1e-1}}
  - name: |
      two
      lines
`))
	if err != nil {
		t.Fatal(err)
	}
	got, err := readRules(d)
	if want := []string{"a b 0.5 yes 24h 1_000 ", "c gpt-4o=2.5 m*=0.1", "two\nlines\n"}; err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("read %q, %v, want %q", got, err, want)
	}
}

// TestWrong: every message has the place of what is wrong.
func TestWrong(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "f: the file is empty"},
		{"# only a comment\n", "f: the file is empty"},
		{"---\n", "f: the file is empty"},
		{"rules: [\n", "f:2:1: this is no YAML: did not find expected node content"},
		{"rules: {a: 1\n- b\n", "f:3:1: this is no YAML: did not find expected ',' or '}'"},
		{"rules:\n\t- name: a\n", "f:2:1: this is no YAML: found character that cannot start any token; lines are indented by spaces only, and a value that begins with @ or ` needs quotes"},
		{"a: 'x\n", "f:2:1: this is no YAML: found unexpected end of stream"},
		{"rules: b: c\n", "f:1:9: this is no YAML: mapping values are not allowed in this context"},
		{"rules:\n - name: \xff\n", "f:2: the text is not UTF-8"},
		{"a: \x01\n", "f: this is no YAML: control characters are not allowed (value: 1)"},
		{"rules: []\n---\nrules: []\n", "f:2:1: a second document begins; a file has one"},
		{"rules: []\nrules: []\n", `f:2:1: the field "rules" is given twice, first in line 1`},
		{"rules:\n- name: a\n  tags: []\n  name: b\n", `f:4:3: rules[0]: the field "name" is given twice, first in line 2`},
		{"rules: &x []\n", "f:1:8: rules: anchors and aliases are not read: write the value in each place"},
		{"rules: *secret\n", "f:1:8: anchors and aliases are not read: write the value in each place; a value that begins with * needs quotes"},
		{"rules:\n- <<: {name: a}\n", "f:2:3: rules[0]: anchors and aliases are not read: write the value in each place"},
		{"rules:\n- name: !!str a\n", "f:2:9: rules[0].name: tags such as !!str are not read: a value in quotes is a text"},
		{"? [a]\n: b\n", "f:1:3: the name of a field is one word"},
		{"~: b\n", "f:1:1: the name of a field is one word"},
		{strings.Repeat("[", 12) + strings.Repeat("{a: ", 12) + strings.Repeat("}", 12) + strings.Repeat("]", 12), "lists and fields are more than 16 deep"},
		{"- a\n", "f:1:1: want fields: rules, currency; found a list"},
		{"text\n", "f:1:1: want fields: rules, currency; found one value"},
		{"rule: []\n", `f:1:1: rule: there is no field "rule"; did you mean rules?; allowed is rules or currency`},
		{"rules:\n", "f:1:7: rules: want a list of rules; found nothing"},
		{"rules:\n  a: 1\n", "f:2:3: rules: want a list of rules; found fields"},
		{"rules:\n- share: 1\n", "f:2:3: rules[0]: the field name is missing"},
		{"rules:\n- name: [a]\n", "f:2:9: rules[0].name: want a name; found a list"},
		{"rules:\n- name: a\n  share: 1.5\n", "f:3:10: rules[0].share: want a number from 0 to 1"},
		{"rules:\n- name: a\n  share: nan\n", "f:3:10: rules[0].share: want a number from 0 to 1"},
		{"rules:\n- name: a\n  prices: {x: -1, y: 0x1}\n", "f:3:15: rules[0].prices.x: want a price\nf:3:22: rules[0].prices.y: want a price"},
		{"x: 1\nrules: 2\n", "f:1:1: x: there is no field \"x\"; allowed is rules or currency\nf:2:8: rules: want a list of rules; found one value"},
	} {
		d, err := Parse("f", []byte(c.text))
		if err == nil {
			_, err = readRules(d)
		}
		if err == nil {
			t.Errorf("%q: no error, want %s", c.text, c.want)
		} else if got := err.Error(); got != c.want && !(strings.HasPrefix(c.want, "lists") && strings.HasSuffix(got, c.want)) {
			t.Errorf("%q:\n got %s\nwant %s", c.text, got, c.want)
		}
	}
}

// TestFiles: an error of a file that cannot be read has its path once.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	large := filepath.Join(dir, "large")
	if err := os.WriteFile(large, bytes.Repeat([]byte("- abc\n"), maxBytes/5), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		filepath.Join(dir, "absent"): filepath.Join(dir, "absent") + ": no such file or directory",
		dir:                          dir + ": is a directory",
		large:                        large + ": the file is larger than 1024 KiB",
	} {
		if _, err := Read(path); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	_, err := Read(filepath.Join(dir, "absent"))
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v does not wrap its cause", err)
	}
}

// FuzzParse: whatever the text is, it is parsed or refused at a place that it has, and what a reader is given has a place too.
func FuzzParse(f *testing.F) {
	f.Add([]byte("rules:\n- name: a\n  prices: {x: 1}\n"))
	f.Add([]byte("a: &x [1]\nb: *x\n"))
	f.Add([]byte("? |\n  a\n: - b\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		lines := bytes.Count(text, []byte("\n")) + bytes.Count(text, []byte("\r")) + bytes.Count(text, []byte("\u0085")) +
			bytes.Count(text, []byte("\u2028")) + bytes.Count(text, []byte("\u2029")) + 2
		d, err := Parse("f", text)
		if err == nil {
			if d.Root().Line() < 1 {
				t.Error("the root has no place")
			}
			_, err = readRules(d)
		}
		wrong, ok := errors.AsType[*Error](err)
		if err != nil && !ok {
			t.Fatalf("%T: %v", err, err)
		}
		for i := 0; ok && i < len(wrong.Problems); i++ {
			if p := wrong.Problems[i]; p.Line < 0 || p.Line > lines || p.Text == "" {
				t.Errorf("%+v is at no place of %q", p, text)
			}
		}
	})
}
