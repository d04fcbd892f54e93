package learn

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"reprise/topics/reuse/evidence"
)

// trust is what a scope has shown of one kind of evidence.
type trust struct {
	Kind      string `json:"kind"`
	State     string `json:"state"` // one of trustStates
	Same      int    `json:"same"`
	Different int    `json:"different"`
	Undecided int    `json:"undecided"`
	Needed    int    `json:"needed"` // of Same
}

// trustStates are the states: answers are served; too few pairs were compared; some came out different; too many could not be decided.
var trustStates = []string{"trusted", "earning", "lost", "undecided"}

func trustOf(t *evidence.Trust) trust {
	state := trustStates[1]
	switch {
	case t.Holds():
		state = trustStates[0]
	case t.Wrong > 0:
		state = trustStates[2]
	case t.Undecided:
		state = trustStates[3]
	}
	return trust{t.Kind.String(), state, t.Same, t.Wrong, t.Unknown, t.Needed}
}

// trustedScope is what one scope has shown, for an operator. What it is of is known where a pair of it was compared since the start, among the last
// mostPlaces scopes.
type trustedScope struct {
	ID        string  `json:"id"`
	Tenant    string  `json:"tenant,omitempty"`
	Namespace string  `json:"namespace,omitempty"`
	Model     string  `json:"model,omitempty"`
	Endpoint  string  `json:"endpoint,omitempty"`
	Trust     []trust `json:"trust"`
	Noise     int     `json:"repeated"`           // comparisons of answers to equal prompts
	Ended     uint64  `json:"ended_by,omitempty"` // the pair that came out different last: GET /admin/reviews/{id} has both answers
}

// places remember what scopes of the evidence are of.
type places struct {
	mu    sync.Mutex // guards what follows
	of    map[uint64]*scopePlace
	order []uint64 // the oldest first
}

// scopePlace is where a scope belongs, and the id of the pair that came out different last.
type scopePlace struct {
	Place
	ended uint64
}

const mostPlaces = 1024

// note notes a pair that was compared, by the id under which it may be reviewed.
func (l *Learner) note(p *Pair, outcome evidence.Outcome, id uint64) {
	at := p.Verdict.Case.ScopeID()
	l.places.mu.Lock()
	defer l.places.mu.Unlock()
	one := l.places.of[at]
	if one == nil {
		if len(l.places.order) == mostPlaces {
			delete(l.places.of, l.places.order[0])
			l.places.order = slices.Delete(l.places.order, 0, 1)
		}
		one = &scopePlace{Place: p.Place}
		l.places.of[at] = one
		l.places.order = append(l.places.order, at)
	}
	if outcome == evidence.Different {
		one.ended = id
	}
}

// forgetPlaces forgets what scopes are of that a purge names.
func (l *Learner) forgetPlaces(named func(*Place) bool) {
	l.places.mu.Lock()
	defer l.places.mu.Unlock()
	l.places.order = slices.DeleteFunc(l.places.order, func(at uint64) bool {
		gone := named(&l.places.of[at].Place)
		if gone {
			delete(l.places.of, at)
		}
		return gone
	})
}

// Trusted is what scopes have shown, where answers may be wrong at the rate that is in force for all requests.
type Trusted struct {
	MaxError float64        `json:"max_error_rate"`
	Count    map[string]int `json:"count"` // of scopes and kinds, by state
	Scopes   []trustedScope `json:"scopes"`
}

// Trusted lists what scopes have shown, those that lost trust first, then those of which too little is decided, then those that earn it; at most
// limit.
func (l *Learner) Trusted(limit int) Trusted {
	maxError := l.o.Server.MaxError()
	all, count := []trustedScope{}, map[string]int{}
	for _, s := range l.o.Cache.Rates().Scopes(maxError) {
		one := trustedScope{ID: fmt.Sprintf("%016x", s.ID), Noise: s.Noise}
		for i := range s.Trust {
			if t := &s.Trust[i]; t.Same+t.Wrong+t.Unknown > 0 {
				one.Trust = append(one.Trust, trustOf(t))
				count[one.Trust[len(one.Trust)-1].State]++
			}
		}
		l.places.mu.Lock()
		if p := l.places.of[s.ID]; p != nil {
			one.Tenant, one.Namespace, one.Model, one.Endpoint, one.Ended = p.Tenant, p.Namespace, p.Model, p.Endpoint, p.ended
		}
		l.places.mu.Unlock()
		if len(one.Trust) > 0 {
			all = append(all, one)
		}
	}
	rank := func(s *trustedScope) (worst int) {
		for _, t := range s.Trust {
			worst = max(worst, []int{0, 1, 3, 2}[slices.Index(trustStates, t.State)])
		}
		return worst
	}
	slices.SortFunc(all, func(a, b trustedScope) int { return cmp.Or(rank(&b)-rank(&a), cmp.Compare(a.ID, b.ID)) })
	return Trusted{maxError, count, all[:min(len(all), limit)]}
}
