package admin

import (
	"net/http"
	"net/http/pprof" // its init puts routes on http.DefaultServeMux, which no listener serves

	"github.com/go-chi/chi/v5"
)

// profiles adds what `go tool pprof` and `go tool trace` read: the index, and below it profile (CPU), heap, allocs, goroutine, mutex, block,
// threadcreate and trace, with the parameters of net/http/pprof (seconds, debug, gc). The command line is not served: an operator may have
// put a key there.
func profiles(r chi.Router) {
	const root = "/debug/pprof/"
	named := http.StripPrefix("/admin", http.HandlerFunc(pprof.Index)) // which cuts the root off, and nothing before it
	r.Method(http.MethodGet, root, named)
	r.Method(http.MethodGet, root+"{name}", named)
	r.Get(root+"profile", pprof.Profile)
	r.Get(root+"trace", pprof.Trace)
}
