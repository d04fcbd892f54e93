package admin

import (
	"fmt"
	"math"
	"net/http"
	"strconv"

	"github.com/go-chi/chi/v5"

	"reprise/proxy/internal/apierror"
	"reprise/proxy/observe/learn"
)

// reviewer shows reviews.
type reviewer struct{ learner *learn.Learner }

// mostReviews is how many pairs an answer has at most: both prompts of each are aligned.
const mostReviews = 100

// list lists the last pairs of a kind, at most limit (50), with ids below before.
func (v reviewer) list(r *http.Request) (any, error) {
	limit, err := intParam(r, "limit", 50)
	if err != nil {
		return nil, err
	}
	if limit > mostReviews {
		return nil, apierror.BadRequest("invalid_parameter", fmt.Sprintf("limit is %d; allowed is up to %d: before=ID has the pairs that follow.", limit, mostReviews))
	}
	before, err := intParam(r, "before", math.MaxInt)
	if err != nil {
		return nil, err
	}
	return v.learner.List(r.URL.Query().Get("kind"), limit, uint64(before))
}

// mostTrust is how many scopes an answer has at most.
const mostTrust = 1000

// trust lists what scopes have shown, at most limit (100).
func (v reviewer) trust(r *http.Request) (any, error) {
	limit, err := intParam(r, "limit", 100)
	if err != nil {
		return nil, err
	}
	if limit > mostTrust {
		return nil, apierror.BadRequest("invalid_parameter", fmt.Sprintf("limit is %d; allowed is up to %d.", limit, mostTrust))
	}
	return v.learner.Trusted(limit), nil
}

func (v reviewer) show(r *http.Request) (any, error) {
	id, err := reviewID(r)
	if err != nil {
		return nil, err
	}
	return v.learner.Show(id)
}

// say gives a verdict, or takes it back.
func (v reviewer) say(r *http.Request) (any, error) {
	id, err := reviewID(r)
	if err != nil {
		return nil, err
	}
	var req struct {
		Verdict string `json:"verdict"`
	}
	if err := readObject(r, "a verdict", []string{"verdict"}, &req, `Give an object with verdict: "right", "wrong", or "undo" within ten seconds.`); err != nil {
		return nil, err
	}
	switch req.Verdict {
	case "right", "wrong":
		return v.learner.Say(id, req.Verdict == "right")
	case "undo":
		return v.learner.Unsay(id)
	}
	return nil, apierror.BadRequest("invalid_verdict", "verdict is "+apierror.Quote(req.Verdict)+`; allowed is "right", "wrong" or "undo".`)
}

func reviewID(r *http.Request) (uint64, error) {
	text := chi.URLParam(r, "id")
	id, err := strconv.ParseUint(text, 10, 64)
	if err != nil || id == 0 {
		return 0, apierror.BadRequest("invalid_parameter", "The id of a pair is "+apierror.Quote(text)+"; allowed is a whole number from 1, as GET /admin/reviews has it.")
	}
	return id, nil
}
