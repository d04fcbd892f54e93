// Package reprise_test holds the module to its design: which package may import which, what a pure package does without,
// and how large and how well documented a piece may be. It reads the sources, so that it needs no build of them.
package reprise_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
)

const module = "reprise"

// source is one Go file of the module, of any platform.
type source struct {
	path  string // below the module's root
	lines int
	fset  *token.FileSet
	tree  *ast.File
}

func (s *source) dir() string  { return path.Dir(s.path) }
func (s *source) isTest() bool { return strings.HasSuffix(s.path, "_test.go") }

func (s *source) line(p token.Pos) int { return s.fset.Position(p).Line }

func (s *source) breach(at ast.Node, format string, args ...any) string {
	return fmt.Sprintf("%s:%d: %s", s.path, s.line(at.Pos()), fmt.Sprintf(format, args...))
}

// imports calls f with every import and its name in the file.
func (s *source) imports(f func(spec *ast.ImportSpec, name, imported string)) {
	for _, spec := range s.tree.Imports {
		imported, _ := strconv.Unquote(spec.Path.Value) // always a string: the parser checked it
		name := path.Base(imported)
		if name == "v2" { // of math/rand, the only one here whose name matters
			name = path.Base(path.Dir(imported))
		}
		if spec.Name != nil {
			name = spec.Name.Name
		}
		f(spec, name, imported)
	}
}

// within reports whether an import path or a folder is root or lies below it.
func within(p, root string) bool { return p == root || strings.HasPrefix(p, root+"/") }

// readModule parses every Go file of the module that fsys holds.
func readModule(fsys fs.FS) ([]*source, error) {
	var all []*source
	err := fs.WalkDir(fsys, ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && p != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "node_modules"):
			return fs.SkipDir
		case d.IsDir() || path.Ext(p) != ".go":
			return nil
		}
		text, err := fs.ReadFile(fsys, p)
		if err != nil {
			return err
		}
		s := &source{path: p, lines: bytes.Count(text, []byte("\n")), fset: token.NewFileSet()}
		s.tree, err = parser.ParseFile(s.fset, p, text, parser.ParseComments|parser.SkipObjectResolution)
		all = append(all, s)
		return err
	})
	return all, err
}

// rule finds the places that break it. Its broken modules show that it can fail: it must find exactly one breach in each.
type rule struct {
	name   string
	check  func([]*source) []string
	broken []broken
}

// broken is a module of one file, or of several after lines "-- path --", and a part of the breach to be found.
type broken struct{ path, text, want string }

var rules = []rule{
	{"imports go down", each(importsGoDown), upwards},
	{"outside packages have their place", each(outsidePackages), misplaced},
	{"the graph has one file", graphHasOneFile, twoGraphs},
	{"pure packages are pure", each(purity), worldly},
	{"settings are read in cmd", each(settings), scattered},
	{"one package comment", packageComments, miscommented},
	{"exported names are documented", each(documented), undocumented},
	{"files and functions stay small", each(sizes), large},
	{"interfaces stay small", interfaces, wide},
	{"types stay small", types, busy},
	{"packages stay small", packages, crowded},
	{"words are plain", each(words), unplain},
}

// each makes a rule about files out of a rule about one.
func each(check func(*source) []string) func([]*source) []string {
	return func(all []*source) (found []string) {
		for _, s := range all {
			found = append(found, check(s)...)
		}
		return found
	}
}

func TestModuleKeepsRules(t *testing.T) {
	all, err := readModule(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			for _, breach := range r.check(all) {
				t.Error(breach)
			}
		})
	}
}

func TestRulesCanBeBroken(t *testing.T) {
	for _, r := range rules {
		for _, b := range r.broken {
			t.Run(r.name+"/"+b.want, func(t *testing.T) {
				fsys := fstest.MapFS{}
				for part := range strings.SplitSeq("-- "+b.path+" --\n"+b.text, "-- ") {
					if name, text, ok := strings.Cut(part, " --\n"); ok {
						fsys[name] = &fstest.MapFile{Data: []byte(text)}
					}
				}
				all, err := readModule(fsys)
				if err != nil {
					t.Fatal(err)
				}
				if found := r.check(all); len(found) != 1 || !strings.Contains(found[0], b.want) {
					t.Errorf("found %q, not the one breach %q", found, b.want)
				}
			})
		}
	}
}

// room is a folder with all below it, and the other rooms that it may import from. The folders at the module's root hold
// tests only.
type room struct {
	root string
	from []string
}

// belowCmd are the rooms that programs may import from.
var belowCmd = []string{"internal", "policy/sim", "policy", "embed", "topics", "store", "proxy"}

// rooms are in the order of the floors, the lowest first; a folder belongs to the first that contains it. No room below cmd may
// import cmd, and of the programs only the laboratory may import from another one.
var rooms = []room{
	{"internal/enginesim", []string{"policy/sim", "policy", "proxy/upstream", "internal/zmtp", "internal/container"}},
	{"internal/llamatest", []string{"internal/built", "internal/needs", "internal/redistest"}},
	{"internal/policytest", []string{"policy"}},
	{"internal/redistest", []string{"internal/needs"}},
	{"internal/yamlfile", []string{"internal/suggest"}},
	{"internal", nil},
	{"policy/sim", []string{"policy", "internal/container", "proxy/upstream"}},
	{"policy", []string{"internal/container", "proxy/upstream"}},
	{"embed", nil},
	{"topics", []string{"embed"}},
	{"store", []string{"policy"}},
	{"proxy/internal", nil},
	{"proxy/cache", []string{"policy", "embed", "topics", "store"}},
	{"proxy/canon", nil},
	{"proxy/answer", nil},
	{"proxy/api", []string{"proxy/canon", "proxy/answer", "proxy/internal"}},
	{"proxy/deadline", nil},
	{"proxy/tracing", []string{"internal/suggest"}},
	{"proxy/rules", []string{"proxy/canon"}},
	{"proxy/upstream", []string{"policy", "internal", "proxy/internal", "proxy/deadline", "proxy/tracing"}},
	{"proxy/gate", []string{"proxy/internal"}},
	{"proxy/observe", []string{"policy/sim", "policy", "topics/reuse", "internal/yamlfile", "proxy/rules", "proxy/cache", "proxy/upstream", "proxy/internal", "proxy/learn"}},
	{"proxy/admin", []string{"policy", "topics", "store", "proxy/internal", "proxy/observe"}},
	{"proxy", []string{"policy", "embed", "topics", "store", "proxy/internal", "proxy/cache", "proxy/canon", "proxy/answer",
		"proxy/api", "proxy/upstream", "proxy/gate", "proxy/rules", "proxy/observe", "proxy/tracing"}},
	{"cmd/internal", belowCmd},
	{"cmd/reprise", append([]string{"cmd/internal"}, belowCmd...)},
	{"cmd/reprise-lab", append([]string{"cmd/internal"}, belowCmd...)},
	{"deploy", nil},
	{".", nil},
}

// testImports are the rooms that the tests of a room may import too.
var testImports = map[string][]string{
	"policy": {"internal", "embed"}, "policy/sim": {"internal"}, "embed": {"internal"}, "topics": {"internal", "policy"},
	"store": {"internal", "embed", "policy/sim"}, "proxy/cache": {"internal", "policy/sim"}, "proxy/observe": {"internal", "policy/sim"},
	"proxy": {"proxy/admin", "internal"}, "proxy/canon": {"proxy/api", "internal"},
	"proxy/answer": {"proxy/api"}, "proxy/upstream": {"internal"}, "internal/enginesim": {"internal/dataset", "proxy/upstream"}, "cmd/reprise": {"internal"}, "cmd/reprise-lab": {"internal"},
	"deploy": {"internal"}, "internal/container": {"internal"},
}

func roomOf(dir string) *room {
	for i := range rooms {
		if within(dir, rooms[i].root) {
			return &rooms[i]
		}
	}
	return nil
}

func importsGoDown(s *source) (found []string) {
	own := roomOf(s.dir())
	if own == nil {
		return []string{s.breach(s.tree, "the folder %s is on no floor", s.dir())}
	}
	s.imports(func(spec *ast.ImportSpec, _, imported string) {
		if !within(imported, module) {
			return
		}
		target := roomOf(path.Clean("./" + strings.TrimPrefix(imported, module)))
		inTest := target != nil && s.isTest() && slices.Contains(testImports[own.root], target.root)
		if target == nil || target.root != own.root && !slices.Contains(own.from, target.root) && !inTest {
			found = append(found, s.breach(spec, "%s may not import %s", own.root, imported))
		}
	})
	return found
}

var upwards = []broken{
	{"policy/a.go", "package policy; import _ `reprise/embed`", "policy may not import reprise/embed"},
	{"policy/a.go", "package policy; import _ `reprise/internal/dataset`", "policy may not import reprise/internal/dataset"},
	{"policy/a.go", "package policy; import _ `reprise/policy/sim`", "policy may not import reprise/policy/sim"},
	{"embed/a_test.go", "package embed; import _ `reprise/topics`", "embed may not import reprise/topics"},
	{"topics/a.go", "package topics\n\nimport _ `reprise/store`", "topics/a.go:3: topics may not import reprise/store"},
	{"topics/a.go", "package topics; import _ `reprise/policy/reuse`", "topics may not import reprise/policy/reuse"},
	{"store/file/a.go", "package file; import _ `reprise/topics`", "store may not import reprise/topics"},
	{"store/a.go", "package store; import _ `reprise/proxy/canon`", "store may not import reprise/proxy/canon"},
	{"proxy/a.go", "package proxy; import _ `reprise/cmd/reprise/internal/config`", "proxy may not import reprise/cmd"},
	{"proxy/a.go", "package proxy; import _ `reprise/cmd/internal/cli`", "proxy may not import reprise/cmd/internal/cli"},
	{"cmd/reprise/a.go", "package main; import _ `reprise/cmd/reprise-lab/internal/report`", "cmd/reprise may not import reprise/cmd/reprise-lab"},
	{"cmd/internal/cli/a.go", "package cli; import _ `reprise/cmd/reprise/internal/config`", "cmd/internal may not import reprise/cmd/reprise"},
	{"proxy/a.go", "package proxy; import _ `reprise/utils`", "proxy may not import reprise/utils"},
	{"proxy/a.go", "package proxy; import _ `reprise/proxy/admin`", "proxy may not import reprise/proxy/admin"},
	{"proxy/admin/a_test.go", "package admin; import _ `reprise/proxy`", "proxy/admin may not import reprise/proxy"},
	{"proxy/upstream/a.go", "package upstream; import _ `reprise/store`", "proxy/upstream may not import reprise/store"},
	{"proxy/align/a.go", "package align; import _ `reprise/proxy/canon`", "proxy/align may not import reprise/proxy/canon"},
	{"proxy/upstream/dialect/a.go", "package dialect; import _ `reprise/proxy/canon`", "proxy/upstream may not import reprise/proxy/canon"},
	{"proxy/upstream/a.go", "package upstream; import _ `reprise/policy/sim/blocks`", "proxy/upstream may not import reprise/policy/sim/blocks"},
	{"policy/sim/blocks/a.go", "package blocks; import _ `reprise/proxy/enginesim`", "policy/sim may not import reprise/proxy/enginesim"},
	{"proxy/cache/a.go", "package cache; import _ `reprise/proxy/canon`", "proxy/cache may not import reprise/proxy/canon"},
	{"proxy/upstream/a.go", "package upstream; import _ `reprise/proxy/cache`", "proxy/upstream may not import reprise/proxy/cache"},
	{"proxy/canon/a.go", "package canon; import _ `reprise/proxy/api/chat`", "proxy/canon may not import reprise/proxy/api/chat"},
	{"proxy/answer/a.go", "package answer; import _ `reprise/proxy/canon`", "proxy/answer may not import reprise/proxy/canon"},
	{"proxy/api/chat/a.go", "package chat; import _ `reprise/store`", "proxy/api may not import reprise/store"},
	{"utils/a.go", "package utils", "utils is on no floor"},
}

// outside is a package of another module, and where it may be imported. Tests may be clients of the proxy.
type outside struct {
	path  string
	rooms []string
	tests bool // every test may import it too
}

// withoutHTTP are the rooms that do not use net/http.
var withoutHTTP = []string{"topics", "store", "proxy/cache"}

var web = []string{"proxy", "cmd"}

// chartTests are a module of their own, so that its many packages are not in the program's.
var chartTests = []string{"deploy/charttest"}

var allowed = []outside{
	{path: "github.com/viterin/vek", rooms: []string{"embed/vector.go"}},
	{path: "github.com/sashabaranov/go-openai", rooms: []string{"embed/openai"}, tests: true},
	{path: "github.com/openai/openai-go/v3", tests: true},
	{path: "github.com/coder/hnsw", tests: true},
	{path: "go.etcd.io/bbolt", rooms: []string{"store/file"}},
	{path: "github.com/klauspost/compress", rooms: []string{"store", "policy/sim"}},
	{path: "github.com/go-chi/chi/v5", rooms: web},
	{path: "github.com/tidwall/gjson", rooms: web},
	{path: "github.com/tidwall/sjson", rooms: web},
	{path: "github.com/prometheus/client_golang", rooms: web},
	{path: "github.com/cespare/xxhash/v2", rooms: []string{"proxy/upstream/prefix"}},
	{path: "github.com/tinylib/msgp", rooms: []string{"proxy/upstream/kvevents", "proxy/enginesim"}},
	{path: "github.com/sony/gobreaker/v2", rooms: []string{"proxy"}},
	{path: "go.opentelemetry.io", rooms: []string{"proxy/tracing"}},
	{path: "google.golang.org/protobuf", rooms: []string{"proxy/tracing/tracetest"}},
	{path: "github.com/redis/go-redis/v9", rooms: []string{"store/redis"}, tests: true},
	{path: "helm.sh/helm/v3", rooms: chartTests},
	{path: "k8s.io", rooms: chartTests},
	{path: "sigs.k8s.io/yaml", rooms: chartTests},
	{path: "github.com/prometheus-operator/prometheus-operator", rooms: chartTests},
	{path: "github.com/compose-spec/compose-go/v2", rooms: chartTests},
	{path: "go.yaml.in/yaml/v4", rooms: []string{"internal/yamlfile"}},
	{path: "golang.org/x/text", rooms: []string{"embed/model2vec"}},
	{path: "golang.org/x/sys", rooms: []string{"topics/internal/hamming", "topics/internal/hadamard"}},
	{path: "golang.org/x/term", rooms: []string{"cmd"}},
	{path: "gonum.org/v1/plot", rooms: []string{"cmd/reprise-lab/internal/report"}},
}

func outsidePackages(s *source) (found []string) {
	s.imports(func(spec *ast.ImportSpec, _, imported string) {
		first, _, _ := strings.Cut(imported, "/")
		if !strings.Contains(first, ".") { // the module itself and the standard library
			if imported == "net/http" && slices.ContainsFunc(withoutHTTP, func(root string) bool { return within(s.dir(), root) }) {
				found = append(found, s.breach(spec, "%s may not use HTTP", s.dir()))
			}
			return
		}
		for _, o := range allowed {
			in := func(root string) bool { return within(s.path, root) }
			if within(imported, o.path) && (o.tests && s.isTest() || slices.ContainsFunc(o.rooms, in)) {
				return
			}
		}
		found = append(found, s.breach(spec, "%s has no place here", imported))
	})
	return found
}

var misplaced = []broken{
	{"embed/fast.go", "package embed; import _ `github.com/viterin/vek/vek32`", "fast.go:1: github.com/viterin/vek/vek32 has no place"},
	{"embed/vector.go", "package embed; import _ `github.com/tidwall/gjson`", "gjson has no place"},
	{"proxy/embed.go", "package proxy; import _ `github.com/sashabaranov/go-openai`", "go-openai has no place"},
	{"proxy/client.go", "package proxy; import _ `github.com/openai/openai-go/v3/option`", "openai-go/v3/option has no place"},
	{"proxy/near.go", "package proxy; import _ `github.com/coder/hnsw`", "hnsw has no place"},
	{"store/disk.go", "package store; import _ `go.etcd.io/bbolt`", "bbolt has no place"},
	{"topics/disk_test.go", "package topics; import _ `go.etcd.io/bbolt`", "bbolt has no place"},
	{"proxy/pack.go", "package proxy; import _ `github.com/klauspost/compress/zstd`", "zstd has no place"},
	{"store/routes.go", "package store; import _ `github.com/go-chi/chi/v5`", "chi/v5 has no place"},
	{"store/read.go", "package store; import _ `github.com/tidwall/sjson`", "sjson has no place"},
	{"topics/count.go", "package topics; import _ `github.com/prometheus/client_golang/prometheus`", "prometheus has no place"},
	{"proxy/rules/file.go", "package rules; import _ `go.yaml.in/yaml/v4`", "yaml/v4 has no place"},
	{"topics/cpu.go", "package topics; import _ `golang.org/x/sys/cpu`", "x/sys/cpu has no place"},
	{"proxy/view.go", "package proxy; import _ `golang.org/x/term`", "term has no place"},
	{"cmd/reprise/new.go", "package main; import _ `example.org/new`", "example.org/new has no place"},
	{"cmd/reprise/plot.go", "package main; import _ `gonum.org/v1/plot`", "gonum.org/v1/plot has no place"},
	{"cmd/reprise-lab/plot.go", "package main; import _ `gonum.org/v1/plot/vg`", "gonum.org/v1/plot/vg has no place"},
	{"topics/serve.go", "package topics; import _ `net/http`", "topics may not use HTTP"},
	{"proxy/cache/serve.go", "package cache; import _ `net/http`", "proxy/cache may not use HTTP"},
	{"proxy/cache/shared.go", "package cache; import _ `github.com/redis/go-redis/v9`", "go-redis/v9 has no place"},
	{"store/file/serve.go", "package file; import _ `net/http`", "store/file may not use HTTP"},
}

func graphHasOneFile(all []*source) []string {
	var users []string
	for _, s := range all {
		s.imports(func(_ *ast.ImportSpec, _, imported string) {
			if within(imported, "github.com/coder/hnsw") {
				users = append(users, s.path)
			}
		})
	}
	if len(users) > 1 {
		return []string{fmt.Sprintf("github.com/coder/hnsw is imported by %d files: %s", len(users), strings.Join(users, ", "))}
	}
	return nil
}

var twoGraphs = []broken{{"topics/graph.go", "package topics; import _ `github.com/coder/hnsw`\n-- topics/more.go --\npackage topics; import _ `github.com/coder/hnsw`", "2 files: topics/graph.go, topics/more.go"}}

// impure are the packages of the standard library that a pure one does without, with all below them.
var impure = []string{"sync", "context", "net", "os", "io", "log", "syscall", "runtime"}

// clock and seeded are names of packages time and math/rand: those a pure package may not use, and the only ones it may.
var (
	clock  = []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"}
	seeded = []string{"New", "NewSource", "NewPCG", "NewChaCha8", "NewZipf", "Rand", "Source", "Source64", "PCG", "ChaCha8", "Zipf"}
)

// purity holds packages policy and embed to their laws: time and randomness come in as arguments, and there is no lock,
// goroutine or I/O. Package embed names a context, because the embedders below it need one.
func purity(s *source) (found []string) {
	if s.isTest() || s.dir() != "embed" && !within(s.dir(), "policy") || within(s.dir(), "policy/sim") {
		return nil
	}
	names := map[string]string{}
	s.imports(func(spec *ast.ImportSpec, name, imported string) {
		names[name] = imported
		in := func(root string) bool { return within(imported, root) }
		if name == "." || slices.ContainsFunc(impure, in) && (imported != "context" || s.dir() != "embed") {
			found = append(found, s.breach(spec, "a pure package does not import %s %s", name, imported))
		}
	})
	ast.Inspect(s.tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			found = append(found, s.breach(n, "a pure package starts no goroutine"))
		case *ast.SelectorExpr:
			x, ok := n.X.(*ast.Ident)
			if !ok {
				return true
			}
			from, member := names[x.Name], n.Sel.Name
			if from == "time" && slices.Contains(clock, member) || within(from, "math/rand") && !slices.Contains(seeded, member) {
				found = append(found, s.breach(n, "a pure package does not use %s.%s", from, member))
			}
		}
		return true
	})
	return found
}

var worldly = []broken{
	{"policy/a.go", "package policy; import _ `sync/atomic`", "import _ sync/atomic"},
	{"policy/a.go", "package policy; import _ `context`", "import _ context"},
	{"policy/reuse/a.go", "package reuse; import _ `os`", "import _ os"},
	{"embed/a.go", "package embed; import _ `net`", "import _ net"},
	{"embed/a.go", "package embed; import . `time`", "import . time"},
	{"embed/a.go", "package embed; func f() { go f() }", "starts no goroutine"},
	{"policy/a.go", "package policy; import `time`; var t = time.Now()", "does not use time.Now"},
	{"policy/a.go", "package policy; import clock `time`; var t = clock.Since", "does not use time.Since"},
	{"policy/a.go", "package policy; import `math/rand/v2`; var n = rand.IntN(6)", "does not use math/rand/v2.IntN"},
	{"policy/a.go", "package policy; import `math/rand`; var n = rand.Intn(6)", "does not use math/rand.Intn"},
}

// settings keeps flags and the environment in cmd. Tests may read the environment, and so may what only tests import.
func settings(s *source) (found []string) {
	if s.isTest() || within(s.dir(), "cmd") || within(s.dir(), "internal") {
		return nil
	}
	osName := ""
	s.imports(func(spec *ast.ImportSpec, name, imported string) {
		switch imported {
		case "flag":
			found = append(found, s.breach(spec, "flags are read in cmd alone"))
		case "os":
			osName = name
		}
	})
	ast.Inspect(s.tree, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok && osName != "" {
			x, _ := sel.X.(*ast.Ident)
			if x != nil && x.Name == osName && slices.Contains([]string{"Getenv", "LookupEnv", "Environ", "ExpandEnv", "Args"}, sel.Sel.Name) {
				found = append(found, s.breach(sel, "the environment is read in cmd alone"))
			}
		}
		return true
	})
	return found
}

var scattered = []broken{
	{"proxy/a.go", "package proxy; import _ `flag`", "flags are read in cmd alone"},
	{"proxy/canon/a.go", "package canon; import `os`; var a = os.Getenv(`A`)", "environment is read in cmd alone"},
	{"store/a.go", "package store; import env `os`; var a = env.Args", "environment is read in cmd alone"},
}
