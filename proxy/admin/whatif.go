package admin

import (
	"context"
	"net/http"
	"time"

	"reprise/proxy/internal/apierror"
)

// longestWait bounds the parameter wait of GET /admin/whatif.
const longestWait = time.Minute

// whatIf shows what other settings would have made of the last requests. A result is a minute old at most when it is asked for again; with
// ?wait=10s the answer comes when the next one is there, or that time is over.
func (a *admin) whatIf(r *http.Request) (any, error) {
	wait := time.Duration(0)
	if given := r.URL.Query().Get("wait"); given != "" {
		var err error
		if wait, err = time.ParseDuration(given); err != nil || wait < 0 || wait > longestWait {
			return nil, apierror.BadRequest("invalid_parameter", "wait is "+apierror.Quote(given)+"; allowed is a duration up to 1m.")
		}
	}
	ctx, cancel := context.WithTimeout(r.Context(), wait)
	defer cancel()
	return a.report("whatif")(r.WithContext(ctx))
}
