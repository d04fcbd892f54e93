package doctor

import (
	"net/http"
	"slices"
	"strings"

	"reprise/cmd/reprise/internal/config"
)

// exposureLimit is for the requests to upstreams that show whether they ask for a credential.
const exposureLimit = reachLimit + streamLimit + usualLimit

// exposure finds what is allowed and dangerous where other machines can reach the API.
func (x *exam) exposure() finding {
	c := x.cfg
	if config.Loopback(c.Listen) {
		return ok("the API is for this machine only")
	}
	var found, repairs []string
	add := func(repair, text string) { found, repairs = append(found, text), append(repairs, repair) }
	open, unknown := x.open()
	if len(open) > 0 {
		add("Set REPRISE_CLIENT_KEYS, and REPRISE_UPSTREAM_KEY to any word; or listen on 127.0.0.1, or let only a gateway reach the listener.",
			strings.Join(open, ", ")+" answers without a credential, and REPRISE_CLIENT_KEYS is not set: every machine that reaches "+c.Listen+" can use it")
	}
	if shared := c.Sharing(); shared != "" && len(c.ClientKeys) == 0 {
		add("Set REPRISE_CLIENT_KEYS, leave REPRISE_TENANT_FROM at authorization, or let only a gateway reach the listener.", shared)
	}
	switch {
	case len(found) > 0:
		return warning(strings.Join(slices.Compact(repairs), " "), "%s", sentences(found))
	case len(unknown) > 0:
		return ok("the settings open nothing without a credential; whether %s asks for one is not known", strings.Join(unknown, ", "))
	}
	return ok("nothing is open without a credential")
}

// open are the upstreams that other machines can use through the proxy without any credential, and those of which that is not known. It waits for
// the requests to them.
func (x *exam) open() (open, unknown []string) {
	if len(x.cfg.ClientKeys) > 0 {
		return nil, nil
	}
	for _, e := range x.engines {
		<-e.asked.done
		refused := e.status == http.StatusUnauthorized || e.status == http.StatusForbidden
		switch {
		case e.key != "" || refused && e.asked.result.State != stateOK:
		case e.asked.result.State == stateOK || e.status/100 == 2 && e.asked.result.State != stateError: // some have a list for everyone
			open = append(open, e.asked.subject)
		default:
			unknown = append(unknown, e.asked.subject)
		}
	}
	return open, unknown
}
