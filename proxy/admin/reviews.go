package admin

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"strconv"

	"github.com/go-chi/chi/v5"

	"reprise/proxy/internal/apierror"
)

// Reviews are the pairs of a request and a stored answer that an operator may look at. Errors are shown as they are.
type Reviews interface {
	// List lists at most limit pairs of a kind, "" of all, with ids below before, the highest first.
	List(kind string, limit int, before uint64) (list any, err error)
	// Show shows a pair with both answers.
	Show(ctx context.Context, id uint64) (pair any, err error)
	// Say gives a verdict on a pair, and Unsay takes it back while that is possible.
	Say(id uint64, right bool) (pair any, err error)
	Unsay(id uint64) (pair any, err error)
}

// reviewer shows reviews.
type reviewer struct{ Reviews }

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
	return v.List(r.URL.Query().Get("kind"), limit, uint64(before))
}

func (v reviewer) show(r *http.Request) (any, error) {
	id, err := reviewID(r)
	if err != nil {
		return nil, err
	}
	return v.Show(r.Context(), id)
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
		return v.Say(id, req.Verdict == "right")
	case "undo":
		return v.Unsay(id)
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
