package admin

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"reprise/proxy/internal/apierror"
	"reprise/proxy/observe"
	"reprise/proxy/observe/watch"
)

// Overview is what is in force, and what does not work as it should, in words.
type Overview struct {
	Version  string     `json:"version"`
	Started  time.Time  `json:"started"`
	Now      time.Time  `json:"now"`
	Shared   bool       `json:"shared"`               // GET /admin/shared has the state of the shared store
	Prompts  bool       `json:"prompts_may_be_shown"` // REPRISE_LOG_PROMPTS
	Currency string     `json:"currency,omitempty"`   // of money; "": there are no prices
	Force    []InForce  `json:"in_force"`
	Degraded []Degraded `json:"degraded"` // the most urgent first; none: all works
}

// InForce is a setting, or what follows from several, as it is now.
type InForce struct {
	Name     string `json:"name"`
	Value    string `json:"value"`
	Words    string `json:"in_words,omitempty"`
	Settings string `json:"settings,omitempty"` // that change it
}

// Degraded is a part that does not work as it should, or takes no part.
type Degraded struct {
	Part   string `json:"part"`
	Words  string `json:"in_words"`
	Repair string `json:"repair,omitempty"`
	Urgent bool   `json:"urgent"` // it costs hits or safety now
}

func (a *admin) overview(*http.Request) (any, error) {
	o := Overview{Version: a.Release.Version, Now: time.Now().UTC(), Force: []InForce{}, Degraded: []Degraded{}}
	o.Shared = a.Shared != nil
	if a.Overview != nil {
		a.Overview(&o)
	}
	return o, nil
}

// observer shows the history and the stream of requests; without a Watch there are none.
type observer struct{ watch *watch.Watch }

// history writes the history as one line of JSON: in columns with a number a line it would be four times as long.
func (o observer) history(w http.ResponseWriter, r *http.Request) {
	v, err := o.report(r)
	if err != nil {
		apierror.Write(w, toAPIError(err))
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // an error is that the client has left
}

// report is the last window (1h) of the history in at most points (240) steps; up to 10m they are of seconds.
func (o observer) report(r *http.Request) (any, error) {
	points, err := intParam(r, "points", 240)
	if err != nil {
		return nil, err
	}
	if points > watch.MostPoints {
		return nil, apierror.BadRequest("invalid_parameter", fmt.Sprintf("points is %d; allowed is up to %d.", points, watch.MostPoints))
	}
	window, err := durationParam(r, "window", time.Hour, watch.Step, watch.Long, "from 10s to 24h")
	if err != nil {
		return nil, err
	}
	if o.watch == nil {
		return struct{}{}, nil
	}
	return o.watch.Report(window, points), nil
}

// events streams what passes: requests, as many as ten a second of each result, and that the history has another step. Each is an event of
// text/event-stream whose data is JSON; the first are of the last requests before. The parameters model, tenant and result select requests; requests=no selects none.
func (o observer) events(w http.ResponseWriter, r *http.Request) {
	if o.watch == nil {
		notFound(w, r)
		return
	}
	q := r.URL.Query()
	if err := selects(q); err != nil {
		apierror.Write(w, err)
		return
	}
	v, err := o.watch.View(watch.Filter{None: q.Get("requests") == "no", Model: q.Get("model"), Tenant: q.Get("tenant"), Result: q.Get("result")})
	if err != nil {
		w.Header().Set("Retry-After", "10")
		apierror.Write(w, &apierror.Error{Status: http.StatusServiceUnavailable, Type: apierror.TypeInvalidRequest, Code: "too_many_viewers",
			Message: fmt.Sprintf("The stream of events has %d viewers at most: close one, or try again.", watch.DefaultViewers)})
		return
	}
	defer v.Close()
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("X-Accel-Buffering", "no") // a proxy in front would hold events back
	hello, _ := json.Marshal(map[string]any{"started": o.watch.Started().UTC(), "spacing_seconds": watch.Spacing.Seconds()})
	send(w, v, watch.Event{Kind: "hello", Data: hello}, r.Context().Done())
}

// selects checks the values of the parameters of events that have few. A stream without requests would be no answer to a misspelt one.
func selects(q url.Values) *apierror.Error {
	results := observe.ResultNames[:]
	result, requests := q.Get("result"), q.Get("requests")
	switch {
	case result != "" && !slices.Contains(results, result):
		return badParam("result", result, "allowed are "+strings.Join(results, ", ")+".")
	case requests != "" && requests != "no":
		return badParam("requests", requests, "allowed is no.")
	}
	return nil
}

// send writes events until the client leaves or the viewer is dropped. The guard of the listener bounds how long a write takes.
func send(w http.ResponseWriter, v *watch.Viewer, first watch.Event, left <-chan struct{}) {
	out := http.NewResponseController(w)
	for e, open := first, true; open; {
		if _, err := fmt.Fprintf(w, "event: %s\ndata: %s\n\n", e.Kind, e.Data); err != nil {
			return
		}
		if len(v.Events()) == 0 && out.Flush() != nil {
			return
		}
		select {
		case <-left:
			return
		case e, open = <-v.Events():
		}
	}
}
