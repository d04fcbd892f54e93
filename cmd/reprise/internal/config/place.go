package config

import (
	"slices"
	"strings"

	"reprise/store"
	"reprise/store/file"
)

// placeForms are the forms of a value of REPRISE_STORE. rediss is with TLS.
var placeForms = []string{
	"memory", "file:PATH",
	"redis[s]://[USER:PASSWORD@]HOST[:PORT][/DB]",
	"redis[s]-cluster://[USER:PASSWORD@]HOST[:PORT],HOST[:PORT],…",
	"redis[s]-sentinel://[USER:PASSWORD@]HOST[:PORT],HOST[:PORT],…/MASTER[/DB]",
}

// redisSchemes are the schemes of the URLs of a server whose store several processes share.
var redisSchemes = []string{"redis", "rediss", "redis-cluster", "rediss-cluster", "redis-sentinel", "rediss-sentinel"}

// Place is where answers are kept, a value of REPRISE_STORE. The zero value is the memory of the process alone.
type Place struct{ file, url string }

// parsePlace reads a value of REPRISE_STORE.
func parsePlace(v string) (p Place, ok bool) {
	if scheme, rest, isURL := strings.Cut(v, "://"); isURL && slices.Contains(redisSchemes, scheme) {
		return Place{url: v}, rest != ""
	}
	if path, isFile := strings.CutPrefix(v, "file:"); isFile {
		return Place{file: path}, path != ""
	}
	return Place{}, v == placeForms[0]
}

// PlaceForms lists the forms of a value of REPRISE_STORE in words.
func PlaceForms() string { return strings.Join(placeForms, " or ") }

// Shared returns the URL of a server whose store several processes share, "" for another place.
func (p Place) Shared() string { return p.url }

// File returns the path of a file, "" for another place.
func (p Place) File() string { return p.file }

// secure reports whether the connection to a shared store uses TLS.
func (p Place) secure() bool { return strings.HasPrefix(p.url, "rediss") }

// Watched reports whether sentinels say which server has a shared store.
func (p Place) Watched() bool {
	scheme, _, _ := strings.Cut(p.url, "://")
	return strings.HasSuffix(scheme, "-sentinel")
}

// Open opens the file of a place. It returns nil for another place.
func (p Place) Open() (store.Backing, error) {
	if p.file == "" {
		return nil, nil
	}
	b, err := file.Open(p.file)
	if err != nil {
		return nil, err // an interface that holds a nil pointer is not nil
	}
	return b, nil
}
