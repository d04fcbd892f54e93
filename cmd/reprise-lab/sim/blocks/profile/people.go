package profile

import (
	"cmp"
	"math"
	"slices"

	"reprise/cmd/reprise-lab/sim/blocks"
)

// Turns is how long conversations are. Turns of a conversation are the largest turn of its requests.
type Turns struct {
	Sessions int     `json:"sessions"`
	Single   float64 `json:"single_turn_sessions_share"`
	Mean     float64 `json:"mean"` // of the sessions
	SD       float64 `json:"sd"`
	P50      int     `json:"p50"`
	P90      int     `json:"p90"`
	P99      int     `json:"p99"`
	Most     int     `json:"most"`
	// First, RequestP50 and RequestP90 are over the requests: the share at turn 1, and quantiles of the turn.
	First      float64 `json:"first_turn_requests_share"`
	RequestP50 int     `json:"request_p50"`
	RequestP90 int     `json:"request_p90"`
	CDF        []Point `json:"cdf"`  // share of the sessions with at most X turns
	Next       *Map    `json:"next"` // share of the requests that a next turn follows; nil where no request goes on
}

// Users is who sends requests and who hits.
type Users struct {
	Users    int         `json:"users"`
	Requests Skew        `json:"requests"`
	Hits     Skew        `json:"hits"`
	Own      float64     `json:"own_hits_share"` // of the hits whose users are known: blocks that the same user used last
	Top      []uint32    `json:"top"`            // the users with the most hits
	TopHits  []int64     `json:"top_hits"`       // of each of Top
	Between  [][]int64   `json:"between"`        // hits of a user of Top, by the user of Top that used the block last
	Turns    []UserTurns `json:"turns"`          // those with the highest mean first; nil without conversations
}

// UserTurns is how long the conversations of a user are: of the user of a conversation's first request.
type UserTurns struct {
	User     uint32  `json:"user"`
	Sessions int     `json:"sessions"`
	Mean     float64 `json:"mean"`
	SD       float64 `json:"sd"`
}

// session is what is known of a conversation.
type session struct {
	turns int
	user  uint32
}

// conversations are in the order of their first requests.
func (p *summary) conversations() []session {
	all := make([]session, len(p.sessions.ids))
	for i := len(p.trace.Requests) - 1; i >= 0; i-- {
		if r := &p.trace.Requests[i]; r.Session != 0 {
			s := &all[p.sessions.rank[r.Session]]
			s.turns, s.user = max(s.turns, int(r.Turn)), r.User
		}
	}
	return all
}

func (p *summary) turns(m *mapping) *Turns {
	sessions := p.conversations()
	t := &Turns{Sessions: len(sessions)}
	var each, requests []int
	for _, s := range sessions {
		each = append(each, s.turns)
	}
	for i := range p.trace.Requests {
		requests = append(requests, int(p.trace.Requests[i].Turn))
	}
	slices.Sort(each)
	slices.Sort(requests)
	t.Mean, t.SD = moments(each)
	t.P50, t.P90, t.P99, t.Most = blocks.Quantile(each, 0.5), blocks.Quantile(each, 0.9), blocks.Quantile(each, 0.99), blocks.Quantile(each, 1)
	t.RequestP50, t.RequestP90 = blocks.Quantile(requests, 0.5), blocks.Quantile(requests, 0.9)
	t.Single = below(each, 1)
	t.First = below(requests, 1)
	for turn := 1; turn <= t.Most; turn = max(turn+1, turn*5/4) {
		t.CDF = append(t.CDF, Point{float64(turn), below(each, turn)})
	}
	if n := len(t.CDF); n > 0 && t.CDF[n-1].Y < 1 {
		t.CDF = append(t.CDF, Point{float64(t.Most), 1})
	}
	for _, c := range p.cells {
		if c != nil && c.next > 0 {
			t.Next = p.nexts(m)
			break
		}
	}
	return t
}

func moments(all []int) (mean, sd float64) {
	n := float64(max(1, len(all)))
	for _, v := range all {
		mean += float64(v) / n
	}
	for _, v := range all {
		sd += (float64(v) - mean) * (float64(v) - mean) / n
	}
	return mean, math.Sqrt(sd)
}

// below is the share of the sorted values up to v.
func below(sorted []int, v int) float64 {
	n, _ := slices.BinarySearch(sorted, v+1)
	return ratio(n, len(sorted))
}

func (p *summary) people() *Users {
	n := len(p.users.ids)
	requests := make([]int64, n)
	for i := range p.trace.Requests {
		if user := p.trace.Requests[i].User; user != 0 {
			requests[p.users.rank[user]]++
		}
	}
	known := int64(0)
	for _, hits := range p.between {
		known += hits
	}
	u := &Users{Users: n, Requests: skewOf(requests), Hits: skewOf(p.userHits), Own: ratio(p.own, known)}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p.userHits[b], p.userHits[a]) })
	for _, i := range order[:min(n, topUsers)] {
		u.Top, u.TopHits = append(u.Top, p.users.ids[i]), append(u.TopHits, p.userHits[i])
	}
	for _, a := range u.Top {
		row := make([]int64, len(u.Top))
		for k, b := range u.Top {
			row[k] = p.between[[2]uint32{a, b}]
		}
		u.Between = append(u.Between, row)
	}
	u.Turns = p.userTurns()
	return u
}

func (p *summary) userTurns() (all []UserTurns) {
	by := map[uint32][]int{}
	for _, s := range p.conversations() {
		if s.user != 0 {
			by[s.user] = append(by[s.user], s.turns)
		}
	}
	for _, user := range p.users.ids {
		if turns := by[user]; len(turns) > 0 {
			t := UserTurns{User: user, Sessions: len(turns)}
			t.Mean, t.SD = moments(turns)
			all = append(all, t)
		}
	}
	slices.SortStableFunc(all, func(a, b UserTurns) int { return cmp.Compare(b.Mean, a.Mean) })
	return all
}

// skewPoints are the shares of the members at which a Skew has points.
var skewPoints = []float64{0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1}

// skewOf is the skew of the values.
func skewOf[N int64 | uint32](values []N) (s Skew) {
	values = slices.Clone(values)
	slices.Sort(values)
	total := int64(0)
	for _, v := range values {
		total += int64(v)
	}
	sum, next := int64(0), 0
	n := len(values)
	for i := range values {
		sum += int64(values[n-1-i])
		share := float64(i+1) / float64(n)
		if s.Half == 0 && 2*sum >= total {
			s.Half = share
		}
		if s.Most == 0 && 10*sum >= 9*total {
			s.Most = share
		}
		for next < len(skewPoints) && int(math.Ceil(skewPoints[next]*float64(n))) == i+1 {
			s.Curve = append(s.Curve, Point{skewPoints[next], ratio(sum, total)})
			next++
		}
	}
	return s
}
