package admin

import (
	"cmp"
	"encoding/json"
	"math"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/go-chi/chi/v5"

	"reprise/policy"
	"reprise/proxy/internal/apierror"
	"reprise/store"
)

// entryView is an entry as the admin API shows it.
type entryView struct {
	ID           policy.ID      `json:"id"`
	Topic        policy.TopicID `json:"topic"`
	Parent       policy.ID      `json:"parent,omitempty"`
	Tenant       string         `json:"tenant"`
	Namespace    string         `json:"namespace,omitempty"`
	Model        string         `json:"model"`
	Endpoint     string         `json:"endpoint"`
	Prompt       string         `json:"prompt,omitempty"`
	Bytes        int            `json:"bytes"`
	InputTokens  int64          `json:"input_tokens"`
	OutputTokens int64          `json:"output_tokens"`
	Created      time.Time      `json:"created"`
	Expires      time.Time      `json:"expires"`
	Answer       any            `json:"answer,omitempty"`
}

func viewOf(e *store.Entry) entryView {
	return entryView{ID: e.ID, Topic: e.Topic, Parent: e.Parent, Tenant: e.Tenant, Namespace: e.Namespace, Model: e.Model, Endpoint: e.Endpoint,
		Prompt: e.Prompt, Bytes: cmp.Or(len(e.Answer), e.RecordingSize()), InputTokens: e.InputTokens, OutputTokens: e.OutputTokens, Created: e.Created, Expires: e.Expires}
}

// listEntries lists entries that match the filter of the query, ids descending, at most limit (100) below before.
func (a *admin) listEntries(r *http.Request) (any, error) {
	match, err := parseFilter(r.URL.Query().Get)
	if err != nil {
		return nil, err
	}
	limit, err := intParam(r, "limit", 100)
	if err != nil {
		return nil, err
	}
	before, err := intParam(r, "before", math.MaxInt)
	if err != nil {
		return nil, err
	}
	views, total := a.newest(limit, func(e *store.Entry) bool { return match.Matches(e) && e.ID < policy.ID(before) })
	return map[string]any{"entries": views, "total": total}, nil
}

// newest returns the matching entries with the highest ids, descending, and how many match. It holds a few times limit at most.
func (a *admin) newest(limit int, match func(*store.Entry) bool) (views []entryView, total int) {
	views = []entryView{}
	for e := range a.Entries.All() { // ids ascending
		if !match(e) {
			continue
		}
		total++
		if views = append(views, viewOf(e)); len(views)/4 >= limit {
			views = append(views[:0], views[len(views)-limit:]...)
		}
	}
	views = views[max(0, len(views)-limit):]
	slices.Reverse(views)
	return views, total
}

// showEntry shows one entry with its answer, as an object.
func (a *admin) showEntry(r *http.Request) (any, error) {
	id, err := strconv.ParseUint(chi.URLParam(r, "id"), 10, 64)
	if err != nil {
		return nil, apierror.BadRequest("invalid_parameter", "An entry's id is a whole number, as in the header X-Reprise-Entry.")
	}
	e, ok := a.Entries.Get(policy.ID(id))
	if !ok {
		return nil, &apierror.Error{Status: http.StatusNotFound, Type: apierror.TypeInvalidRequest, Code: "not_found",
			Message: "There is no entry " + strconv.FormatUint(id, 10) + "."}
	}
	view := viewOf(e)
	body, err := a.Proxy.Answer(r.Context(), e)
	if err != nil {
		return nil, err
	}
	view.Answer = json.RawMessage(body)
	return view, nil
}
