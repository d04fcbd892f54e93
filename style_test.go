package reprise_test

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"
)

func packageComments(all []*source) (found []string) {
	comments := map[string]int{}
	for _, s := range all {
		comments[s.dir()] += 0 // a folder without any counts too
		if s.tree.Doc == nil {
			continue
		}
		comments[s.dir()]++
		want := "Package " + s.tree.Name.Name + " "
		if s.tree.Name.Name == "main" {
			want = "Command "
		}
		if !strings.HasPrefix(s.tree.Doc.Text(), want) {
			found = append(found, s.breach(s.tree, "the comment does not begin with %q", want))
		}
	}
	for dir, n := range comments {
		if n != 1 {
			found = append(found, fmt.Sprintf("%s: %d package comments, not one", dir, n))
		}
	}
	slices.Sort(found)
	return found
}

var miscommented = []broken{
	{"a/a.go", "package a", "a: 0 package comments"},
	{"a/a.go", "// Package a is one.\npackage a\n-- a/b_test.go --\n// Package a is two.\npackage a", "a: 2 package comments"},
	{"a/a.go", "// a is what.\npackage a", `does not begin with "Package a "`},
	{"cmd/a/a.go", "// Package main runs.\npackage main", `does not begin with "Command "`},
}

// plain are methods that need no comment: packages fmt and errors define them.
var plain = []string{"Error", "String", "Unwrap"}

func documented(s *source) (found []string) {
	if s.isTest() || s.tree.Name.Name == "main" {
		return nil
	}
	check := func(name *ast.Ident, docs ...*ast.CommentGroup) {
		has := func(d *ast.CommentGroup) bool { return d != nil && strings.TrimSpace(d.Text()) != "" }
		if name.IsExported() && !slices.ContainsFunc(docs, has) {
			found = append(found, s.breach(name, "%s is exported and not documented", name.Name))
		}
	}
	for _, d := range s.tree.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil || receiver(d).IsExported() && !slices.Contains(plain, d.Name.Name) {
				check(d.Name, d.Doc)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					check(spec.Name, d.Doc, spec.Doc)
				case *ast.ValueSpec:
					for _, name := range spec.Names {
						check(name, d.Doc, spec.Doc, spec.Comment)
					}
				}
			}
		}
	}
	return found
}

// receiver is the type that a method belongs to, without pointer and type parameters.
func receiver(d *ast.FuncDecl) (name *ast.Ident) {
	ast.Inspect(d.Recv.List[0].Type, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && name == nil {
			name = id
		}
		return name == nil
	})
	return name
}

var undocumented = []broken{
	{"a/a.go", "package a; func F() {}", "F is exported and not documented"},
	{"a/a.go", "package a\n\n// T is.\ntype T[P any] struct{}\n\nfunc (t *T[P]) M() {}", "M is exported and not documented"},
	{"a/a.go", "package a\n\ntype T int\n\ntype t int\n\nfunc (t) M() {}", "T is exported and not documented"},
	{"a/a.go", "package a\n\nvar ErrA, errB error", "ErrA is exported and not documented"},
	{"a/a.go", "package a\n\nconst (\n\tA = 1 // the first\n\tB = 2\n)", "B is exported and not documented"},
	{"a/a.go", "package a\n\n//go:noinline\nfunc F() {}", "F is exported and not documented"},
}

const (
	maxFile    = 500 // lines
	maxFunc    = 80  // lines; more than 60 are rarely one step
	maxMethods = 5
)

func sizes(s *source) (found []string) {
	if s.lines > maxFile {
		found = append(found, fmt.Sprintf("%s: %d lines, more than %d", s.path, s.lines, maxFile))
	}
	for _, d := range s.tree.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || s.isTest() {
			continue
		}
		if n := s.line(f.End()) - s.line(f.Pos()) + 1; n > maxFunc {
			found = append(found, s.breach(f, "%s has %d lines, more than %d", f.Name.Name, n, maxFunc))
		}
	}
	return found
}

var large = []broken{
	{"a/a_test.go", "package a\n" + strings.Repeat("\n", maxFile), "a/a_test.go: 501 lines"},
	{"a/a.go", "package a\n\nfunc f() {\n" + strings.Repeat("\n", maxFunc-1) + "}\n", "a/a.go:3: f has 81 lines"},
}

// interfaces counts methods, those of embedded interfaces of the same package too.
func interfaces(all []*source) (found []string) {
	declared := map[string]*ast.InterfaceType{} // by folder and name
	eachInterface(all, func(s *source, name string, i *ast.InterfaceType) { declared[s.dir()+"."+name] = i })
	eachInterface(all, func(s *source, name string, i *ast.InterfaceType) {
		if n := methods(declared, s.dir(), i); n > maxMethods {
			found = append(found, s.breach(i, "%s has %d methods, more than %d", name, n, maxMethods))
		}
	})
	return found
}

func eachInterface(all []*source, f func(*source, string, *ast.InterfaceType)) {
	for _, s := range all {
		ast.Inspect(s.tree, func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok {
				if i, ok := spec.Type.(*ast.InterfaceType); ok {
					f(s, spec.Name.Name, i)
				}
			}
			return true
		})
	}
}

func methods(declared map[string]*ast.InterfaceType, dir string, i *ast.InterfaceType) (n int) {
	for _, m := range i.Methods.List {
		n += len(m.Names)
		if id, ok := m.Type.(*ast.Ident); ok && len(m.Names) == 0 && declared[dir+"."+id.Name] != nil {
			n += methods(declared, dir, declared[dir+"."+id.Name])
		}
	}
	return n
}

var wide = []broken{
	{"a/a.go", "package a; type I interface { A(); B(); C(); D(); E(); F() }", "I has 6 methods"},
	{"a/a.go", "package a; type I interface { A(); B(); C() }; type J interface { I; D(); E(); F() }", "J has 6 methods"},
}

const (
	maxTypeMethods = 25 // a type of more does two jobs
	maxPackage     = 30 // files
)

// types counts the methods of each type outside tests. A method with a variant per platform counts once.
func types(all []*source) (found []string) {
	declared := map[string]map[string]bool{} // names by folder and type
	for _, s := range all {
		for _, d := range s.tree.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv == nil || s.isTest() {
				continue
			}
			name := s.dir() + "." + receiver(f).Name
			if declared[name] == nil {
				declared[name] = map[string]bool{}
			}
			declared[name][f.Name.Name] = true
		}
	}
	for name, methods := range declared {
		if len(methods) > maxTypeMethods {
			found = append(found, fmt.Sprintf("%s has %d methods, more than %d", name, len(methods), maxTypeMethods))
		}
	}
	slices.Sort(found)
	return found
}

var busy = []broken{
	{"a/a.go", "package a; type T struct{}\n" + repeated("func (T) M%d() {}\n", maxTypeMethods+1), "a.T has 26 methods"},
	{"a/a.go", "package a; type T[P any] struct{}\n" + repeated("func (*T[P]) M%d() {}\n", maxTypeMethods) +
		"-- a/b.go --\npackage a; func (*T[P]) N() {}\n-- a/a_test.go --\npackage a; func (*T[P]) test() {}", "a.T has 26 methods"},
}

// packages counts the files of each package outside tests.
func packages(all []*source) (found []string) {
	files := map[string]int{}
	for _, s := range all {
		if !s.isTest() {
			files[s.dir()]++
		}
	}
	for dir, n := range files {
		if n > maxPackage {
			found = append(found, fmt.Sprintf("%s has %d files, more than %d", dir, n, maxPackage))
		}
	}
	slices.Sort(found)
	return found
}

var crowded = []broken{
	{"a/a.go", "package a\n" + repeated("-- a/b%d.go --\npackage a\n", maxPackage) + "-- a/a_test.go --\npackage a", "a has 31 files"},
}

// repeated is n texts after each other, numbered.
func repeated(format string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}
