package main

import (
	"go/ast"
	"path"
	"slices"
)

// typeName is a type by the folder of its package and its name.
type typeName struct{ dir, name string }

func (t typeName) String() string { return t.dir + "." + t.name }

// typeTable holds the types outside tests with what is called on them.
type typeTable struct {
	declared map[typeName]bool
	methods  map[typeName]map[string]bool // declared, and functions that take *T first
	embedded map[typeName][]typeName
}

// readTypes collects the methods of every type. A function whose first parameter is *T counts as a method of T. A method with a
// variant per platform counts once.
func readTypes(all []*source) *typeTable {
	t := &typeTable{map[typeName]bool{}, map[typeName]map[string]bool{}, map[typeName][]typeName{}}
	for _, s := range all {
		if s.isTest() {
			continue
		}
		for _, d := range s.tree.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				t.function(s, d)
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if spec, ok := spec.(*ast.TypeSpec); ok {
						t.declare(s, spec)
					}
				}
			}
		}
	}
	return t
}

func (t *typeTable) function(s *source, d *ast.FuncDecl) {
	var owner ast.Expr
	if d.Recv != nil {
		owner = d.Recv.List[0].Type
	} else if params := d.Type.Params.List; len(params) > 0 {
		if pointer, ok := params[0].Type.(*ast.StarExpr); ok {
			owner = pointer
		}
	}
	if name, ok := named(s, owner); ok && name.dir == s.dir() {
		t.add(name, d.Name.Name)
	}
}

func (t *typeTable) declare(s *source, spec *ast.TypeSpec) {
	own := typeName{s.dir(), spec.Name.Name}
	t.declared[own] = true
	switch body := spec.Type.(type) {
	case *ast.StructType:
		for _, field := range body.Fields.List {
			if inner, ok := named(s, field.Type); ok && len(field.Names) == 0 {
				t.embedded[own] = append(t.embedded[own], inner)
			}
		}
	case *ast.InterfaceType:
		for _, field := range body.Methods.List {
			for _, name := range field.Names {
				t.add(own, name.Name)
			}
			if inner, ok := named(s, field.Type); ok && len(field.Names) == 0 {
				t.embedded[own] = append(t.embedded[own], inner)
			}
		}
	}
}

func (t *typeTable) add(name typeName, method string) {
	if t.methods[name] == nil {
		t.methods[name] = map[string]bool{}
	}
	t.methods[name][method] = true
}

// all returns the methods of a type with those that embedding promotes.
func (t *typeTable) all(name typeName) map[string]bool {
	found, seen := map[string]bool{}, map[typeName]bool{}
	var visit func(typeName)
	visit = func(name typeName) {
		if seen[name] {
			return
		}
		seen[name] = true
		for method := range t.methods[name] {
			found[method] = true
		}
		for _, inner := range t.embedded[name] {
			visit(inner)
		}
	}
	visit(name)
	return found
}

// named returns the type of this project that an expression names, without pointer and type parameters.
func named(s *source, e ast.Expr) (typeName, bool) {
	switch e := e.(type) {
	case *ast.StarExpr:
		return named(s, e.X)
	case *ast.IndexExpr:
		return named(s, e.X)
	case *ast.IndexListExpr:
		return named(s, e.X)
	case *ast.Ident:
		return typeName{s.dir(), e.Name}, true
	case *ast.SelectorExpr:
		x, ok := e.X.(*ast.Ident)
		if !ok {
			return typeName{}, false
		}
		found, ok := typeName{}, false
		s.imports(func(_ *ast.ImportSpec, name, imported string) {
			if dir, ours := folder(imported); ours && name == x.Name {
				found, ok = typeName{dir, e.Sel.Name}, true
			}
		})
		return found, ok
	}
	return typeName{}, false
}

// exported returns the exported top-level names of a file and the exported methods of its types, and which of them have no comment.
func exported(s *source) (names, undocumented []string) {
	check := func(name *ast.Ident, prefix string, docs ...*ast.CommentGroup) {
		if !name.IsExported() {
			return
		}
		names = append(names, prefix+name.Name)
		if !slices.ContainsFunc(docs, func(d *ast.CommentGroup) bool { return d.Text() != "" }) {
			undocumented = append(undocumented, s.at(name)+" "+prefix+name.Name)
		}
	}
	for _, d := range s.tree.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				check(d.Name, "", d.Doc)
			} else if owner, _ := named(s, d.Recv.List[0].Type); ast.IsExported(owner.name) {
				check(d.Name, owner.name+".", d.Doc)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					check(spec.Name, "", d.Doc, spec.Doc)
				case *ast.ValueSpec:
					for _, name := range spec.Names {
						check(name, "", d.Doc, spec.Doc, spec.Comment)
					}
				}
			}
		}
	}
	return names, undocumented
}

// functionFields returns the struct fields of a file that are functions.
func functionFields(s *source) (found []string) {
	ast.Inspect(s.tree, func(n ast.Node) bool {
		body, ok := n.(*ast.StructType)
		if !ok {
			return true
		}
		for _, field := range body.Fields.List {
			if _, ok := field.Type.(*ast.FuncType); !ok {
				continue
			}
			for _, name := range field.Names {
				found = append(found, s.at(name)+" "+path.Base(s.dir())+" "+name.Name)
			}
		}
		return true
	})
	return found
}
