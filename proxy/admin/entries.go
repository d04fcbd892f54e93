package admin

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
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
	Hits         int64          `json:"hits"`
	LastUsed     *time.Time     `json:"last_used"` // nil: not used
	TokensSaved  int64          `json:"tokens_saved"`
	Answer       any            `json:"answer,omitempty"`

	// where the entries are in the order in which they are evicted
	EvictsNext int    `json:"evicts_next,omitempty"` // its place there, from 1
	Why        string `json:"why,omitempty"`
}

func viewOf(e *store.Entry) entryView {
	use := e.Use()
	v := entryView{ID: e.ID, Topic: e.Topic, Parent: e.Parent, Tenant: e.Tenant, Namespace: e.Namespace, Model: e.Model, Endpoint: e.Endpoint,
		Prompt: e.Prompt, Bytes: bytesOf(e), InputTokens: e.InputTokens, OutputTokens: e.OutputTokens, Created: e.Created, Expires: e.Expires,
		Hits: use.Hits, TokensSaved: savedBy(e, use)}
	if use.Hits > 0 {
		last := use.Last.UTC()
		v.LastUsed = &last
	}
	return v
}

func bytesOf(e *store.Entry) int { return cmp.Or(len(e.Answer), e.RecordingSize()) }

// savedBy is what the uses of e have saved: its own tokens each time.
func savedBy(e *store.Entry, use store.Use) int64 { return use.Hits * (e.InputTokens + e.OutputTokens) }

// entryList is what GET /admin/entries answers.
type entryList struct {
	Entries []entryView       `json:"entries"`
	Total   int               `json:"total"`          // that match, on all pages
	Next    string            `json:"next,omitempty"` // before of the next page; "": this is the last one
	Words   string            `json:"in_words,omitempty"`
	Counted map[string]string `json:"how_it_is_counted"`
}

// listEntries lists entries that match the filter of the query, in an order, at most limit (100) after those of the page before.
func (a *admin) listEntries(r *http.Request) (any, error) {
	match, err := matching(a, r)
	if err != nil {
		return nil, err
	}
	limit, err := intParam(r, "limit", 100)
	if err != nil {
		return nil, err
	}
	name, before := r.URL.Query().Get("sort"), r.URL.Query().Get("before")
	if name == evictsNext {
		return a.listNext(match, before, limit)
	}
	by, err := orderNamed(orders, name, " and "+evictsNext)
	if err != nil {
		return nil, err
	}
	from, err := parsePlace(by.name, before)
	if err != nil {
		return nil, err
	}
	a.settle()
	l := entryList{Entries: []entryView{}, Counted: countedOf(a.Shared != nil)}
	var places []place
	for e := range a.Entries.All() {
		if !match(e) {
			continue
		}
		l.Total++
		if p := (place{by.value(e), e.ID}); from == nil || p.compare(*from) > 0 {
			places = append(places, p)
		}
	}
	slices.SortFunc(places, place.compare)
	for _, p := range places[:min(limit, len(places))] {
		if e, ok := a.Entries.Get(p.id); ok { // it may have left meanwhile
			l.Entries = append(l.Entries, viewOf(e))
		}
	}
	if len(places) > limit {
		l.Next = places[limit-1].text(by.name)
	}
	return l, nil
}

// matching is the filter of the query, of labels and of the prompt.
func matching(a *admin, r *http.Request) (func(*store.Entry) bool, error) {
	match, err := parseFilter(r.URL.Query().Get)
	if err != nil {
		return nil, err
	}
	part := strings.ToLower(r.URL.Query().Get("q"))
	switch {
	case part == "":
		return match.Matches, nil
	case !promptsShown(a.Overview):
		return nil, &apierror.Error{Status: http.StatusForbidden, Type: apierror.TypeInvalidRequest, Code: "prompts_not_shown",
			Message: "q searches in prompts, and REPRISE_LOG_PROMPTS is false; allowed with it are topic, model, tenant and namespace."}
	}
	return func(e *store.Entry) bool {
		return match.Matches(e) && strings.Contains(strings.ToLower(e.Prompt), part)
	}, nil
}

// settle has the uses counted that wait.
func (a *admin) settle() {
	if a.Settle != nil {
		a.Settle()
	}
}

// promptsShown is REPRISE_LOG_PROMPTS, as in the overview.
func promptsShown(overview func(*Overview)) bool {
	var o Overview
	if overview != nil {
		overview(&o)
	}
	return o.Prompts
}

// countedOf is what the figures of uses mean.
func countedOf(shared bool) map[string]string {
	by := "by this proxy"
	if shared {
		by = "by all proxies that share the store, as far as this one has read their log"
	}
	return map[string]string{
		"hits": "requests that the entry has answered, exact, by meaning, stale or shared with another request, counted " + by +
			" since its answer was stored or this process began, whichever came later; a restart begins at 0",
		"last_used":    "time of the last of these, to the second; null where there was none",
		"tokens_saved": "hits times the tokens of the prompt and of the answer",
	}
}

// showEntry shows one entry with its answer, as an object.
func (a *admin) showEntry(r *http.Request) (any, error) {
	id, err := strconv.ParseUint(chi.URLParam(r, "id"), 10, 64)
	if err != nil {
		return nil, apierror.BadRequest("invalid_parameter", "An entry's id is a whole number, as in the header X-Reprise-Entry.")
	}
	a.settle()
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
