package admin

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"reprise/proxy/internal/apierror"
)

// Asked is a request of which GET /admin/config?request= shows the rule. A part that is left out is empty, and the endpoint that of chat completions.
type Asked struct {
	Endpoint  string `json:"endpoint"`  // a cached path
	Model     string `json:"model"`     //
	Tenant    string `json:"tenant"`    // as GET /admin/entries shows it, or as the header names it that names tenants
	Namespace string `json:"namespace"` //
}

// Rule returns what the rule of a request sets, as JSON shows it. ok is false where the endpoint is not cached.
type Rule func(Asked) (shown any, ok bool)

// Reload is how the settings were read the last time.
type Reload struct {
	Refused bool      // they could not be used: those from before are in force
	At      time.Time // when those in force were read
}

// config shows all settings, or with the parameter request what is in force for one request.
func (a *admin) config(r *http.Request) (any, error) {
	text := r.URL.Query().Get("request")
	if text != "" && a.Rule != nil {
		return a.ruleOf(text)
	}
	return a.report("config")(r)
}

func (a *admin) ruleOf(text string) (any, error) {
	asked, err := readAsked(text)
	if err != nil {
		return nil, err
	}
	if asked.Endpoint == "" {
		asked.Endpoint = "/v1/chat/completions"
	}
	shown, ok := a.Rule(asked)
	if !ok {
		return nil, apierror.BadRequest("invalid_parameter", "endpoint is "+apierror.Quote(asked.Endpoint)+"; allowed is a cached path such as /v1/chat/completions.")
	}
	return shown, nil
}

// askedNames are the names that a request may have.
var askedNames = []string{"endpoint", "model", "tenant", "namespace"}

// readAsked reads endpoint=…&model=…, or the same as a JSON object.
func readAsked(text string) (asked Asked, err error) {
	refused := func(why string) (Asked, error) {
		return Asked{}, apierror.BadRequest("invalid_parameter", "request "+why+"; allowed is a query string such as model=gpt-4o, or a JSON object, with "+
			strings.Join(askedNames, ", ")+".")
	}
	given := map[string]string{}
	if strings.HasPrefix(strings.TrimSpace(text), "{") {
		if json.Unmarshal([]byte(text), &given) != nil {
			return refused("is no JSON object of texts")
		}
	} else {
		values, err := url.ParseQuery(text)
		if err != nil {
			return refused("is no query string")
		}
		for name, all := range values {
			if given[name] = all[0]; len(all) > 1 {
				return refused("has " + apierror.Quote(name) + " twice")
			}
		}
	}
	for name := range given {
		if !slices.Contains(askedNames, name) {
			return refused("has " + apierror.Quote(name))
		}
	}
	return Asked{given["endpoint"], given["model"], given["tenant"], given["namespace"]}, nil
}
