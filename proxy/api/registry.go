package api

import (
	"fmt"
	"maps"
	"net/url"
	"strings"

	"reprise/proxy/answer"
	"reprise/proxy/canon"
)

// Registry is the APIs that are cached. It does not change once made.
type Registry struct {
	names    canon.Names // known to any of them
	families []*Family
	forms    []*answer.Form
}

// NewRegistry returns a registry of families. In each of them the names known to any of them are known: gateways accept the
// fields of one API in the requests of another. The names inside a field belong to the user where the API itself says so. It panics where two families have the same name, path or code, or one has
// two codes.
func NewRegistry(families ...Family) *Registry {
	r := &Registry{names: canon.CommonNames()}
	for _, f := range families {
		r.names.Add(f.Requests.Names)
		r.add(f)
	}
	for _, f := range r.families {
		rules := *f.Requests
		rules.Names = maps.Clone(r.names)
		maps.Copy(rules.Names, f.Requests.Names)
		f.Requests = &rules
	}
	return r
}

func (r *Registry) add(f Family) {
	if f.Requests.Code != f.Answers.Code {
		panic(fmt.Sprintf("API %s has the code %d in keys and %d in answers", f.Name, f.Requests.Code, f.Answers.Code))
	}
	for _, other := range r.families {
		if f.Name == other.Name || f.Path == other.Path || f.Requests.Code == other.Requests.Code {
			panic(fmt.Sprintf("APIs %s and %s share a name, path or code", f.Name, other.Name))
		}
	}
	r.families = append(r.families, &f)
	r.forms = append(r.forms, f.Answers)
}

// Families returns the APIs in the order of NewRegistry; the caller must not change the result.
func (r *Registry) Families() []*Family { return r.families }

// Ignore returns what an operator ignores in requests, by names of fields and by patterns; see [canon.NewIgnore].
func (r *Registry) Ignore(fields, patterns []string) (*canon.Ignore, error) {
	return canon.NewIgnore(r.names, fields, patterns)
}

// ByPath returns the API of an endpoint, of which the path is canonical or one of Azure's older API; nil where none is cached.
func (r *Registry) ByPath(path string) *Family {
	path = older(path)
	for _, f := range r.families {
		if f.Path == path {
			return f
		}
	}
	return nil
}

// Decode reads a stored answer; see [answer.Decode].
func (r *Registry) Decode(b []byte) (*answer.Frozen, error) { return answer.Decode(b, r.forms) }

// Naming returns the API whose requests, on this path or below it, may name parts of replays; nil where there is none.
func (r *Registry) Naming(path string) *Family {
	path = older(Canonical(path))
	for _, f := range r.families {
		if rest, ok := strings.CutPrefix(path, f.Path); ok && f.Handles != nil && (rest == "" || rest[0] == '/') {
			return f
		}
	}
	return nil
}

// OriginalURL returns a request's URL as the upstream can read it: with the original id where its path names a replay, as
// /v1/responses/{id}/input_items does. The result is u itself where nothing changes.
func (r *Registry) OriginalURL(u *url.URL) *url.URL {
	for _, f := range r.families {
		path, ok := f.originalPath(u.EscapedPath())
		if !ok {
			continue
		}
		to := *u
		to.RawPath = path
		if p, err := url.PathUnescape(path); err == nil {
			to.Path = p
		}
		return &to
	}
	return u
}
