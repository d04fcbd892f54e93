package upstream

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"reprise/proxy/upstream/dialect"
)

// Target is one upstream as an operator describes it: an engine, or the API of a provider.
type Target struct {
	Name string   // in settings, logs and metrics, and what proxies with the same upstreams agree on; default: the host of Base
	Base *url.URL // base URL of the API, as an OpenAI client is given it, e.g. https://api.openai.com/v1
	Key  string   // its own credential, sent in place of the client's; "": Options.Key
	// KeyHeader is the header in which its credential goes as it is, such as Api-Key; "": Authorization, as a bearer token.
	KeyHeader string
	Dialect   string // one of dialect.Names; default dialect.Default
	Version   string // of the engine, for the dialect; "": unknown

	// Models are the models that it serves; none: every model. A request for a model that no target serves goes to any of them.
	Models []Model
	// Fallback: it gets a request only while no other target that serves the model can take it. It must have a key of its own, unless
	// another target is on its host: a client's credential, and Options.Key, are for one provider.
	Fallback bool

	Capacity int    // tokens that its KV cache holds; 0: unknown
	Health   string // path on its host of which a GET with status 2xx shows that it works; "": any answer below 500 to the list of models
	Drain    bool   // it gets only requests that need what it holds, such as an earlier response
	Trust    bool   // fields of clients that steer an engine pass
	Salt     bool   // requests of each tenant share KV blocks with each other only

	SessionKey     string // header that names a session, for the dialects with a configured one
	Events, Replay string // addresses of its KV events and of their replay, such as tcp://host:5557; "": none
	Metrics        string // path on its host, or URL, of its metrics; "": they are not read
}

// Model is a model that a target serves.
type Model struct {
	Name   string `json:"name"`             // by which clients ask for it
	Mapped string `json:"mapped,omitempty"` // its name at the target; "": Name
}

// name is the target's name, or the host that replaces it.
func (t *Target) name() string {
	if t.Base == nil {
		return t.Name
	}
	return cmp.Or(t.Name, t.Base.Host)
}

// setKey sets its credential in a header that has none.
func (t *Target) setKey(h http.Header, key string) {
	if t.KeyHeader == "" {
		h["Authorization"] = []string{"Bearer " + key}
		return
	}
	h[http.CanonicalHeaderKey(t.KeyHeader)] = []string{key}
}

// serves reports whether the target has a model under a name, and under which one.
func (t *Target) serves(model string) (mapped string, ok bool) {
	if len(t.Models) == 0 {
		return model, true
	}
	for _, m := range t.Models {
		if m.Name == model {
			return cmp.Or(m.Mapped, model), true
		}
	}
	return "", false
}

// nameForm is the form of names: they appear in headers, paths and metrics.
var nameForm = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// validate returns what is wrong with the target alone.
func (t *Target) validate() error {
	switch u := t.Base; {
	case u == nil:
		return errors.New("an upstream URL is required")
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "":
		return fmt.Errorf("upstream %q is not a base URL such as https://api.openai.com/v1", u.Redacted())
	}
	if t.Name != "" && !nameForm.MatchString(t.Name) {
		return fmt.Errorf("upstream %q: a name is made of up to 64 letters, digits and . _ -", t.Name)
	}
	if _, err := dialect.New(t.Dialect); err != nil {
		return fmt.Errorf("upstream %s: %w", t.name(), err)
	}
	if t.Capacity < 0 {
		return fmt.Errorf("upstream %s: capacity %d must not be negative", t.name(), t.Capacity)
	}
	if t.Health != "" && !strings.HasPrefix(t.Health, "/") {
		return fmt.Errorf("upstream %s: health check %q is not a path such as /health", t.name(), t.Health)
	}
	return errors.Join(t.validateModels(), t.validateSources())
}

func (t *Target) validateModels() error {
	seen := map[string]bool{}
	for _, m := range t.Models {
		switch {
		case m.Name == "":
			return fmt.Errorf("upstream %s: a model has no name", t.name())
		case seen[m.Name]:
			return fmt.Errorf("upstream %s: model %q is given twice", t.name(), m.Name)
		}
		seen[m.Name] = true
	}
	return nil
}

// validateTargets returns what is wrong with the targets together. Each is valid.
func validateTargets(all []Target) error {
	var errs []error
	names, bases, primaries := map[string]bool{}, map[string]string{}, 0
	for i := range all {
		t := &all[i]
		name, base := t.name(), address(t.Base)
		if t.Fallback {
			base = "fallback " + base // another model of the same API may replace the first one
		}
		if names[strings.ToLower(name)] {
			errs = append(errs, fmt.Errorf("two upstreams are called %q", name))
		}
		if other, twice := bases[base]; twice {
			errs = append(errs, fmt.Errorf("upstreams %s and %s have the same address %s", other, name, t.Base.Redacted()))
		}
		names[strings.ToLower(name)], bases[base] = true, name
		if !t.Fallback {
			primaries++
		} else if t.Key == "" && !sharesHost(t, all) {
			errs = append(errs, fmt.Errorf("fallback upstream %s needs a key of its own: the credentials of clients are for other upstreams and are not sent to %s", name, t.Base.Host))
		}
	}
	if primaries == 0 {
		errs = append(errs, errors.New("every upstream is a fallback: at least one must not be"))
	}
	return errors.Join(errs...)
}

// address is a base URL in a form that is equal for equal addresses.
func address(u *url.URL) string {
	port := cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
	return u.Scheme + "://" + strings.ToLower(strings.TrimSuffix(u.Hostname(), ".")) + ":" + port + strings.TrimRight(u.EscapedPath(), "/")
}

// sharesHost reports whether a target that is no fallback has the scheme, host and port of t.
func sharesHost(t *Target, all []Target) bool {
	origin := func(u *url.URL) string { return address(&url.URL{Scheme: u.Scheme, Host: u.Host}) }
	for i := range all {
		if other := &all[i]; !other.Fallback && other.Base != nil && origin(other.Base) == origin(t.Base) {
			return true
		}
	}
	return false
}

// Salted reports whether tenants share no KV blocks at the target: that is asked for, and its dialect has a field for it.
func (t *Target) Salted() bool {
	d, err := dialect.New(t.Dialect)
	if err != nil || !t.Salt {
		return false
	}
	want := dialect.Intent{Salt: "s"}
	sample := dialect.Request{Path: "/v1/chat/completions", Header: http.Header{}, Body: []byte(`{"model":"m","messages":[]}`)}
	edits := d.Edit(sample, want, func(dialect.Field) bool { return false })
	return len(edits.Added) > 0 && !slices.Contains(edits.Noop, "Salt")
}
