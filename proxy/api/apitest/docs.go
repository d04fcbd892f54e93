package apitest

import (
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"reprise/proxy/api"
)

// Statement is a place in the documentation of OpenAI's Go package that states a default.
type Statement struct {
	Field        string // of the table of defaults
	Type, Member string // Go names; without Member, the comment of the type counts
	Words        string // in the comment, which white space apart has them
}

// Stated checks that the comments of a Go package say what the table of defaults of f has, of which each statement is about one row.
func Stated(t *testing.T, f api.Family, importPath string, statements ...Statement) {
	pkg, err := build.Import(importPath, ".", build.FindOnly)
	if err != nil {
		t.Fatal(err)
	}
	comments := commentsIn(t, pkg.Dir)
	for _, s := range statements {
		if !hasRow(f, s.Field) {
			t.Errorf("%s is in no row", s.Field)
		}
		name := strings.TrimSuffix(s.Type+"."+s.Member, ".")
		if text := comments[name]; !strings.Contains(text, s.Words) {
			t.Errorf("%s: the comment of %s does not have %q: %q", s.Field, name, s.Words, text)
		}
	}
}

func hasRow(f api.Family, field string) bool {
	for _, row := range f.Requests.Defaults.Rows() {
		if row.Field == field {
			return true
		}
	}
	return false
}

// commentsIn returns the comments of the types of a package, and of the fields of its structs, each as one line.
func commentsIn(t *testing.T, dir string) map[string]string {
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("%s: no files: %v", dir, err)
	}
	found := map[string]string{}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if d, ok := d.(*ast.GenDecl); ok && d.Tok == token.TYPE {
				addComments(found, d)
			}
		}
	}
	return found
}

func addComments(to map[string]string, d *ast.GenDecl) {
	oneLine := func(c *ast.CommentGroup) string { return strings.Join(strings.Fields(c.Text()), " ") }
	for _, spec := range d.Specs {
		spec := spec.(*ast.TypeSpec)
		to[spec.Name.Name] = oneLine(d.Doc)
		of, ok := spec.Type.(*ast.StructType)
		if !ok {
			continue
		}
		for _, field := range of.Fields.List {
			for _, name := range field.Names {
				to[spec.Name.Name+"."+name.Name] = oneLine(field.Doc)
			}
		}
	}
}
