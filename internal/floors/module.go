package main

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// module is the path of the product's module, and the prefix of the laboratory's.
const module = "reprise"

// lab is the folder of the laboratory, a module of its own that is counted apart.
const lab = "cmd/reprise-lab"

// source is one Go file, for any platform.
type source struct {
	path  string // below the root of the repository
	text  []byte
	lines int
	fset  *token.FileSet
	tree  *ast.File
}

func (s *source) dir() string           { return path.Dir(s.path) }
func (s *source) isTest() bool          { return strings.HasSuffix(s.path, "_test.go") }
func (s *source) line(p token.Pos) int  { return s.fset.Position(p).Line }
func (s *source) at(n ast.Node) string  { return s.path + ":" + strconv.Itoa(s.line(n.Pos())) }
func (s *source) length(n ast.Node) int { return s.line(n.End()) - s.line(n.Pos()) + 1 }

// imports calls f with every import and the name it has in the file.
func (s *source) imports(f func(spec *ast.ImportSpec, name, imported string)) {
	for _, spec := range s.tree.Imports {
		imported, _ := strconv.Unquote(spec.Path.Value) // the parser has checked the string
		name := path.Base(imported)
		if name == "v2" { // math/rand/v2 is the only such package whose name matters here
			name = path.Base(path.Dir(imported))
		}
		if spec.Name != nil {
			name = spec.Name.Name
		}
		f(spec, name, imported)
	}
}

// folder returns the folder of an imported package, or false if it belongs to another project.
func folder(imported string) (string, bool) {
	if !within(imported, module) {
		return "", false
	}
	return path.Clean("./" + strings.TrimPrefix(imported, module)), true
}

// within reports whether an import path or a folder is root or lies below it.
func within(p, root string) bool { return p == root || strings.HasPrefix(p, root+"/") }

// readSources parses every Go file of the modules in fsys, outside testdata.
func readSources(fsys fs.FS) ([]*source, error) {
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
		s := &source{path: p, fset: token.NewFileSet()}
		if s.text, err = fs.ReadFile(fsys, p); err != nil {
			return err
		}
		s.lines = bytes.Count(s.text, []byte("\n"))
		s.tree, err = parser.ParseFile(s.fset, p, s.text, parser.ParseComments|parser.SkipObjectResolution)
		all = append(all, s)
		return err
	})
	return all, err
}

// linked returns the folders of the packages that a program consists of, on any platform.
func linked(all []*source, program string) map[string]bool {
	from := map[string][]string{}
	for _, s := range all {
		if s.isTest() {
			continue
		}
		s.imports(func(_ *ast.ImportSpec, _, imported string) {
			if dir, ok := folder(imported); ok {
				from[s.dir()] = append(from[s.dir()], dir)
			}
		})
	}
	found := map[string]bool{}
	var visit func(string)
	visit = func(dir string) {
		if found[dir] {
			return
		}
		found[dir] = true
		for _, next := range from[dir] {
			visit(next)
		}
	}
	visit(program)
	return found
}
