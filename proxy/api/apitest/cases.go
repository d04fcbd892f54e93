package apitest

import (
	"path/filepath"
	"strings"
	"testing"
)

// Case is a reply of a vendor to a request, and what must become of it. A file of proxy/answer/testdata/cases is one case:
//
//	What it shows, and its source.
//
//	-- request: POST /v1/chat/completions --
//	{"model":…}
//	-- reply: text/event-stream --
//	data: …
//
//	-- kept: yes --
//	-- other form --
//	{"id":…}
//
// kept is "yes"; "tool-calls" or "live-web" where it is kept if an operator allows that; or "no", with or without the reason. A stream
// that is kept has its object as the other form, "none" where no object says the same; an object has "equal", a stream that says the same.
type Case struct {
	Name, Title       string
	Path, Request     string
	ContentType, Body string // of the reply, as sent
	Kept, Other       string
}

// Cases reads the cases in a folder.
func Cases(t testing.TB, dir string) (all []Case) {
	t.Helper()
	for _, path := range files(t, filepath.Join(dir, "*.txt")) {
		c := Case{Name: strings.TrimSuffix(filepath.Base(path), ".txt")}
		section := &c.Title
		for line := range strings.Lines(string(read(t, path))) {
			if mark, ok := strings.CutPrefix(line, "-- "); ok {
				name, value, _ := strings.Cut(strings.TrimSuffix(mark, " --\n"), ": ")
				switch name {
				case "request":
					c.Path, section = strings.TrimPrefix(value, "POST "), &c.Request
				case "reply":
					c.ContentType, section = value, &c.Body
				case "kept":
					c.Kept = value
				case "other form":
					c.Other, section = value, &c.Other
				default:
					t.Fatalf("%s has a section %q", path, name)
				}
				continue
			}
			*section += line
		}
		if c.Path == "" || c.ContentType == "" || c.Kept == "" {
			t.Fatalf("%s lacks a section", path)
		}
		all = append(all, c)
	}
	return all
}
