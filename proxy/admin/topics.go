package admin

import (
	"cmp"
	"encoding/hex"
	"net/http"
	"slices"

	"reprise/policy"
)

// topicView is a topic as the admin API shows it.
type topicView struct {
	Topic   policy.TopicID `json:"topic"`
	Entries int            `json:"entries"`
	Model   string         `json:"model"`
	Tenant  string         `json:"tenant"`
	Sample  string         `json:"sample"` // the prompt of its oldest member
	oldest  policy.ID
}

// listTopics lists the topics that have a comparable member, largest first, at most limit (100).
func (a *admin) listTopics(r *http.Request) (any, error) {
	limit, err := intParam(r, "limit", 100)
	if err != nil {
		return nil, err
	}
	byID := map[policy.TopicID]*topicView{}
	for e := range a.Entries.All() {
		if e.Prompt == "" {
			continue
		}
		v := byID[e.Topic]
		if v == nil {
			v = &topicView{Topic: e.Topic, oldest: e.ID + 1}
			byID[e.Topic] = v
		}
		v.Entries++
		if e.ID < v.oldest {
			v.oldest, v.Sample, v.Model, v.Tenant = e.ID, e.Prompt, e.Model, e.Tenant
		}
	}
	views := make([]*topicView, 0, len(byID))
	for _, v := range byID {
		views = append(views, v)
	}
	slices.SortFunc(views, func(a, b *topicView) int {
		return cmp.Or(cmp.Compare(b.Entries, a.Entries), cmp.Compare(a.Topic, b.Topic))
	})
	return map[string]any{"topics": views[:min(len(views), limit)], "total": len(views), "scopes": a.scopeViews()}, nil
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
