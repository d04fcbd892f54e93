package admin

import (
	"encoding/json"
	"net/http"

	"reprise/proxy/internal/apierror"
	"reprise/proxy/observe/learn"
)

// shadow lists hits that the shadow mode has kept back, the newest first: as an object or, with ?format=jsonl, one a line.
func (a *admin) shadow(w http.ResponseWriter, r *http.Request) {
	list := []learn.Shadowed{}
	if a.Learner != nil {
		list = append(list, a.Learner.Shadowed()...)
	}
	switch format := r.URL.Query().Get("format"); format {
	case "", "json":
		writeJSON(w, http.StatusOK, map[string]any{"hits": list, "total": len(list)})
	case "jsonl":
		w.Header().Set("Content-Type", "application/x-ndjson")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		enc := json.NewEncoder(w)
		for _, hit := range list {
			if enc.Encode(hit) != nil { // the client has left
				return
			}
		}
	default:
		apierror.Write(w, badParam("format", format, "allowed is json or jsonl."))
	}
}
