package header

import (
	"net/url"
	"strings"
)

// secretParameters are parameters of a URL with a credential, in lower case and without separators; secretEndings end
// the names of others.
var (
	secretParameters = setOf(`apikey key accesskey accesstoken apitoken auth authkey authtoken authorization bearer code credential
		credentials idtoken jwt passwd password refreshtoken secret sessiontoken sig signature subscriptionkey token`)
	secretEndings = []string{"apikey", "accesskey", "accesstoken", "authtoken", "securitytoken", "sessiontoken", "subscriptionkey", "secret",
		"password", "signature", "credential"}
)

// WithoutCredentials returns a raw query without its credentials, the other parameters as they are and in their order.
func WithoutCredentials(rawQuery string) string {
	if rawQuery == "" {
		return ""
	}
	var kept strings.Builder
	for rest := rawQuery; rest != ""; {
		end := strings.IndexAny(rest, "&;") + 1 // readers exist that take ";" for "&"
		if end == 0 {
			end = len(rest)
		}
		if !secretParameter(rest[:end]) {
			kept.WriteString(rest[:end])
		}
		rest = rest[end:]
	}
	if kept.Len() == len(rawQuery) {
		return rawQuery
	}
	return strings.TrimRight(kept.String(), "&;")
}

// secretParameter reports whether a parameter of a raw query, with its separator, holds a credential.
func secretParameter(p string) bool {
	name, _, _ := strings.Cut(strings.TrimRight(p, "&;"), "=")
	if plain, err := url.QueryUnescape(name); err == nil {
		name = plain
	}
	name = strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r == '.' || r == ' ' || r == '[' || r == ']' {
			return -1
		}
		return r
	}, strings.ToLower(name))
	for _, ending := range secretEndings {
		if strings.HasSuffix(name, ending) {
			return true
		}
	}
	return secretParameters[name]
}
