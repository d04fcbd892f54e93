package admin

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"reprise/policy"
	"reprise/proxy/internal/apierror"
	"reprise/proxy/internal/clientio"
	"reprise/store"
)

// purge removes what the body's filter matches, or counts it. A purge that is not durable is a 503.
func (a *admin) purge(w http.ResponseWriter, r *http.Request) {
	f, dry, err := readPurge(r)
	switch {
	case err != nil:
		apierror.Write(w, toAPIError(err))
	case dry:
		writeJSON(w, http.StatusOK, map[string]any{"dry_run": true, "matched": a.count(f), "purged": 0})
	default:
		matched, purged, err := a.Proxy.Purge(r.Context(), f.Filter)
		reply := map[string]any{"dry_run": false, "matched": matched, "purged": purged, "durable": err == nil, "hints": a.hintsAfterPurge()}
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
			"REPRISE_SHARED_GRACE. Repeat the purge, until it answers 200 with \"durable\": true."
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
			return f, apierror.BadRequest("invalid_parameter", name+" is "+apierror.Quote(v)+"; allowed is a whole number from 1.")
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
}

// number is what is given as a number, or as a string of one, for parseFilter to read.
type number string

// UnmarshalJSON implements json.Unmarshaler.
func (n *number) UnmarshalJSON(raw []byte) error {
	if string(raw) != "null" {
		*n = number(strings.Trim(string(raw), `"`))
	}
	return nil
}

// maxPurge is the largest body of a purge in bytes.
const maxPurge = 64 << 10

// decodePurge reads a body that all JSON readers read in the same way: one object, each name once and as it is spelled here. A purge
// that removed something else than its sender has read in it could not be taken back.
func decodePurge(body []byte, req *purgeRequest) error {
	switch {
	case len(bytes.TrimSpace(body)) == 0:
		return errors.New("the body is empty")
	case len(body) > maxPurge:
		return fmt.Errorf("the body is larger than %d bytes", maxPurge)
	case !utf8.Valid(body):
		return errors.New("the body is not UTF-8")
	}
	if err := json.Unmarshal(body, req); err != nil {
		return err
	}
	left := []string{"entry", "topic", "model", "namespace", "tenant", "all", "dry_run"}
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.Token() // the brace, or null
	for dec.More() {
		name, _ := dec.Token()
		at := slices.Index(left, name.(string))
		if at < 0 {
			return fmt.Errorf("the name %q is unknown, or given twice", name)
		}
		left = slices.Delete(left, at, at+1)
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return err
		}
	}
	return nil
}

func readPurge(r *http.Request) (f filter, dry bool, err error) {
	// A web page can send other types anywhere without asking first.
	if media, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); media != "application/json" {
		return f, true, &apierror.Error{Status: http.StatusUnsupportedMediaType, Type: apierror.TypeInvalidRequest, Code: "invalid_content_type",
			Message: apierror.NotJSON(r.Header.Get("Content-Type"), "a purge")}
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxPurge+1))
	if clientio.TooSlow(r) {
		return f, true, clientio.ErrTooSlow
	}
	var req purgeRequest
	if err == nil {
		err = decodePurge(body, &req)
	}
	if err != nil {
		return f, true, apierror.BadRequest("invalid_json", "The purge is not understood: "+inJSONWords(err)+
			". Give an object with entry, topic, model, namespace, tenant or all, and dry_run.")
	}
	named := map[string]string{"entry": string(req.Entry), "topic": string(req.Topic), "model": req.Model, "namespace": req.Namespace, "tenant": req.Tenant}
	if f, err = parseFilter(func(name string) string { return named[name] }); err != nil {
		return f, true, err
	}
	if f.empty() && !req.All {
		return f, true, apierror.BadRequest("empty_purge", `Name what to purge: entry, topic, model, namespace or tenant, or "all": true.`)
	}
	if !f.empty() && req.All {
		return f, true, apierror.BadRequest("ambiguous_purge", `"all" purges everything and goes with nothing else.`)
	}
	return f, req.DryRun == nil || *req.DryRun, nil
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
