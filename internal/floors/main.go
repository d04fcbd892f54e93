// Command floors reports on the structure of this repository: how large its packages, files, functions and types are, what they export,
// and where code is packed or words are unclear. The figures are advice; the last table has those that are compared between releases.
//
//	go run ./internal/floors          # the ten largest of each kind
//	go run ./internal/floors -all     # everything
//
// The tests of this package hold what is a rule: which package imports which, that pure packages are pure, and that the documents are true.
package main

import (
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"io"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
)

func main() {
	whole := flag.Bool("all", false, "print every row of each list")
	flag.Parse()
	if err := report(os.Stdout, os.DirFS("."), *whole); err != nil {
		fmt.Fprintln(os.Stderr, "floors:", err)
		os.Exit(1)
	}
}

// Limits from which a thing is listed. They are for eyes.
const (
	largeFile = 500 // lines
	largeFunc = 60  // lines
	wideType  = 25  // methods, with promoted ones and functions that take the type first
	most      = 10  // rows of a list without -all
)

// row is a line of a list, which is sorted by size.
type row struct {
	size int
	text string
}

// printer writes lists.
type printer struct {
	out   io.Writer
	whole bool
}

// list prints a heading with the number of rows, and the rows with the largest sizes.
func (p printer) list(title string, rows []row) {
	fmt.Fprintf(p.out, "\n== %s: %d\n", title, len(rows))
	slices.SortStableFunc(rows, func(a, b row) int { return b.size - a.size })
	for i, r := range rows {
		if i == most && !p.whole {
			fmt.Fprintln(p.out, "     …")
			return
		}
		fmt.Fprintf(p.out, "%6d  %s\n", r.size, r.text)
	}
}

// places prints how many places each package has, or the places themselves.
func (p printer) places(title string, all []*source, find func(*source) []string) {
	var rows []row
	by, n := map[string]int{}, 0
	for _, s := range all {
		for i, place := range find(s) {
			n++
			by[s.dir()]++
			if p.whole {
				rows = append(rows, row{-i, place})
			}
		}
	}
	for dir, n := range by {
		rows = append(rows, row{n, dir})
	}
	slices.SortFunc(rows, func(a, b row) int { return strings.Compare(a.text, b.text) })
	p.list(fmt.Sprintf("%s (%d)", title, n), rows)
}

func report(out io.Writer, fsys fs.FS, whole bool) error {
	all, err := readSources(fsys)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(all, func(s *source) bool { return within(s.dir(), lab) }) {
		return errors.New("find " + lab + ": this is not the root of the repository")
	}
	p := printer{out, whole}
	p.sizes(all)
	p.typesAndImports(all)
	code := slices.DeleteFunc(slices.Clone(all), (*source).isTest)
	p.places("exported names without a comment, by package", code, func(s *source) []string { _, bare := exported(s); return bare })
	p.places("struct fields that are functions, by package", code, functionFields)
	p.places("lines with several statements or three values assigned, by package", code, packedLines)
	p.places(fmt.Sprintf("lines over %d characters, by package", longLine), code, longLines)
	p.places("unclear words, by package", all, unclearSource)
	p.figures(all)
	return nil
}

// sizes prints the lines and bytes of packages, and the long files and functions.
func (p printer) sizes(all []*source) {
	type size struct{ lines, bytes, tests int }
	packages := map[string]*size{}
	var files, functions []row
	for _, s := range all {
		if packages[s.dir()] == nil {
			packages[s.dir()] = &size{}
		}
		of := packages[s.dir()]
		if s.lines > largeFile {
			files = append(files, row{s.lines, s.path})
		}
		if s.isTest() {
			of.tests += s.lines
			continue
		}
		of.lines += s.lines
		of.bytes += len(s.text)
		for _, d := range s.tree.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && s.length(f) > largeFunc {
				functions = append(functions, row{s.length(f), s.at(f) + " " + f.Name.Name})
			}
		}
	}
	var rows []row
	for dir, n := range packages {
		rows = append(rows, row{n.lines, fmt.Sprintf("%-40s %8d bytes %6d lines of tests", dir, n.bytes, n.tests)})
	}
	p.list("lines of packages, without tests", rows)
	p.list(fmt.Sprintf("files over %d lines", largeFile), files)
	p.list(fmt.Sprintf("functions over %d lines", largeFunc), functions)
}

// typesAndImports prints the types with most methods, and the packages that one other package imports.
func (p printer) typesAndImports(all []*source) {
	table := readTypes(all)
	var types []row
	for name := range table.declared {
		if n := len(table.all(name)); n > wideType {
			types = append(types, row{n, fmt.Sprintf("%s, %d of them promoted", name, n-len(table.methods[name]))})
		}
	}
	importers := map[string]map[string]bool{}
	for _, s := range all {
		s.imports(func(_ *ast.ImportSpec, _, imported string) {
			dir, ours := folder(imported)
			if !ours || s.isTest() || dir == s.dir() {
				return
			}
			if importers[dir] == nil {
				importers[dir] = map[string]bool{}
			}
			importers[dir][s.dir()] = true
		})
	}
	var single []row
	for dir, from := range importers {
		for importer := range from {
			if len(from) == 1 {
				single = append(single, row{1, dir + ", by " + importer})
			}
		}
	}
	for _, rows := range [][]row{types, single} {
		slices.SortFunc(rows, func(a, b row) int { return strings.Compare(a.text, b.text) })
	}
	p.list(fmt.Sprintf("types over %d methods", wideType), types)
	p.list("packages with one importer", single)
}

// figures prints the numbers that are compared between releases. The product is what is linked into its program.
func (p printer) figures(all []*source) {
	product := linked(all, "cmd/reprise")
	var lines, bytes, names, functions, rigs, labLines, labBytes, tests, settings int
	for _, s := range all {
		switch {
		case s.isTest():
			tests += s.lines
		case product[s.dir()]:
			lines += s.lines
			bytes += len(s.text)
			all, _ := exported(s)
			names += len(all)
			functions += len(functionFields(s))
			if within(s.dir(), "cmd/reprise/internal/config") && path.Base(s.path) != "removed.go" {
				settings += len(setting.FindAll(s.text, -1))
			}
		case within(s.dir(), lab):
			labLines += s.lines
			labBytes += len(s.text)
		default:
			rigs += s.lines
		}
	}
	fmt.Fprintf(p.out, "\n== figures\n")
	for _, f := range []row{
		{lines, "lines of the product, without tests"}, {bytes, "bytes of them"},
		{labLines, "lines of the laboratory, without tests"}, {labBytes, "bytes of them"},
		{rigs, "lines in neither: what only tests import"}, {tests, "lines of tests of both"},
		{len(product), "packages linked into reprise"}, {names, "exported names of the product: top level and methods"},
		{functions, "struct fields of the product that are functions"}, {settings, "settings"},
	} {
		fmt.Fprintf(p.out, "%9d  %s\n", f.size, f.text)
	}
}

// setting matches the name in a row of the table of settings.
var setting = regexp.MustCompile(`\bName: +"[A-Z][A-Z0-9_]+"`)
