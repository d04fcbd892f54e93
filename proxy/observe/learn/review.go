package learn

import (
	"errors"
	"net/http"
	"slices"
	"strconv"

	"reprise/policy"
	"reprise/proxy/cache"
	"reprise/proxy/internal/apierror"
	"reprise/topics/reuse"
	"reprise/topics/reuse/compare"
)

// Row is a pair in a list. Explained is there where the prompts are.
type Row struct {
	Reviewed
	Words     string     `json:"in_words"`
	Explained *Explained `json:"explained,omitempty"` // by the rules and estimates of now
}

// list are pairs, the newest first.
type list struct {
	Pairs   []Row          `json:"pairs"`
	Total   int            `json:"total"`          // of this kind
	Next    uint64         `json:"next,omitempty"` // the value of before for the pairs that follow; absent: there are none
	Kinds   map[string]int `json:"kinds"`          // how many there are of each
	Prompts bool           `json:"prompts_may_be_shown"`
	Undo    float64        `json:"undo_seconds"` // how long a verdict may be taken back
	How     string         `json:"how_it_is_kept"`
}

const how = "The last 250 pairs of each kind since the start, and 1,000 of the shadow mode: a request, and the stored answer that was found for it by meaning. served: it got the " +
	"answer. compared, shadow: the upstream was asked too, and both answers were compared. refused: a veto, a difference that is not listed, or the estimate kept the answer back. " +
	"below: the nearest answer up to 0.1 below the hit threshold, of one request in 16. Of prompts behind a frame or a label the part that asks is shown, which was compared; the rest is equal in both. Requests with no-store are not kept, prompts only where REPRISE_LOG_PROMPTS is true, cut at " +
	"8 KiB, and a purge removes what it names. P is the estimated probability that the stored answer is right, at the time of the request."

// List lists at most limit pairs of a kind, "" of all, with ids below before. The error is for a kind that there is not. It takes up to 10 ms for
// each pair of prompts of 8 KiB.
func (l *Learner) List(kind string, limit int, before uint64) (any, error) {
	if kind != "" && !slices.Contains(kinds, Kind(kind)) {
		return nil, apierror.BadRequest("invalid_parameter", "kind is "+apierror.Quote(kind)+"; allowed is "+kindNames()+".")
	}
	all := l.Reviews()
	shown := list{Pairs: []Row{}, Kinds: map[string]int{}, Prompts: l.o.Prompts, Undo: undoTime.Seconds(), How: how}
	for _, k := range kinds {
		shown.Kinds[string(k)] = 0
	}
	for i := range all {
		shown.Kinds[string(all[i].Kind)]++
		if kind != "" && string(all[i].Kind) != kind {
			continue
		}
		shown.Total++
		switch {
		case all[i].ID >= before:
		case len(shown.Pairs) < limit:
			shown.Pairs = append(shown.Pairs, l.row(&all[i]))
		case shown.Next == 0:
			shown.Next = shown.Pairs[len(shown.Pairs)-1].ID
		}
	}
	return shown, nil
}

// row is a pair with its words. The alignment is linear in the prompts.
func (l *Learner) row(r *Reviewed) Row {
	row := Row{Reviewed: *r, Words: words(r)}
	if r.Prompt != "" && r.StoredPrompt != "" {
		j := l.o.Server.Judge(r)
		x := Explain(j, r.StoredPrompt, r.Prompt, decision(j, r))
		row.Explained = &x
	}
	return row
}

// decision is the verdict whose edits are those of the prompts as they are kept: of prompts that were cut they would be of other places.
func decision(j *reuse.Judge, r *Reviewed) *reuse.Verdict {
	if len(r.Prompt) == r.PromptBytes && len(r.StoredPrompt) == r.StoredBytes {
		return &r.Decision
	}
	v := j.Judge(r.StoredPrompt, r.Prompt, reuse.Context{Tenant: r.Decision.Case.Tenant, Scope: r.Decision.Case.Scope, Family: r.Decision.Case.Family,
		Similarity: r.Similarity, Draw: neverExplore})
	return &v
}

const neverExplore = 1 - 1.0/(1<<53) // a draw with which nothing is explored that would be served

// shown is a pair with both answers.
type shown struct {
	Row
	Answers *answers `json:"answers,omitempty"` // only where prompts may be shown
}

// answers are the stored answer and that of the upstream to the request, as they are kept now; nil: it is not there any more, has no text, or was not
// kept.
type answers struct {
	Stored *string `json:"stored"`
	Own    *string `json:"own"`
	Now    string  `json:"compared_by_text,omitempty"` // same, different or unknown
	Why    string  `json:"compared_because,omitempty"` // the rule that says so
}

// Show shows a pair. It reads up to two answers.
func (l *Learner) Show(id uint64) (any, error) {
	r, ok := l.Review(id)
	if !ok {
		return nil, refusalOf(errUnknownReview, id)
	}
	s := shown{Row: l.row(&r)}
	if !l.o.Prompts {
		return s, nil
	}
	a := &answers{}
	s.Answers = a
	for _, one := range []struct {
		id uint64
		to **string
	}{{r.Entry, &a.Stored}, {r.Own, &a.Own}} {
		if one.id == 0 {
			continue
		}
		e, ok := l.o.Cache.Get(policy.ID(one.id))
		if !ok {
			continue
		}
		text, ok, err := l.o.Server.Text(&cache.Hit{Entry: e})
		if err != nil {
			return nil, err
		}
		if ok {
			*one.to = &text
		}
	}
	if a.Stored != nil && a.Own != nil {
		noise := compare.Noise(l.o.Cache.Rates().Noise(&r.Decision.Case))
		now := l.o.Compare(compare.Pair{StoredPrompt: r.StoredPrompt, Prompt: r.Prompt, Stored: *a.Stored, Fresh: *a.Own}, &noise)
		a.Now, a.Why = outcomeNames[now.Outcome], now.Why
	}
	return s, nil
}

// Said is a pair with a verdict, and what that does.
type Said struct {
	Row
	Effect string `json:"effect"`
}

// Say gives a verdict on a pair, and Unsay takes it back.
func (l *Learner) Say(id uint64, right bool) (any, error) {
	r, err := l.say(id, right)
	if err != nil {
		return nil, refusalOf(err, id)
	}
	return Said{l.row(&r), effect(&r, right)}, nil
}

// Unsay takes a verdict back.
func (l *Learner) Unsay(id uint64) (any, error) {
	r, err := l.unsay(id)
	if err != nil {
		return nil, refusalOf(err, id)
	}
	return Said{l.row(&r), "The verdict is taken back, and all is as before."}, nil
}

// refusalOf is an error of the learner on a pair, as a client is shown it.
func refusalOf(err error, id uint64) error {
	e := &apierror.Error{Status: http.StatusConflict, Type: apierror.TypeInvalidRequest}
	pair := "pair " + strconv.FormatUint(id, 10)
	switch {
	case errors.Is(err, errUnknownReview):
		e.Status, e.Code = http.StatusNotFound, "not_found"
		e.Message = "There is no " + pair + " any more: the last 250 of each kind are kept, and a purge removes what it names."
	case errors.Is(err, errSaid):
		e.Code, e.Message = "already_given", "There is a verdict on "+pair+" already; it counts once."
	case errors.Is(err, errTooLate):
		e.Code, e.Message = "too_late", "There is no verdict on "+pair+" that may be taken back: that is possible for ten seconds."
	default:
		return err
	}
	return e
}

// kindNames lists the kinds: a, b or c.
func kindNames() (text string) {
	for i, k := range kinds {
		switch {
		case i == len(kinds)-1:
			text += " or "
		case i > 0:
			text += ", "
		}
		text += string(k)
	}
	return text
}
