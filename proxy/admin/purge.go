package admin

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"reprise/policy"
	"reprise/proxy/internal/apierror"
	"reprise/store"
)

// purge removes what the body's filter matches, or counts it. A purge that is not durable is a 503.
func (a *admin) purge(w http.ResponseWriter, r *http.Request) {
	f, how, err := readPurge(r)
	undo := ""
	if err == nil && how.Undo && !how.dry() {
		undo, err = a.Undos.keep(r.Context(), f.Entry)
	}
	switch {
	case err != nil:
		apierror.Write(w, toAPIError(err))
	case how.dry():
		writeJSON(w, http.StatusOK, map[string]any{"dry_run": true, "matched": a.count(f), "purged": 0})
	default:
		matched, purged, err := a.Proxy.Purge(r.Context(), f.Filter)
		reply := map[string]any{"dry_run": false, "matched": matched, "purged": purged, "durable": err == nil, "hints": a.hintsAfterPurge()}
		if purged == 0 { // another purge has removed the entry, and that one cannot be taken back either: this one has named it since
			a.Undos.drop(undo)
			undo = ""
		}
		if undo != "" {
			reply["undo"], reply["undo_seconds"] = undo, undoTime.Seconds()
		}
		status := http.StatusOK
		if err != nil {
			status = http.StatusServiceUnavailable
			reply["error"] = map[string]any{"type": apierror.TypeCache, "code": "purge_not_durable", "param": nil, "message": notDurable(err)}
		}
		writeJSON(w, status, reply)
	}
}

func (a *admin) count(f filter) (matched int) {
	for e := range a.Entries.All() {
		if f.Matches(e) {
			matched++
		}
	}
	return matched
}

// notDurable explains a purge that a restart may undo.
func notDurable(err error) string {
	if errors.Is(err, store.ErrUnconfirmed) {
		return "The purge is not certain everywhere: " + err.Error() + ". This process serves none of the entries that it reports as purged, and " +
			"sends the purge to the shared store as soon as that can be reached. Another process serves none of them once it has not reached the store for " +
			"a second. Repeat the purge, until it answers 200 with \"durable\": true."
	}
	return "The purge is not durable: " + err.Error() + ". This process serves none of the entries that it reports as purged, but after " +
		"a restart they may be back. Make the store's file writable or free some space on its disk: the proxy keeps trying to write. " +
		"Then repeat the purge, until it answers 200 with \"durable\": true."
}

// filter is what to list or to purge.
type filter struct {
	store.Filter
	All bool
}

func (f *filter) empty() bool { return *f == filter{} }

// parseFilter reads a filter from named values; absent ones are "".
func parseFilter(get func(string) string) (filter, error) {
	f := filter{Filter: store.Filter{Model: get("model"), Namespace: get("namespace"), Tenant: get("tenant")}}
	for name, to := range map[string]func(uint64){
		"entry": func(n uint64) { f.Entry = policy.ID(n) },
		"topic": func(n uint64) { f.Topic = policy.TopicID(n) },
	} {
		v := get(name)
		if v == "" {
			continue
		}
		n, err := strconv.ParseUint(v, 10, 64)
		if err != nil || n == 0 {
			return f, badParam(name, v, "allowed is a whole number from 1.")
		}
		to(n)
	}
	return f, nil
}

// purgeRequest is the body of POST /admin/purge. Nothing is removed unless dry_run is given as false.
type purgeRequest struct {
	Entry     number `json:"entry"`
	Topic     number `json:"topic"`
	Model     string `json:"model"`
	Namespace string `json:"namespace"`
	Tenant    string `json:"tenant"`
	All       bool   `json:"all"`
	DryRun    *bool  `json:"dry_run"`
	Undo      bool   `json:"undo"`
}

// dry reports whether nothing is to be removed.
func (r *purgeRequest) dry() bool { return r.DryRun == nil || *r.DryRun }

// number is what is given as a number, or as a string of one, for parseFilter to read.
type number string

// UnmarshalJSON implements json.Unmarshaler.
func (n *number) UnmarshalJSON(raw []byte) error {
	if string(raw) != "null" {
		*n = number(strings.Trim(string(raw), `"`))
	}
	return nil
}

func readPurge(r *http.Request) (f filter, how purgeRequest, err error) {
	var req purgeRequest
	err = readObject(r, "the purge", []string{"entry", "topic", "model", "namespace", "tenant", "all", "dry_run", "undo"}, &req,
		"Give an object with entry, topic, model, namespace, tenant or all, and dry_run and undo, which are true or false.")
	if err != nil {
		return f, req, err
	}
	named := map[string]string{"entry": string(req.Entry), "topic": string(req.Topic), "model": req.Model, "namespace": req.Namespace, "tenant": req.Tenant}
	if f, err = parseFilter(func(name string) string { return named[name] }); err != nil {
		return f, req, err
	}
	if f.empty() && !req.All {
		return f, req, apierror.BadRequest("empty_purge", `Name what to purge: entry, topic, model, namespace or tenant, or "all": true.`)
	}
	if !f.empty() && req.All {
		return f, req, apierror.BadRequest("ambiguous_purge", `"all" purges everything and goes with nothing else.`)
	}
	if req.Undo && (f.Entry == 0 || f.Filter != (store.Filter{Entry: f.Entry})) {
		return f, req, apierror.BadRequest("invalid_undo", `"undo": true goes with one entry alone: what it removes is held for ten seconds.`)
	}
	return f, req, nil
}

// inJSONWords describes a mistake in a body without naming Go types.
func inJSONWords(err error) string {
	var mistyped *json.UnmarshalTypeError
	var broken *json.SyntaxError
	switch {
	case errors.As(err, &mistyped):
		return cmp.Or(mistyped.Field, "the body") + " may not be a " + mistyped.Value
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "the body did not come whole"
	case errors.As(err, &broken):
		return fmt.Sprintf("it is no JSON from byte %d on", max(broken.Offset, 1))
	}
	return err.Error()
}
