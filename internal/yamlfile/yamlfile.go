// Package yamlfile reads the YAML files of an operator strictly, over the nodes that go.yaml.in/yaml parses. Everything in them has its place,
// for messages: the library's own decoding into structs names neither the path of a field nor what is allowed there, and takes duplicates, merge
// keys and aliases.
//
//	d, err := yamlfile.Read(path)               // no YAML, or not of the plain kind: err has the place
//	rules, _ := d.Root().Fields("rules").Get("rules")
//	for rule := range rules.List("a list of rules") {
//		f := rule.Fields("name", "ttl")               // another field is a problem, with the nearest name
//		if v, ok := f.Get("ttl"); ok { … v.Bad("allowed is a duration") … }
//	}
//	return d.Err()                              // all problems, in the order of the file
//
// A file is one document of lists, fields and values. Anchors, aliases, tags and merge keys are refused: they make a small file large, and a
// reader has to follow them. So are a field that is given twice, and files that are too large or too deep. A value is its text as it is
// written, without quotes: 0.10, yes and 24h mean what the reader of the value makes of them, not what some version of YAML does. No message
// has the text of a value, which may be a secret; a reader that adds one decides that.
package yamlfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// Limits of a file.
const (
	maxBytes = 1 << 20
	maxDepth = 16 // lists and fields within each other
)

// Document is a file, and what its readers have found wrong. It is for one goroutine.
type Document struct {
	name     string
	root     *yaml.Node
	problems []Problem
}

// Read reads the file of a path. The error names the path.
func Read(path string) (*Document, error) {
	text, err := Content(path)
	if err != nil {
		return nil, err
	}
	return Parse(path, text)
}

// Content is the text of a file, or of one that is too large a beginning that Parse refuses: it may be the wrong file, and even a device. The
// error names the path.
func Content(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, bare(err))
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, bare(err))
	}
	return text, nil
}

// bare returns the cause of err without the path, which the caller adds.
func bare(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}

// Parse reads a text that messages call name. The error is an *Error with the place of what is no YAML, or of what this package refuses. It
// takes memory of some hundred times the text.
func Parse(name string, text []byte) (*Document, error) {
	d := &Document{name: name}
	if problem := d.parse(text); problem != nil {
		return nil, &Error{name, []Problem{*problem}}
	}
	d.check(d.root, "", 0)
	if err := d.Err(); err != nil {
		return nil, err
	}
	return d, nil
}

func (d *Document) parse(text []byte) *Problem {
	if len(text) > maxBytes {
		return &Problem{Text: fmt.Sprintf("the file is larger than %d KiB", maxBytes>>10)}
	}
	number := 0
	for line := range bytes.Lines(text) {
		if number++; !utf8.Valid(line) {
			return &Problem{Line: number, Text: "the text is not UTF-8"}
		}
	}
	var document, second yaml.Node
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	err := decoder.Decode(&document)
	if errors.Is(err, io.EOF) || err == nil && (len(document.Content) == 0 || empty(document.Content[0])) {
		return &Problem{Text: "the file is empty"} // an editor may be about to write it
	}
	if err == nil {
		d.root = document.Content[0]
		switch err = decoder.Decode(&second); {
		case err == nil:
			return &Problem{Line: second.Line, Column: second.Column, Text: "a second document begins; a file has one"}
		case errors.Is(err, io.EOF):
			return nil
		}
	}
	return syntax(err)
}

// empty reports whether nothing is written where a value belongs.
func empty(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }

// syntax is the problem of a text that is no YAML.
func syntax(err error) *Problem {
	p := &Problem{Text: "this is no YAML: " + err.Error()}
	if at, ok := errors.AsType[*yaml.LoadError](err); ok {
		p = &Problem{Line: at.Mark.Line, Column: at.Mark.Column, Text: "this is no YAML: " + at.Message}
		if strings.HasPrefix(at.Message, "found character that cannot start any token") {
			p.Text += "; lines are indented by spaces only, and a value that begins with @ or ` needs quotes"
		}
		if strings.HasPrefix(at.Message, "unknown anchor") { // the message has its name, which may be a secret that begins with *
			p.Text = noAliases + "; a value that begins with * needs quotes"
		}
	}
	return p
}

const noAliases = "anchors and aliases are not read: write the value in each place"

// check refuses what makes a file hard to read.
func (d *Document) check(n *yaml.Node, path string, depth int) {
	v := Value{d, n, path}
	switch {
	case depth > maxDepth:
		v.Bad("lists and fields are more than %d deep", maxDepth)
		return
	case n.Kind == yaml.AliasNode || n.Anchor != "":
		v.Bad(noAliases)
		return
	case n.Style&yaml.TaggedStyle != 0:
		v.Bad("tags such as !!str are not read: a value in quotes is a text")
		return
	}
	switch n.Kind {
	case yaml.SequenceNode:
		for i, item := range n.Content {
			d.check(item, fmt.Sprintf("%s[%d]", path, i), depth+1)
		}
	case yaml.MappingNode:
		d.checkFields(v, depth)
	}
}

func (d *Document) checkFields(v Value, depth int) {
	lines := map[string]int{}
	for i := 0; i+1 < len(v.node.Content); i += 2 {
		key, content := v.node.Content[i], v.node.Content[i+1]
		at := Value{d, key, v.path}
		switch first, twice := lines[key.Value]; {
		case key.Kind != yaml.ScalarNode || empty(key):
			at.Bad("the name of a field is one word")
		case key.Value == "<<" && key.Style == 0:
			at.Bad(noAliases)
		case key.Anchor != "" || key.Style&yaml.TaggedStyle != 0:
			d.check(key, v.path, depth+1)
		case twice:
			at.Bad("the field %q is given twice, first in line %d", shortened(key.Value), first)
		default:
			lines[key.Value] = key.Line
			d.check(content, joined(v.path, key.Value), depth+1)
		}
	}
}

func joined(path, name string) string {
	if path == "" {
		return shortened(name)
	}
	return path + "." + shortened(name)
}

// shortened keeps a name that is a whole text from filling a message.
func shortened(name string) string {
	const most = 60
	if len(name) > most {
		return strings.ToValidUTF8(name[:most], "") + "…"
	}
	return name
}
