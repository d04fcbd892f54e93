package reprise_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// toy is the smallest thing of a kind that CONTRIBUTING.md explains how to add. Its files are in testdata/contributing, at
// their places in the module. It is added to a build by an overlay; the working tree does not change.
type toy struct {
	dir   string // below testdata/contributing
	list  string // the heading in CONTRIBUTING.md over the files to touch
	edits []edit
	tests []toyTest
	use   func(*testing.T, string) // uses the program that has the toy in it; nil: tests are enough
}

// toyTest runs tests of a package that has the toy in it.
type toyTest struct {
	folder string
	run    string   // as the flag -run of go test
	first  []string // flags of a run before, which writes golden files
}

// edit adds a toy to a list: it replaces text that a file has once.
type edit struct{ file, old, new string }

var toys = []toy{
	{
		dir: "store", list: "A store",
		edits: []edit{
			{"cmd/reprise/internal/stores/stores.go", `"reprise/store/file"`, "\"reprise/store/file\"\n\t\"reprise/store/toy\""},
			{"cmd/reprise/internal/stores/stores.go", "opener(file.Open)},", "opener(file.Open)},\n\t{\"toy:PATH\", opener(toy.Open)},"},
		},
		tests: []toyTest{{folder: "store/toy", run: "."}},
		use:   useStore,
	},
	{
		dir: "api", list: "An API",
		edits: []edit{
			{"proxy/api/registry/registry.go", `"reprise/proxy/api/responses"`, "\"reprise/proxy/api/responses\"\n\t\"reprise/proxy/api/toy\""},
			{"proxy/api/registry/registry.go", "embeddings.Family,", "embeddings.Family,\n\ttoy.Family,"},
		},
		tests: []toyTest{{folder: "proxy/api/toy", run: ".", first: []string{"-update"}}},
		use:   useAPI,
	},
	{
		dir: "policy", list: "A policy",
		edits: []edit{{"policy/registry/registry.go", "&haz.Spec, &panel.Spec,", "&haz.Spec, &panel.Spec, &classic.ToySpec,"}},
		tests: []toyTest{{folder: "policy/registry", run: "TestEvictors.*/toy"}},
		use:   usePolicy,
	},
	{
		dir: "dialect", list: "A dialect",
		edits: []edit{
			{"proxy/upstream/dialect/dialect.go", "{Generic{}, ", "{Generic{}, Toy{}, "},
			{"proxy/enginesim/strict/strict.go", `"generic": {lenient},`, `"generic": {lenient}, "toy": {lenient},`},
		},
		tests: []toyTest{{folder: "proxy/upstream/dialect", run: "Conformance/toy"}, {folder: "proxy/enginesim/strict", run: "Refused/toy"},
			{folder: "proxy/upstream", run: "ToyDialect"}},
	},
}

// additions are the files that a toy touches, with their new text, and where the Go command finds it.
type additions struct {
	text    map[string][]byte // by path in the module
	replace map[string]string // by absolute path
}

func newAdditions() *additions { return &additions{map[string][]byte{}, map[string]string{}} }

// add writes the edited files below dir.
func (a *additions) add(t *testing.T, y toy, dir string) {
	t.Helper()
	root := filepath.Join("testdata/contributing", y.dir)
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		inModule, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(p)
		a.put(t, filepath.ToSlash(inModule), text, p)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range y.edits {
		text, ok := a.text[e.file]
		if !ok {
			if text, err = os.ReadFile(e.file); err != nil {
				t.Fatal(err)
			}
		}
		if n := bytes.Count(text, []byte(e.old)); n != 1 {
			t.Fatalf("%s has %d times %q, want once", e.file, n, e.old)
		}
		text = bytes.Replace(text, []byte(e.old), []byte(e.new), 1)
		edited := filepath.Join(dir, strings.ReplaceAll(e.file, "/", "_"))
		if err := os.WriteFile(edited, text, 0o600); err != nil {
			t.Fatal(err)
		}
		a.put(t, e.file, text, edited)
	}
}

// put has the file at path in the module read from another.
func (a *additions) put(t *testing.T, path string, text []byte, from string) {
	t.Helper()
	at, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	if from, err = filepath.Abs(from); err != nil {
		t.Fatal(err)
	}
	a.text[path], a.replace[at] = text, from
}

// overlay writes the file that the flag -overlay of the Go command reads.
func (a *additions) overlay(t *testing.T, dir string) string {
	t.Helper()
	b, err := json.Marshal(map[string]any{"Replace": a.replace})
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestContributing adds a toy of each kind by touching the files that CONTRIBUTING.md names and no other.
func TestContributing(t *testing.T) {
	doc, err := os.ReadFile("CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	if testing.Short() {
		t.Skip("builds the program")
	}
	all, whole := newAdditions(), t.TempDir()
	for _, y := range toys {
		a, dir := newAdditions(), t.TempDir()
		a.add(t, y, dir)
		all.add(t, y, whole)
		t.Run(y.dir, func(t *testing.T) {
			for _, wrong := range checkList(listUnder(string(doc), y.list), slices.Sorted(maps.Keys(a.text))) {
				t.Errorf("CONTRIBUTING.md, %s: %s", y.list, wrong)
			}
			overlay := a.overlay(t, dir)
			for _, test := range y.tests {
				y.test(t, test, overlay)
			}
		})
	}
	t.Run("rules", func(t *testing.T) { checkRules(t, all.text) })
	t.Run("use", func(t *testing.T) {
		program := filepath.Join(whole, "reprise")
		runGo(t, "build", "-overlay", all.overlay(t, whole), "-o", program, "./cmd/reprise")
		for _, y := range toys {
			if y.use != nil {
				t.Run(y.dir, func(t *testing.T) { y.use(t, program) })
			}
		}
	})
}

var listEntry = regexp.MustCompile("(?m)^\\d+\\. `([^`]+)`")

// listUnder returns the paths in the numbered list under a heading.
func listUnder(doc, heading string) (paths []string) {
	_, section, _ := strings.Cut(doc, "\n### "+heading+"\n")
	section, _, _ = strings.Cut(section, "\n#")
	for _, m := range listEntry.FindAllStringSubmatch(section, -1) {
		paths = append(paths, m[1])
	}
	return paths
}

// maxList bounds the number of places that an addition touches.
const maxList = 3

// checkList returns the differences between the places that a list names and the files that were touched. A place is a file,
// or a folder with a slash at its end; NAME in it is the name of the addition. A test need not be listed.
func checkList(places, files []string) (wrong []string) {
	if len(places) == 0 || len(places) > maxList {
		wrong = append(wrong, fmt.Sprintf("%d places are listed, want 1 to %d", len(places), maxList))
	}
	used := map[string]bool{}
	for _, file := range files {
		i := slices.IndexFunc(places, func(place string) bool {
			place = strings.ReplaceAll(place, "NAME", "toy")
			return file == place || strings.HasSuffix(place, "/") && strings.HasPrefix(file, place)
		})
		if i >= 0 {
			used[places[i]] = true
		} else if !strings.HasSuffix(file, "_test.go") {
			wrong = append(wrong, file+" is touched and not listed")
		}
	}
	for _, place := range places {
		if !used[place] {
			wrong = append(wrong, place+" is listed and not touched")
		}
	}
	return wrong
}

func TestCheckList(t *testing.T) {
	doc := "# D\n\n### A b\n\n1. `b/NAME/`: one.\n   More.\n2. `b/b.go`: two.\n\n### A c\n\n1. `c`\n"
	for _, c := range []struct{ heading, files, want string }{
		{"A b", "b/toy/toy.go b/toy/testdata/x b/b.go c/toy_test.go", ""},
		{"A b", "b/toy/toy.go", "b/b.go is listed and not touched"},
		{"A b", "b/toy/toy.go b/b.go c", "c is touched and not listed"},
		{"A d", "", "0 places are listed, want 1 to 3"},
	} {
		if got := strings.Join(checkList(listUnder(doc, c.heading), strings.Fields(c.files)), ", "); got != c.want {
			t.Errorf("%s, touched %s: %q, want %q", c.heading, c.files, got, c.want)
		}
	}
}

// checkRules applies the rules of the module to it and the toys.
func checkRules(t *testing.T, text map[string][]byte) {
	fsys := fstest.MapFS{}
	for p, b := range text {
		fsys[p] = &fstest.MapFile{Data: b}
	}
	added, err := readModule(fsys)
	if err != nil {
		t.Fatal(err)
	}
	all, err := readModule(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	all = slices.DeleteFunc(all, func(s *source) bool { return text[path.Clean(s.path)] != nil })
	for _, r := range rules {
		for _, breach := range r.check(append(all, added...)) {
			t.Errorf("%s: %s", r.name, breach)
		}
	}
}

// test builds the tests of a package and runs them in its folder: in a copy of the toy's if the module has none.
func (y *toy) test(t *testing.T, test toyTest, overlay string) {
	t.Helper()
	dir := t.TempDir()
	binary := filepath.Join(dir, "toy.test")
	runGo(t, "test", "-c", "-vet=off", "-overlay", overlay, "-o", binary, "./"+test.folder)
	folder := test.folder
	if _, err := os.Stat(folder); err != nil {
		folder = filepath.Join(dir, "toy")
		if err := os.CopyFS(folder, os.DirFS(filepath.Join("testdata/contributing", y.dir, test.folder))); err != nil {
			t.Fatal(err)
		}
	}
	run := func(flags ...string) (string, error) {
		c := exec.CommandContext(t.Context(), binary, append(flags, "-test.v", "-test.run", test.run)...)
		c.Dir = folder
		out, err := c.CombinedOutput()
		return string(out), err
	}
	if test.first != nil {
		_, _ = run(test.first...) // writes files for the next run, which compares
	}
	if out, err := run(); err != nil || !strings.Contains(out, "--- PASS") {
		t.Errorf("%s, tests %s: %v\n%s", test.folder, test.run, err, out)
	}
}

func runGo(t *testing.T, args ...string) {
	t.Helper()
	command, err := exec.LookPath("go")
	if err != nil {
		t.Skip("the go command is not installed, so nothing can be built: ", err)
	}
	out, err := exec.CommandContext(t.Context(), command, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}
