package main

import (
	"fmt"
	"go/ast"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// room is a folder with all below it, the floor it is on, and the rooms that it may import besides itself. A folder belongs to the
// room with the longest path that contains it. Tests may import every room on their own floor and below, and all of internal.
type room struct {
	path  string
	floor int
	from  string // paths, separated by spaces
}

// lowest are helpers that any package may need; they import nothing else of the project.
const lowest = "internal/container internal/suggest internal/yamlfile"

// everything is what programs may import.
const everything = "internal policy embed topics topics/frames topics/reuse store " +
	"proxy proxy/cache proxy/upstream proxy/api proxy/canon proxy/answer proxy/observe proxy/admin proxy/gate proxy/rules proxy/tracing " +
	"proxy/deadline proxy/internal"

var rooms = []room{
	{"internal", 0, "policy internal/container"}, // rigs of tests
	{"internal/container", 0, ""},
	{"internal/suggest", 0, ""},
	{"internal/yamlfile", 0, "internal/suggest"},
	{"internal/floors", 0, ""},
	{"internal/enginesim", 5, ""}, // imported by tests and the laboratory
	{"policy", 1, "internal/container"},
	{"embed", 1, ""},
	{"topics", 2, "embed"},
	{"topics/frames", 2, ""},
	{"topics/reuse", 2, "topics/frames"},
	{"store", 2, "policy"},
	{"proxy/internal", 3, ""},
	{"proxy/deadline", 3, ""},
	{"proxy/tracing", 3, lowest},
	{"proxy/canon", 3, ""},
	{"proxy/answer", 3, ""},
	{"proxy/api", 3, "proxy/canon proxy/answer proxy/internal"},
	{"proxy/cache", 3, "policy embed topics topics/frames topics/reuse store"},
	{"proxy/upstream", 3, lowest + " policy proxy/internal proxy/deadline proxy/tracing"},
	{"proxy/rules", 3, "proxy/canon topics/frames topics/reuse"},
	{"proxy/gate", 3, "proxy/internal"},
	{"proxy/observe", 3, lowest + " policy topics/reuse store proxy/canon proxy/answer proxy/rules proxy/cache proxy/upstream proxy/internal proxy/tracing"},
	{"proxy/admin", 4, "policy topics store proxy/cache proxy/upstream proxy/internal proxy/gate proxy/observe"},
	{"proxy", 4, lowest + " policy embed topics topics/frames topics/reuse store proxy/internal proxy/deadline proxy/tracing proxy/canon proxy/answer proxy/api " +
		"proxy/cache proxy/upstream proxy/rules proxy/gate proxy/observe"},
	{"cmd/internal", 5, lowest + " " + everything},
	{"cmd/reprise", 5, "cmd/internal " + lowest + " " + everything},
	{lab, 5, "cmd/internal internal/enginesim " + lowest + " " + everything},
	{"deploy", 5, ""},
}

func roomOf(dir string) *room {
	var found *room
	for i := range rooms {
		if within(dir, rooms[i].path) && (found == nil || len(rooms[i].path) > len(found.path)) {
			found = &rooms[i]
		}
	}
	return found
}

func importsGoDown(s *source) (found []string) {
	own := roomOf(s.dir())
	if own == nil {
		return []string{s.path + ": the folder is on no floor"}
	}
	s.imports(func(spec *ast.ImportSpec, _, imported string) {
		dir, ours := folder(imported)
		if !ours {
			return
		}
		target := roomOf(dir)
		inTest := s.isTest() && target != nil && (target.floor <= own.floor || within(dir, "internal")) && (target.path != lab || own.path == lab)
		allowed := target != nil && (target == own || slices.Contains(strings.Fields(own.from), target.path))
		if !allowed && !inTest {
			found = append(found, fmt.Sprintf("%s: %s may not import %s", s.at(spec), own.path, imported))
		}
	})
	return found
}

// outside are the packages of other modules, each with the folders and files that may import it. Every test may import those with "tests".
var outside = map[string]string{
	"github.com/viterin/vek":              "embed/vector.go",
	"github.com/sashabaranov/go-openai":   "embed/openai tests",
	"github.com/openai/openai-go/v3":      "tests",
	"github.com/coder/hnsw":               "topics tests",
	"go.etcd.io/bbolt":                    "store/file",
	"github.com/klauspost/compress":       "store internal/traffic tests",
	"github.com/go-chi/chi/v5":            "proxy cmd",
	"github.com/tidwall/gjson":            "proxy cmd",
	"github.com/tidwall/sjson":            "proxy cmd",
	"github.com/prometheus/client_golang": "proxy cmd",
	"github.com/cespare/xxhash/v2":        "proxy/upstream/prefix",
	"github.com/tinylib/msgp":             "proxy/upstream/kvevents internal/enginesim",
	"github.com/sony/gobreaker/v2":        "proxy",
	"go.opentelemetry.io":                 "proxy/tracing",
	"google.golang.org/protobuf":          "proxy/tracing",
	"github.com/redis/go-redis/v9":        "store/redis internal/redistest tests",
	"go.yaml.in/yaml/v4":                  "internal/yamlfile cmd/reprise/internal/config",
	"golang.org/x/text":                   "embed/model2vec",
	"golang.org/x/sys":                    "topics",
	"golang.org/x/term":                   "cmd",
	"gonum.org/v1/plot":                   lab,
	// The module that checks the Helm chart has these, so that the program has not.
	"helm.sh/helm/v3": "deploy/charttest",
	"k8s.io":          "deploy/charttest",
	"sigs.k8s.io":     "deploy/charttest",
	"github.com/prometheus-operator/prometheus-operator": "deploy/charttest",
	"github.com/compose-spec/compose-go/v2":              "deploy/charttest",
}

func outsidePackages(s *source) (found []string) {
	s.imports(func(spec *ast.ImportSpec, _, imported string) {
		below := func(root string) bool { return within(s.path, root) }
		if first, _, _ := strings.Cut(imported, "/"); !strings.Contains(first, ".") {
			return // the project itself or the standard library
		}
		for name, places := range outside {
			fields := strings.Fields(places)
			if within(imported, name) && (slices.ContainsFunc(fields, below) || s.isTest() && slices.Contains(fields, "tests")) {
				return
			}
		}
		found = append(found, fmt.Sprintf("%s: %s has no place here", s.at(spec), imported))
	})
	return found
}

// ban forbids packages of the standard library, or members of them, below some folders. Tests may use them.
type ban struct {
	name    string
	applies func(dir string) bool
	imports []string            // with all below them
	members map[string][]string // by package
	only    map[string][]string // of these packages no other members may be used
}

// bans hold policy and embed to their laws (time and randomness come in as arguments; there is no lock, goroutine or I/O), and keep flags
// and the environment in cmd. Package embed names a context, which the embedders below it need.
var bans = []ban{
	{
		name:    "pure packages",
		applies: func(dir string) bool { return dir == "embed" || within(dir, "policy") },
		imports: []string{"sync", "net", "os", "io", "log", "syscall", "runtime"},
		members: map[string][]string{"time": {"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"}},
		only:    map[string][]string{"math/rand": seeded, "math/rand/v2": seeded},
	},
	{name: "policies", applies: func(dir string) bool { return within(dir, "policy") }, imports: []string{"context"}},
	{
		name:    "packages outside cmd",
		applies: func(dir string) bool { return !within(dir, "cmd") && !within(dir, "internal") },
		imports: []string{"flag"},
		members: map[string][]string{"os": {"Getenv", "LookupEnv", "Environ", "ExpandEnv", "Args"}},
	},
	{name: "packages without HTTP", applies: func(dir string) bool {
		return slices.ContainsFunc([]string{"topics", "store", "proxy/cache"}, func(root string) bool { return within(dir, root) })
	}, imports: []string{"net/http"}},
}

var seeded = []string{"New", "NewSource", "NewPCG", "NewChaCha8", "NewZipf", "Rand", "Source", "Source64", "PCG", "ChaCha8", "Zipf"}

func bannedUses(s *source) (found []string) {
	for _, b := range bans {
		if !s.isTest() && b.applies(s.dir()) {
			found = append(found, b.check(s)...)
		}
	}
	return found
}

func (b *ban) check(s *source) (found []string) {
	names := map[string]string{} // in this file, with the packages they stand for
	s.imports(func(spec *ast.ImportSpec, name, imported string) {
		names[name] = imported
		below := func(root string) bool { return within(imported, root) }
		if slices.ContainsFunc(b.imports, below) || name == "." && (b.members[imported] != nil || b.only[imported] != nil) {
			found = append(found, fmt.Sprintf("%s: %s do not import %s", s.at(spec), b.name, imported))
		}
	})
	ast.Inspect(s.tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			if b.only != nil { // nothing that reads a clock or a source may run beside others
				found = append(found, s.at(n)+": "+b.name+" start no goroutine")
			}
		case *ast.SelectorExpr:
			x, _ := n.X.(*ast.Ident)
			if x == nil {
				return true
			}
			from, member := names[x.Name], n.Sel.Name
			if slices.Contains(b.members[from], member) || b.only[from] != nil && !slices.Contains(b.only[from], member) {
				found = append(found, fmt.Sprintf("%s: %s do not use %s.%s", s.at(n), b.name, from, member))
			}
		}
		return true
	})
	return found
}

// rules are checked for each file. A file that breaks one is in broken, so that each rule is seen to fail.
var rules = []struct {
	name   string
	check  func(*source) []string
	broken []broken
}{
	{"imports go down", importsGoDown, []broken{
		{"policy/a.go", "import _ `reprise/embed`", "policy may not import reprise/embed"},
		{"policy/a.go", "import _ `reprise/internal/dataset`", "policy may not import reprise/internal/dataset"},
		{"policy/a.go", "import _ `reprise/cmd/reprise-lab/sim`", "policy may not import reprise/cmd/reprise-lab/sim"},
		{"embed/a_test.go", "import _ `reprise/topics`", "embed may not import reprise/topics"},
		{"topics/a.go", "import _ `reprise/store`", "topics/a.go:1: topics may not import reprise/store"},
		{"topics/a.go", "import _ `reprise/topics/reuse`", "topics may not import reprise/topics/reuse"},
		{"store/file/a.go", "import _ `reprise/topics`", "store may not import reprise/topics"},
		{"proxy/cache/a.go", "import _ `reprise/proxy/canon`", "proxy/cache may not import reprise/proxy/canon"},
		{"proxy/cache/a.go", "import _ `reprise/proxy/observe/misses`", "proxy/cache may not import reprise/proxy/observe/misses"},
		{"proxy/upstream/a.go", "import _ `reprise/proxy/observe`", "proxy/upstream may not import reprise/proxy/observe"},
		{"proxy/upstream/a.go", "import _ `reprise/proxy/cache`", "proxy/upstream may not import reprise/proxy/cache"},
		{"proxy/upstream/a.go", "import _ `reprise/cmd/reprise-lab/sim`", "proxy/upstream may not import reprise/cmd/reprise-lab/sim"},
		{"proxy/api/chat/a.go", "import _ `reprise/store`", "proxy/api may not import reprise/store"},
		{"proxy/a.go", "import _ `reprise/proxy/admin`", "proxy may not import reprise/proxy/admin"},
		{"proxy/a.go", "import _ `reprise/cmd/internal/cli`", "proxy may not import reprise/cmd/internal/cli"},
		{"proxy/a.go", "import _ `reprise/internal/enginesim`", "proxy may not import reprise/internal/enginesim"},
		{"proxy/observe/a_test.go", "import _ `reprise/proxy`", "proxy/observe may not import reprise/proxy"},
		{"proxy/a.go", "import _ `reprise/utils`", "proxy may not import reprise/utils"},
		{"cmd/reprise/a.go", "import _ `reprise/cmd/reprise-lab/internal/report`", "cmd/reprise may not import reprise/cmd/reprise-lab"},
		{"cmd/reprise/a_test.go", "import _ `reprise/cmd/reprise-lab/internal/report`", "cmd/reprise may not import reprise/cmd/reprise-lab"},
		{"cmd/internal/cli/a.go", "import _ `reprise/cmd/reprise/internal/config`", "cmd/internal may not import reprise/cmd/reprise"},
		{"utils/a.go", "", "on no floor"},
	}},
	{"outside packages have their place", outsidePackages, []broken{
		{"embed/fast.go", "import _ `github.com/viterin/vek/vek32`", "vek32 has no place"},
		{"proxy/client.go", "import _ `github.com/openai/openai-go/v3/option`", "option has no place"},
		{"store/disk.go", "import _ `go.etcd.io/bbolt`", "bbolt has no place"},
		{"proxy/pack.go", "import _ `github.com/klauspost/compress/zstd`", "zstd has no place"},
		{"cmd/reprise/plot.go", "import _ `gonum.org/v1/plot`", "plot has no place"},
		{"cmd/reprise/new.go", "import _ `example.org/new`", "example.org/new has no place"},
	}},
	{"bans", bannedUses, []broken{
		{"policy/a.go", "import _ `sync/atomic`", "import sync/atomic"},
		{"policy/rac/a.go", "import _ `context`", "import context"},
		{"embed/a.go", "import . `time`", "import time"},
		{"embed/a.go", "func f() { go f() }", "start no goroutine"},
		{"policy/a.go", "import clock `time`; var t = clock.Since", "do not use time.Since"},
		{"policy/a.go", "import `math/rand/v2`; var n = rand.IntN(6)", "do not use math/rand/v2.IntN"},
		{"proxy/a.go", "import _ `flag`", "import flag"},
		{"store/a.go", "import env `os`; var a = env.Getenv(`A`)", "do not use os.Getenv"},
		{"proxy/cache/shared/a.go", "import _ `net/http`", "import net/http"},
	}},
}

// broken is a file with one breach of a rule.
type broken struct{ path, code, want string }

func TestRules(t *testing.T) {
	all, err := readSources(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 500 {
		t.Fatalf("only %d files were found", len(all))
	}
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			for _, s := range all {
				for _, breach := range r.check(s) {
					t.Error(breach)
				}
			}
		})
	}
}

func TestRulesCanBeBroken(t *testing.T) {
	for _, r := range rules {
		for _, b := range r.broken {
			all, err := readSources(fstest.MapFS{b.path: {Data: []byte("package a; " + b.code)}})
			if err != nil {
				t.Fatal(err)
			}
			if found := r.check(all[0]); len(found) != 1 || !strings.Contains(found[0], b.want) {
				t.Errorf("%s, %s: found %q, not the one breach %q", r.name, b.code, found, b.want)
			}
		}
	}
}
