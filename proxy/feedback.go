package proxy

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"

	"reprise/policy"
	"reprise/proxy/cache"
	"reprise/proxy/canon"
	"reprise/proxy/gate"
	"reprise/proxy/internal/apierror"
	"reprise/proxy/internal/clientio"
	"reprise/store"
	"reprise/topics/reuse/evidence"
)

// feedbackPath is the endpoint of feedback.
const feedbackPath = "/v1/reprise/feedback"

// maxFeedback is the largest body of feedback in bytes.
const maxFeedback = 4 << 10

// feedback takes a verdict on an answer that was served to another prompt than its own, by the number in its header X-Reprise-Entry. It
// concerns the last time that the entry answered the caller's tenant in this way, or any with the admin token. A tenant's verdict counts
// for its own requests only, and one that is unknown here is refused in the same words as that of another tenant.
func (x *work) feedback() (Result, error) {
	s, w, r := x.s, x.w, x.r.http
	if err := checkConnection(r.Header); err != nil {
		return Refused, err
	}
	id, right, err := readFeedback(r)
	if err != nil {
		return Refused, err
	}
	of, from := func(*store.Labels) bool { return true }, evidence.Operator
	if !gate.HasToken(r, s.live.Load().adminToken) {
		tenant := s.ids.tenant(r.Header)
		of, from = func(l *store.Labels) bool { return l != nil && l.Tenant == tenant }, evidence.Feedback
	}
	err = s.cache.Verdicts().Feedback(of, id, right, from)
	number := strconv.FormatUint(uint64(id), 10)
	switch {
	case errors.Is(err, cache.ErrUnknownHit):
		return Refused, &apierror.Error{Status: http.StatusNotFound, Type: apierror.TypeInvalidRequest, Code: "not_found", Param: "entry",
			Message: "Entry " + number + " has not answered another prompt than its own of late, with this credential. Feedback is for answers by meaning, with X-Cache: semantic or \"alias\" in Cache-Status, " +
				"by the number in their X-Reprise-Entry."}
	case errors.Is(err, cache.ErrCounted):
		return Refused, &apierror.Error{Status: http.StatusConflict, Type: apierror.TypeInvalidRequest, Code: "already_given", Param: "entry",
			Message: "There is feedback on this answer of entry " + number + " already; it counts once."}
	case err != nil:
		return Refused, err
	}
	s.learner.Verdict(right)
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, `{"entry":`+number+`,"counted":true}`+"\n")
	return Bypass, nil
}

// feedbackNames are the members of feedback.
var feedbackNames = canon.MakeNames(nil, []string{"entry", "verdict"})

// readFeedback reads a body that all JSON readers read in the same way.
func readFeedback(r *http.Request) (id policy.ID, right bool, err error) {
	if ct := r.Header.Get("Content-Type"); !isJSON(ct) { // a web page can send other types anywhere without asking first
		return 0, false, apierror.BadRequest("invalid_content_type", apierror.NotJSON(ct, "feedback"))
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxFeedback+1))
	switch {
	case clientio.TooSlow(r):
		return 0, false, clientio.ErrTooSlow
	case r.Context().Err() != nil:
		return 0, false, errClientGone
	case err != nil:
		return 0, false, errBodyBroken
	case len(body) > maxFeedback:
		return 0, false, &apierror.Error{Status: http.StatusRequestEntityTooLarge, Type: apierror.TypeInvalidRequest, Code: "request_too_large",
			Message: "Feedback has at most " + strconv.Itoa(maxFeedback) + " bytes."}
	}
	if err := canon.Strict(body, feedbackNames); err != nil {
		return 0, false, err
	}
	return parseFeedback(body)
}

// parseFeedback reads the members. The body is strict JSON.
func parseFeedback(body []byte) (id policy.ID, right bool, err error) {
	var members map[string]json.RawMessage
	if json.Unmarshal(body, &members) != nil || members == nil {
		return 0, false, badFeedback("", `The body is no object; allowed is {"entry": NUMBER, "verdict": "right" or "wrong"}.`)
	}
	for name := range members {
		if name != "entry" && name != "verdict" {
			return 0, false, badFeedback(name, "The member "+apierror.Quote(name)+" is unknown; allowed are entry and verdict.")
		}
	}
	entry := strings.Trim(string(members["entry"]), `"`)
	n, err := strconv.ParseUint(entry, 10, 64)
	if err != nil || n == 0 {
		return 0, false, badFeedback("entry", "entry is "+given(entry)+"; allowed is a whole number from 1, as in the header X-Reprise-Entry.")
	}
	verdict := string(members["verdict"])
	if verdict != `"right"` && verdict != `"wrong"` {
		return 0, false, badFeedback("verdict", "verdict is "+given(strings.Trim(verdict, `"`))+`; allowed is "right" or "wrong".`)
	}
	return policy.ID(n), verdict == `"right"`, nil
}

// given is a value for a message.
func given(value string) string {
	if value == "" {
		return "not given"
	}
	return apierror.Quote(value)
}

func badFeedback(param, message string) error {
	e := apierror.BadRequest("invalid_feedback", message)
	e.Param = param
	return e
}
