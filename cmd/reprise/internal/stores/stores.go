// Package stores lists the places where answers can be kept: the values of REPRISE_STORE. A new kind of store is a package
// with a store.Backing and one row here. A store that several processes share is more than a backing: see Shared.
package stores

import (
	"slices"
	"strings"

	"reprise/store"
	"reprise/store/file"
)

// kinds are the values beside "memory", each with what comes after the colon, and what opens a store by that.
var kinds = []kind{
	{"file:PATH", opener(file.Open)},
}

type kind struct {
	form string
	open func(rest string) (store.Backing, error)
}

// opener hides the type of a backing. With an error it returns no backing: an interface that holds a nil pointer is not nil.
func opener[B store.Backing](open func(string) (B, error)) func(string) (store.Backing, error) {
	return func(rest string) (store.Backing, error) {
		b, err := open(rest)
		if err != nil {
			return nil, err
		}
		return b, nil
	}
}

// Memory keeps answers in the memory of the process alone.
const Memory = "memory"

// shared are the forms of the URLs of a server whose store several processes share; rediss is with TLS.
var shared = []string{
	"redis[s]://[USER:PASSWORD@]HOST[:PORT][/DB]",
	"redis[s]-cluster://[USER:PASSWORD@]HOST[:PORT],HOST[:PORT],…",
	"redis[s]-sentinel://[USER:PASSWORD@]HOST[:PORT],HOST[:PORT],…/MASTER[/DB]",
}

// schemes are those of these URLs.
var schemes = []string{"redis", "rediss", "redis-cluster", "rediss-cluster", "redis-sentinel", "rediss-sentinel"}

// Forms returns the forms of a value, such as file:PATH.
func Forms() []string {
	forms := []string{Memory}
	for _, k := range kinds {
		forms = append(forms, k.form)
	}
	return append(forms, shared...)
}

// Place is a value of REPRISE_STORE that Parse accepts. The zero value is Memory.
type Place struct {
	kind int    // 0 is Memory, else kinds[kind-1]
	url  string // of a shared store; "": it is not shared. Then kind is 0
	rest string
}

// Parse reads a value of REPRISE_STORE.
func Parse(v string) (p Place, ok bool) {
	if scheme, rest, isURL := strings.Cut(v, "://"); isURL && slices.Contains(schemes, scheme) {
		return Place{url: v}, rest != ""
	}
	name, rest, _ := strings.Cut(v, ":")
	for i, k := range kinds {
		if scheme, _, _ := strings.Cut(k.form, ":"); name == scheme && rest != "" {
			return Place{kind: i + 1, rest: rest}, true
		}
	}
	return Place{}, v == Memory
}

// Shared is the URL of a server whose store several processes share, "" for another place.
func (p Place) Shared() string { return p.url }

// File is the path of a file, "" for another place.
func (p Place) File() string {
	if p.kind == 0 {
		return ""
	}
	return p.rest
}

// Secure reports whether the connection to a shared store uses TLS.
func (p Place) Secure() bool { return strings.HasPrefix(p.url, "rediss") }

// Watched reports whether sentinels say which server has a shared store.
func (p Place) Watched() bool {
	scheme, _, _ := strings.Cut(p.url, "://")
	return strings.HasSuffix(scheme, "-sentinel")
}

// Open opens the backing of a place: nil for Memory and for a shared store.
func (p Place) Open() (store.Backing, error) {
	if p.kind == 0 {
		return nil, nil
	}
	return kinds[p.kind-1].open(p.rest)
}
