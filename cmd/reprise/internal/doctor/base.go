package doctor

import (
	"bytes"
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/tidwall/gjson"
)

// unlisted says what it means that the base URL has no list of models.
func (e *engine) unlisted(ctx context.Context, t *trip) finding {
	if bytes.Contains(t.body, []byte("This is the admin listener")) {
		return failure("Name the API of an engine or of a provider in REPRISE_UPSTREAM; that of a proxy is at its REPRISE_LISTEN.", "%s is the admin listener of a proxy", e.of.Base.Redacted())
	}
	if t.status == http.StatusNotFound {
		if base := e.elsewhere(ctx); base != nil {
			return failure("Write "+base.Redacted()+" in REPRISE_UPSTREAM.", "GET %s: status 404, and %s has a list: the base URL is another one", e.address(), base.JoinPath("models").Redacted())
		}
	}
	if n := len(e.of.Models); n > 0 {
		return ok("not listed (status %d); the settings name %s", t.status, plural(n, "model"))
	}
	return warning("See whether the base URL is right: most end in /v1. Where the upstream has no list, name its models by models= in REPRISE_UPSTREAM.",
		"GET %s: status %d, so there is no list of models at this base URL", e.address(), t.status)
}

// elsewhere is a base URL on the same host that has a list of models: with /v1 behind the path, or as the path. nil: there is none.
func (e *engine) elsewhere(ctx context.Context) *url.URL {
	for _, path := range []string{strings.TrimRight(e.of.Base.Path, "/") + "/v1", "/v1"} {
		base := *e.of.Base
		if base.Path, base.RawPath = path, ""; path == strings.TrimRight(e.of.Base.Path, "/") {
			continue
		}
		c, err := e.at(&base)
		if err != nil {
			continue
		}
		t := send(ctx, c, e.tap, "/v1/models", http.Header{})
		c.Close()
		if t.err == nil && t.status == http.StatusOK && gjson.GetBytes(t.body, "data").IsArray() {
			return &base
		}
	}
	return nil
}
