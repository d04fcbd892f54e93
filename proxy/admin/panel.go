package admin

import (
	"fmt"
	"net/http"
	"time"

	"reprise/policy"
	"reprise/proxy/observe"
	"reprise/proxy/observe/watch"
)

// expertView is an expert of a panel as the admin API shows it.
type expertView struct {
	Name     string  `json:"name"`
	HitRatio float64 `json:"hit_ratio"`
	Entries  int     `json:"entries"`
}

// policyView is the policy as the admin API shows it.
type policyView struct {
	Policy  string       `json:"policy"`
	Bytes   int64        `json:"memory_bytes,omitempty"`
	Leader  string       `json:"leader,omitempty"`
	Changed *int64       `json:"changed,omitempty"` // nil where there is no leader
	Changes []changeView `json:"changes,omitempty"`
	Experts []expertView `json:"experts,omitempty"`
	Windows []windowView `json:"windows,omitempty"`
}

// changeView is a change of the leader.
type changeView struct {
	At time.Time `json:"at"` // of the request, in place of that of Change
	policy.Change
	Why string `json:"why"`
}

// windowView is a minute of the policy.
type windowView struct {
	watch.Minute
	Panel *panelWindowView `json:"panel,omitempty"`
}

// panelWindowView is a PanelWindow whose changes have a time and a reason.
type panelWindowView struct {
	policy.PanelWindow
	Changes []changeView `json:"changes,omitempty"`
}

// policy shows which policy chooses the victims, what it did in the last minutes and, where it is a panel, its experts and who leads.
func (a *admin) policy(*http.Request) (any, error) {
	v := policyView{Policy: a.Policy}
	now := a.Entries.Stats()
	if a.Watch != nil {
		if minutes, stats, ok := a.Watch.Minutes(); ok {
			now = stats
			for _, one := range minutes {
				w := windowView{Minute: one}
				if one.Panel != nil {
					w.Panel = &panelWindowView{*one.Panel, changeViews(one.Panel.Changes)}
				}
				v.Windows = append(v.Windows, w)
			}
		}
	}
	if p := now.Panel; p != nil {
		v.Bytes, v.Leader, v.Changed, v.Changes = p.Bytes, p.Experts[p.Leader].Name, &p.Changed, changeViews(p.Changes)
		for _, x := range p.Experts {
			v.Experts = append(v.Experts, expertView{x.Name, x.HitRatio, x.Entries})
		}
	}
	return v, nil
}

// changeViews gives changes their time and their reason in words.
func changeViews(changes []policy.Change) (all []changeView) {
	for _, c := range changes {
		why := fmt.Sprintf("the shadow cache of %s was ahead of that of %s by %.1f hits; more than %.1f pay for the change", c.To, c.From, c.Ahead, c.Needed)
		all = append(all, changeView{time.UnixMicro(int64(1e6 * c.At)).UTC(), c, why})
	}
	return all
}

func collectPanel(panel *policy.PanelStats, p observe.Page) {
	if panel == nil {
		return
	}
	for i, x := range panel.Experts {
		p.Flag("policy_expert_leads", "1 for the expert that the cache follows, else 0, of a policy made of experts.", i == panel.Leader, "expert", x.Name)
		p.Gauge("policy_expert_hit_ratio", "Share of the requests of which an expert alone would have had the answer, or of their tokens where these are the objective; where entries are sampled, of those in the sample.", x.HitRatio, "expert", x.Name)
	}
	p.Count("policy_leader_changes_total", "How often another expert began to lead, of a policy made of experts; GET /admin/policy says when and why.", float64(panel.Changed))
	p.Gauge("policy_memory_bytes", "Estimate of the memory that the policy takes.", float64(panel.Bytes))
}
