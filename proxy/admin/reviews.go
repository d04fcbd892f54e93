package admin

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"github.com/go-chi/chi/v5"

	"reprise/proxy/internal/apierror"
)

// Reviews are the pairs of a request and a stored answer that an operator may look at.
type Reviews interface {
	// List lists at most limit pairs of a kind, "" of all; false where there is no such kind.
	List(kind string, limit int) (list any, ok bool)
	// Show shows a pair with both answers; false where there is none with this id any more.
	Show(ctx context.Context, id uint64) (pair any, ok bool, err error)
	// Say gives a verdict on a pair, and Unsay takes it back while that is possible. The error may be ErrNoReview, ErrSaid or ErrTooLate.
	Say(id uint64, right bool) (pair any, err error)
	Unsay(id uint64) (pair any, err error)
}

// Errors of Reviews.
var (
	ErrNoReview = errors.New("the pair is not known")
	ErrSaid     = errors.New("there is a verdict on this pair already")
	ErrTooLate  = errors.New("there is no verdict that may be taken back")
)

// mostReviews is how many pairs an answer has at most.
const mostReviews = 1000

// reviewer shows reviews; without Reviews there are none.
type reviewer struct{ Reviews }

// list lists the last pairs of a kind, at most limit (50).
func (v reviewer) list(r *http.Request) (any, error) {
	limit, err := intParam(r, "limit", 50)
	if err != nil {
		return nil, err
	}
	kind := r.URL.Query().Get("kind")
	list, ok := v.List(kind, min(limit, mostReviews))
	if !ok {
		return nil, apierror.BadRequest("invalid_parameter", "kind is "+apierror.Quote(kind)+"; allowed is served, compared, shadow, refused or below.")
	}
	return list, nil
}

func (v reviewer) show(r *http.Request) (any, error) {
	id, err := reviewID(r)
	if err != nil {
		return nil, err
	}
	pair, ok, err := v.Show(r.Context(), id)
	if err == nil && !ok {
		err = noReview(id)
	}
	return pair, err
}

// reviewRequest is the body of POST /admin/reviews/{id}.
type reviewRequest struct {
	Verdict string `json:"verdict"`
}

// say gives a verdict, or takes it back.
func (v reviewer) say(w http.ResponseWriter, r *http.Request) {
	id, err := reviewID(r)
	var req reviewRequest
	if err == nil {
		err = readObject(r, "a verdict", []string{"verdict"}, &req, `Give an object with verdict: "right", "wrong", or "undo" within ten seconds.`)
	}
	if err != nil {
		apierror.Write(w, toAPIError(err))
		return
	}
	var pair any
	switch req.Verdict {
	case "right", "wrong":
		pair, err = v.Say(id, req.Verdict == "right")
	case "undo":
		pair, err = v.Unsay(id)
	default:
		err = apierror.BadRequest("invalid_verdict", "verdict is "+apierror.Quote(req.Verdict)+`; allowed is "right", "wrong" or "undo".`)
	}
	switch {
	case errors.Is(err, ErrNoReview):
		err = noReview(id)
	case errors.Is(err, ErrSaid):
		err = conflict("already_given", "There is a verdict on pair "+strconv.FormatUint(id, 10)+" already; it counts once.")
	case errors.Is(err, ErrTooLate):
		err = conflict("too_late", "Pair "+strconv.FormatUint(id, 10)+" has no verdict that may be taken back: that is possible for ten seconds.")
	}
	if err != nil {
		apierror.Write(w, toAPIError(err))
		return
	}
	writeJSON(w, http.StatusOK, pair)
}

func reviewID(r *http.Request) (uint64, error) {
	text := chi.URLParam(r, "id")
	id, err := strconv.ParseUint(text, 10, 64)
	if err != nil || id == 0 {
		return 0, apierror.BadRequest("invalid_parameter", "The id of a pair is "+apierror.Quote(text)+"; allowed is a whole number from 1, as GET /admin/reviews has it.")
	}
	return id, nil
}

func noReview(id uint64) error {
	return &apierror.Error{Status: http.StatusNotFound, Type: apierror.TypeInvalidRequest, Code: "not_found",
		Message: "There is no pair " + strconv.FormatUint(id, 10) + " any more: the last 250 of each kind are kept, and a purge removes what it names."}
}

func conflict(code, message string) error {
	return &apierror.Error{Status: http.StatusConflict, Type: apierror.TypeInvalidRequest, Code: code, Message: message}
}
