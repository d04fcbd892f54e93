// Package admin serves health, metrics and the admin API. It shows prompts and answers of every tenant: keep it from
// clients.
//
// It is beside the proxy and above the store and the topics: it reads their state, and changes it only by a purge.
package admin

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"reprise/policy"
	"reprise/proxy/gate"
	"reprise/proxy/internal/apierror"
	"reprise/proxy/internal/clientio"
	"reprise/proxy/observe/align"
	"reprise/proxy/observe/learn"
	"reprise/proxy/observe/watch"
	"reprise/store"
	"reprise/topics"
)

// Proxy is the server whose state is shown.
type Proxy interface {
	// Draining reports whether it is about to stop, so that it must get no new traffic.
	Draining() bool
	// Purge removes all entries that f selects, and keeps no answer to a request that came before. An error is why that is not durable.
	Purge(ctx context.Context, f store.Filter) (matched, purged int, err error)
	// Answer is the answer of an entry as a JSON object, with the id and the time of the upstream's.
	Answer(ctx context.Context, e *store.Entry) ([]byte, error)
	// Metrics collects what the server counts itself.
	Metrics() prometheus.Collector
	// Generation is the number of the names under which upstreams cache for the server, which every purge raises, and whether a restart
	// keeps it.
	Generation() (n uint64, durable bool)
}

// Entries is the store.
type Entries interface {
	All() iter.Seq[*store.Entry]
	Get(id policy.ID) (*store.Entry, bool)
	Stats() store.Stats
	Ranks() store.Ranks
}

// Topics is the index of topics.
type Topics interface {
	Stats() topics.Stats
	List(after topics.TopicID, limit int) []topics.TopicInfo
}

// Reports are what is shown as it is.
type Reports interface {
	// Report is what GET /admin/NAME shows, for the names stats, config (secrets masked), frames, misses and whatif; nil: nothing. It waits for a newer
	// one until ctx is done, where that takes time.
	Report(ctx context.Context, name string) any
}

// report returns the handler that shows a report.
func (a *admin) report(name string) func(*http.Request) (any, error) {
	return func(r *http.Request) (any, error) {
		if a.Reports != nil {
			if shown := a.Reports.Report(r.Context(), name); shown != nil {
				return shown, nil
			}
		}
		return struct{}{}, nil
	}
}

// Release is what the program was built from; "" is not known.
type Release struct{ Version, Commit, Go string }

// Options configures the admin API.
type Options struct {
	Proxy     Proxy     // required
	Entries   Entries   // required
	Topics    Topics    // required
	Upstreams Upstreams // required
	Settle    func()    // has the store count the uses that wait; nil: none do

	// Prefixes is what GET /admin/prefixes shows: the prefixes that are worth most to the caches of the upstreams, if they are kept for life, at
	// most n; required.
	Prefixes  func(life time.Duration, n int) any
	Reports   Reports        // nil: nothing is shown
	Alignment *align.Watch   // what GET /admin/alignment shows; nil: nothing
	Learner   *learn.Learner // has what GET /admin/reviews and /admin/shadow show; nil: nothing
	Undos     *Undos         // by which the purge of one entry can be taken back; nil: none can

	// Watch has the history, what the policy did in the last minutes, and the stream of requests; nil: there are none. Overview adds to what GET /admin/overview shows; nil: nothing.
	Watch    *watch.Watch
	Overview func(*Overview)

	Release  Release
	Policy   string        // name of the store's policy
	Token    string        // needed under /admin; default: none, and /admin answers to localhost, IP addresses and Trusted only
	Loopback bool          // only this machine can reach the listener: /metrics answers to the same names only
	Trusted  []string      // hosts, each HOST or HOST:PORT
	Rule     Rule          // what it shows of a request; nil: there are no rules
	Reloads  func() Reload // nil: nothing is read again
	Shared   func() Shared // nil: the store belongs to this process alone
	LogLost  func() int64  // lines that the log lacks; nil: it is not counted
	Embedder func() string // state of the embedder, one word for readyz; nil: it calls no server
	Lost     func() int64  // requests that the request log lacks; nil: there is no request log

	// Client bounds how slowly a client may send a body and read an answer; see proxy.Limits.
	Client time.Duration
}

// New returns the handler of all paths.
func New(o Options) http.Handler {
	a := &admin{Options: o}
	for _, host := range o.Trusted {
		a.trusted = append(a.trusted, strings.ToLower(host))
	}
	r := chi.NewRouter()
	r.Use(headAsGet)
	r.NotFound(notFound)
	r.MethodNotAllowed(wrongMethod)
	r.Get("/healthz", func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("ok\n")) })
	r.Get("/readyz", a.readyz)
	r.Handle("/metrics", a.named(o.Loopback, promhttp.HandlerFor(newRegistry(o), promhttp.HandlerOpts{EnableOpenMetrics: true})))
	pageRoutes(r)
	r.Route("/admin", func(r chi.Router) {
		r.Use(a.guard)
		for _, one := range a.routes() {
			if o.Learner == nil && (strings.HasPrefix(one.Path, "/admin/reviews") || one.Path == "/admin/trust") {
				continue
			}
			r.MethodFunc(one.Method, strings.TrimPrefix(one.Path, "/admin"), one.checked)
		}
		profiles(r)
	})
	return clientio.Guard(sameOrigin(r), func() time.Duration { return o.Client })
}

// Starting returns a handler that takes the place of New's until the server is made: the process is alive and not ready.
func Starting() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/healthz" {
			w.Write([]byte("ok\n"))
			return
		}
		http.Error(w, "starting: the entries are being loaded", http.StatusServiceUnavailable)
	})
}

type admin struct {
	Options
	trusted gate.Names
}

// sameOrigin refuses what the web page of another site can make a browser send, other than reads, whose answers such a page does not
// get.
func sameOrigin(h http.Handler) http.Handler {
	p := http.NewCrossOriginProtection()
	p.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { apierror.Write(w, errForeign) }))
	return p.Handler(h)
}

var errForeign = &apierror.Error{Status: http.StatusForbidden, Type: apierror.TypeInvalidRequest, Code: "foreign_origin",
	Message: "The admin API does not answer to the web pages of other sites."}

// foreign reports whether a read is one by the web page of another site: with its Origin, or as a script, an image or a frame of it. A navigation of
// the whole tab, as of a link, shows the answer to the user alone; one of a frame happens without the user, and a profile takes a core.
func (a *admin) foreign(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "cross-site", "same-site":
		if dest := r.Header.Get("Sec-Fetch-Dest"); r.Header.Get("Sec-Fetch-Mode") != "navigate" || dest != "" && dest != "document" {
			return true
		}
	}
	return a.trusted.Foreign(r)
}

// named refuses requests to a name that is not local, where that is asked for.
func (a *admin) named(local bool, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if local && !a.trusted.Local(r.Host) {
			apierror.Write(w, &apierror.Error{Status: http.StatusForbidden, Type: apierror.TypeInvalidRequest, Code: "admin_host",
				Message: "Without an admin token (REPRISE_ADMIN_TOKEN) the admin API, and on loopback its metrics, answer to localhost, to IP addresses and to the " +
					"hosts in REPRISE_TRUSTED_HOSTS only, not to " + apierror.Quote(r.Host) + "."})
			return
		}
		next.ServeHTTP(w, r)
	})
}

// notFound answers other paths, which are mostly those of the API, sent to the wrong one of the two ports.
func notFound(w http.ResponseWriter, r *http.Request) {
	apierror.Write(w, &apierror.Error{Status: http.StatusNotFound, Type: apierror.TypeInvalidRequest, Code: "not_found",
		Message: "This is the admin listener, which has no path " + apierror.Quote(r.URL.Path) + "; the API is at the address in REPRISE_LISTEN."})
}

// headAsGet routes HEAD as GET: some load balancers and monitors probe with it. net/http leaves out the body.
func headAsGet(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead {
			chi.RouteContext(r.Context()).RouteMethod = http.MethodGet
		}
		next.ServeHTTP(w, r)
	})
}

// wrongMethod answers a read of what is written, and writes of everything else.
func wrongMethod(w http.ResponseWriter, r *http.Request) {
	takes := http.MethodGet
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		takes = http.MethodPost
	}
	w.Header().Set("Allow", takes)
	apierror.Write(w, &apierror.Error{Status: http.StatusMethodNotAllowed, Type: apierror.TypeInvalidRequest, Code: "method_not_allowed",
		Message: "The path " + apierror.Quote(r.URL.Path) + " takes " + takes + "."})
}

// readyz fails while the server drains; before that, Starting fails while the entries are loaded. It fails for no dependency: a dead one
// would take every replica out at once, and without Redis or the embedder there are fewer hits and no errors. It shows their states.
func (a *admin) readyz(w http.ResponseWriter, _ *http.Request) {
	if a.Proxy.Draining() {
		http.Error(w, "draining", http.StatusServiceUnavailable)
		return
	}
	text := "ready\n"
	if a.Shared != nil {
		s := a.Shared()
		text += "redis: " + s.State() + "\n"
	}
	if a.Embedder != nil {
		text += "embedder: " + a.Embedder() + "\n"
	}
	io.WriteString(w, text)
}

// guard asks for the admin token where one is set, and otherwise for a local name: a token is not sent by a browser on its own. What the web
// page of another site asks for is refused, reads too; a link to them works.
func (a *admin) guard(next http.Handler) http.Handler {
	return a.named(a.Token == "", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		protect(w.Header())
		if a.foreign(r) {
			apierror.Write(w, errForeign)
			return
		}
		if a.Token != "" && !gate.HasToken(r, a.Token) {
			w.Header().Set("WWW-Authenticate", "Bearer")
			message := "The admin API needs the header Authorization: Bearer and the admin token (REPRISE_ADMIN_TOKEN)."
			if gate.TriesToken(r) {
				message = "The token that was given is not the admin token. Give the one in REPRISE_ADMIN_TOKEN of the proxy, in the header Authorization: Bearer."
			}
			apierror.Write(w, &apierror.Error{Status: http.StatusUnauthorized, Type: apierror.TypeInvalidRequest, Code: "admin_token", Message: message})
			return
		}
		next.ServeHTTP(w, r)
	}))
}

// inJSON turns what h returns into JSON.
func inJSON(h func(*http.Request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v, err := h(r)
		if err != nil {
			apierror.Write(w, toAPIError(err))
			return
		}
		writeJSON(w, http.StatusOK, v)
	}
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.Encode(v)
}

// toAPIError shows errors of the request as they are. Any other is an entry that cannot be read.
func toAPIError(err error) *apierror.Error {
	var api *apierror.Error
	if errors.As(err, &api) {
		return api
	}
	return &apierror.Error{Status: http.StatusInternalServerError, Type: apierror.TypeInternal, Code: "unreadable_entry",
		Message: "The entry cannot be read: " + err.Error() + "."}
}

// intParam reads a whole number from 1; def where it is absent.
func intParam(r *http.Request, name string, def int) (int, error) {
	v := r.URL.Query().Get(name)
	if v == "" {
		return def, nil
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < 1 {
		return 0, badParam(name, v, "allowed is a whole number from 1.")
	}
	return n, nil
}

// durationParam reads a duration between two bounds; def where it is absent.
func durationParam(r *http.Request, name string, def, from, to time.Duration, allowed string) (time.Duration, error) {
	v := r.URL.Query().Get(name)
	if v == "" {
		return def, nil
	}
	d, err := time.ParseDuration(v)
	if err != nil || d < from || d > to {
		return 0, badParam(name, v, "allowed is a duration "+allowed+".")
	}
	return d, nil
}

// badParam is the error of a parameter with a wrong value, which says what is allowed.
func badParam(name, value, allowed string) *apierror.Error {
	return apierror.BadRequest("invalid_parameter", name+" is "+apierror.Quote(value)+"; "+allowed)
}
