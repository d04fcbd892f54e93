package admin

import (
	"context"
	"net/http"
	"time"
)

// longestWait bounds the parameter wait of GET /admin/whatif.
const longestWait = time.Minute

// whatIf shows what other settings would have made of the last requests. A result is a minute old at most when it is asked for again; with
// ?wait=10s the answer comes when the next one is there, or that time is over.
func (a *admin) whatIf(r *http.Request) (any, error) {
	wait, err := durationParam(r, "wait", 0, 0, longestWait, "up to 1m")
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(r.Context(), wait)
	defer cancel()
	return a.report("whatif")(r.WithContext(ctx))
}
