package admin

import (
	"cmp"
	"encoding/hex"
	"math"
	"net/http"
	"slices"
	"time"

	"reprise/policy"
	"reprise/store"
)

// topicView is a topic as the admin API shows it.
type topicView struct {
	Topic policy.TopicID `json:"topic"`
	topicSums
	Model        string     `json:"model"`
	Tenant       string     `json:"tenant"`
	Sample       string     `json:"sample"` // the prompt of its oldest member
	Anchor       policy.ID  `json:"anchor,omitempty"`
	AnchorPrompt string     `json:"anchor_prompt,omitempty"` // where prompts may be shown
	Oldest       time.Time  `json:"oldest"`                  // when the answer of a member was stored
	Newest       time.Time  `json:"newest"`
	LastUsed     *time.Time `json:"last_used"` // nil: no member was used

	weight float64   // what its prevalence is a share by
	first  policy.ID // of its members
	last   time.Time // LastUsed; zero: not used
}

// topicSums are the figures of one topic or of several.
type topicSums struct {
	Entries     int      `json:"entries"`
	Bytes       int64    `json:"bytes"`
	Prevalence  *float64 `json:"prevalence"` // nil: no request is counted
	Hits        int64    `json:"hits"`
	TokensSaved int64    `json:"tokens_saved"`
}

// restView is the topics that a list leaves out.
type restView struct {
	Topics int `json:"topics"`
	topicSums
}

// topicList is what GET /admin/topics answers.
type topicList struct {
	Topics  []*topicView      `json:"topics"`
	Total   int               `json:"total"`
	Rest    restView          `json:"rest"` // those that are not listed, together
	Counted map[string]string `json:"how_it_is_counted"`
	Scopes  []scopeView       `json:"scopes"`
}

// topicOrders are what topics are listed by; the first is the default.
var topicOrders = []order[*topicView]{
	{"entries", func(v *topicView) float64 { return float64(v.Entries) }},
	{"prevalence", func(v *topicView) float64 { return v.weight }},
	{"hits", func(v *topicView) float64 { return float64(v.Hits) }},
	{"tokens_saved", func(v *topicView) float64 { return float64(v.TokensSaved) }},
}

// listTopics lists the topics that have a comparable member, in an order, at most limit (100), or one of them, and sums up the rest.
func (a *admin) listTopics(r *http.Request) (any, error) {
	limit, err := intParam(r, "limit", 100)
	if err != nil {
		return nil, err
	}
	by, err := orderNamed(topicOrders, r.URL.Query().Get("sort"), "")
	if err != nil {
		return nil, err
	}
	only, err := intParam(r, "topic", 0)
	if err != nil {
		return nil, err
	}
	a.settle()
	all := sumTopics(a.Entries)
	kept := setPrevalences(a.Entries.Ranks(), all)
	slices.SortFunc(all, func(a, b *topicView) int {
		return cmp.Or(cmp.Compare(by.value(b), by.value(a)), cmp.Compare(a.Topic, b.Topic))
	})
	from, to := 0, min(len(all), limit)
	if only > 0 {
		from = slices.IndexFunc(all, func(v *topicView) bool { return v.Topic == policy.TopicID(only) })
		from, to = max(from, 0), from+1
	}
	shown := all[from:to]
	l := topicList{Topics: shown, Total: len(all), Scopes: a.scopeViews(), Counted: countedOf(a.Shared != nil)}
	for _, rest := range [][]*topicView{all[:from], all[to:]} {
		for _, v := range rest {
			l.Rest.add(v)
		}
	}
	complete(a, shown)
	l.Counted["prevalence"] = prevalenceWords(kept)
	l.Counted["last_used"] = "time of the last hit of a member, to the second; null where there was none"
	return l, nil
}

func prevalenceWords(kept bool) string {
	if kept {
		return "share of the recent requests of all topics that have entries, by the counts of the policy, which halve over time"
	}
	return "share of the recent requests of all topics that have entries. The policy keeps no counts, so it is by the entries: the hits of each and one, " +
		"halved for each hour since it was used last"
}

// sumTopics has each topic once, in no order.
func sumTopics(entries Entries) (all []*topicView) {
	byID, now := map[policy.TopicID]*topicView{}, time.Now()
	all = []*topicView{} // in JSON a list, not null
	for e := range entries.All() {
		if e.Prompt == "" {
			continue
		}
		v := byID[e.Topic]
		if v == nil {
			v = &topicView{Topic: e.Topic, first: e.ID + 1}
			byID[e.Topic], all = v, append(all, v)
		}
		v.addEntry(e, now)
	}
	return all
}

// addEntry counts a member.
func (v *topicView) addEntry(e *store.Entry, now time.Time) {
	use := e.Use()
	v.Entries++
	v.Bytes += int64(bytesOf(e))
	v.Hits += use.Hits
	v.TokensSaved += savedBy(e, use)
	if e.ID < v.first {
		v.first, v.Sample, v.Model, v.Tenant = e.ID, e.Prompt, e.Model, e.Tenant
	}
	if v.Oldest.IsZero() || e.Created.Before(v.Oldest) {
		v.Oldest = e.Created
	}
	if e.Created.After(v.Newest) {
		v.Newest = e.Created
	}
	last := e.Created
	if use.Hits > 0 {
		last = use.Last
	}
	if use.Last.After(v.last) {
		v.last = use.Last
	}
	v.weight += float64(1+use.Hits) * math.Exp2(-max(now.Sub(last).Hours(), 0))
}

// setPrevalences sets the shares, by the counts of the policy where it keeps some.
func setPrevalences(ranks store.Ranks, all []*topicView) (kept bool) {
	ids := make([]policy.TopicID, len(all))
	for i, v := range all {
		ids[i] = v.Topic
	}
	counts, kept := ranks.Prevalences(ids)
	sum := 0.0
	for i, v := range all {
		if kept {
			v.weight = counts[i]
		}
		sum += v.weight
	}
	for _, v := range all {
		if sum > 0 {
			share := v.weight / sum
			v.Prevalence = &share
		}
	}
	return kept
}

// complete sets what only the topics that are shown need.
func complete(a *admin, shown []*topicView) {
	anchors := map[policy.TopicID]policy.ID{}
	for _, t := range a.Topics.List(0, math.MaxInt) {
		anchors[policy.TopicID(t.ID)] = policy.ID(t.Anchor)
	}
	prompts := promptsShown(a.Overview)
	for _, v := range shown {
		if !v.last.IsZero() {
			last := v.last.UTC()
			v.LastUsed = &last
		}
		v.Anchor = anchors[v.Topic]
		if e, ok := a.Entries.Get(v.Anchor); ok && prompts {
			v.AnchorPrompt = e.Prompt
		}
	}
}

func (r *restView) add(v *topicView) {
	r.Topics++
	r.Entries += v.Entries
	r.Bytes += v.Bytes
	r.Hits += v.Hits
	r.TokensSaved += v.TokensSaved
	if v.Prevalence != nil {
		share := *v.Prevalence
		if r.Prevalence != nil {
			share += *r.Prevalence
		}
		r.Prevalence = &share
	}
}

// scopeView is a scope as the admin API shows it, with the index that serves its anchors and why.
type scopeView struct {
	Scope    string  `json:"scope"`
	Topics   int     `json:"topics"`
	Entries  int     `json:"entries"`
	Index    string  `json:"index"`
	Why      string  `json:"why"`
	Recall   float64 `json:"recall,omitempty"`
	Rebuilds int     `json:"rebuilds,omitempty"`
	Faults   int     `json:"faults,omitempty"`

	Nodes        int     `json:"nodes,omitempty"`
	Pending      int     `json:"pending,omitempty"`
	Tombstones   int     `json:"tombstones,omitempty"`
	Breadth      int     `json:"breadth,omitempty"`
	BuildSeconds float64 `json:"build_seconds,omitempty"`
}

func (a *admin) scopeViews() []scopeView {
	views := []scopeView{}
	for _, one := range a.Topics.Stats().Scopes {
		i := one.Index
		views = append(views, scopeView{hex.EncodeToString(one.Scope[:]), one.Topics, one.Entries, i.Backend, i.Why, i.Recall, i.Rebuilds, i.Faults,
			i.Nodes, i.Pending, i.Tombstones, i.Breadth, i.Built.Seconds()})
	}
	return views
}
