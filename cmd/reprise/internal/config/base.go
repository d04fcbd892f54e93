package config

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"reprise/proxy/api/registry"
)

// setBase reads the base URL of an upstream: a URL, or the name of a provider's API as its scheme.
func (u *Upstream) setBase(v string) error {
	scheme, rest, _ := strings.Cut(v, "://")
	switch scheme {
	case "anthropic":
		return u.anthropic(v, rest)
	case "azure":
		return u.azure(v, rest)
	}
	base, err := parseBase(v)
	if err != nil {
		if plain, _, cut := strings.Cut(v, "?"); cut { // as the console of Azure shows it
			if base, bad := parseBase(plain); bad == nil && rightBase(base) != "" {
				return errUse("the base URL is " + rightBase(base))
			}
		}
		return err
	}
	if right := rightBase(base); right != "" {
		return errUse("the base URL is " + right)
	}
	u.Base = base
	if host := base.Hostname(); host == "api.anthropic.com" {
		u.KeyHeader, u.Dialect = "X-Api-Key", "anthropic"
	} else if isAzure(host) {
		u.KeyHeader, u.Dialect = "Api-Key", "azure-openai"
	}
	return nil
}

// anthropic reads anthropic://, with the host of a gateway if there is one.
func (u *Upstream) anthropic(v, host string) error {
	if host == "" {
		host = "api.anthropic.com"
	}
	base, err := parseBase("https://" + strings.TrimSuffix(host, "/"))
	if err != nil || base.Path != "" {
		return errUse(fmt.Sprintf("%s is no Anthropic API: anthropic://, or anthropic://HOST for a gateway", withoutPassword(v)))
	}
	u.Base, u.KeyHeader, u.Dialect = withPathOf(base, "/v1"), "X-Api-Key", "anthropic"
	return nil
}

// azure reads azure://HOST.
func (u *Upstream) azure(v, host string) error {
	base, err := parseBase("https://" + strings.TrimSuffix(host, "/"))
	if err != nil || base.Path != "" || !strings.Contains(base.Hostname(), ".") {
		return errUse(fmt.Sprintf("%s is no Azure OpenAI resource: azure://RESOURCE.openai.azure.com", withoutPassword(v)))
	}
	u.Base, u.KeyHeader, u.Dialect = withPathOf(base, "/openai/v1"), "Api-Key", "azure-openai"
	return nil
}

// withPathOf is a URL without path, with one. JoinPath would make it one that does not begin with a slash: String adds that, and a request does not.
func withPathOf(base *url.URL, path string) *url.URL {
	u := *base
	u.Path = path
	return &u
}

// isAzure reports whether a host is an Azure OpenAI resource.
func isAzure(host string) bool {
	return slices.ContainsFunc([]string{".openai.azure.com", ".cognitiveservices.azure.com", ".services.ai.azure.com"}, func(domain string) bool { return strings.HasSuffix(host, domain) })
}

// rightBase is what to give in place of a URL that is no base URL because it ends in an endpoint, or lacks the path at a provider whose
// path is known; "" for any other.
func rightBase(u *url.URL) string {
	path := strings.TrimRight(u.Path, "/")
	for _, f := range registry.APIs.Families() {
		endpoint, versioned := strings.CutPrefix(f.Path, "/v1")
		switch rest, ok := strings.CutSuffix(path, endpoint); {
		case ok && versioned:
			return withPath(u, rest)
		case ok:
			return withPath(u, rest+"/v1") // whose own API is beside that of OpenAI
		}
	}
	switch host := u.Hostname(); {
	case path != "":
	case host == "api.openai.com" || host == "api.anthropic.com":
		return withPath(u, "/v1")
	case isAzure(host):
		return "azure://" + u.Host
	}
	return ""
}

func withPath(u *url.URL, path string) string {
	base := *u
	base.Path, base.RawPath = path, ""
	if isAzure(u.Hostname()) {
		return "azure://" + u.Host
	}
	if path == "" && (u.Hostname() == "api.openai.com" || u.Hostname() == "api.anthropic.com") {
		base.Path = "/v1"
	}
	return base.String()
}
