package admin

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"

	"reprise/policy"
)

// expertView is an expert of a panel as the admin API shows it.
type expertView struct {
	Name     string  `json:"name"`
	Weight   float64 `json:"weight"`
	HitRatio float64 `json:"hit_ratio"`
	Entries  int     `json:"entries"`
}

// policyView is the policy as the admin API shows it.
type policyView struct {
	Policy  string       `json:"policy"`
	Bytes   int64        `json:"memory_bytes,omitempty"`
	Experts []expertView `json:"experts,omitempty"`
}

// policy shows which policy chooses the victims and, where it is a panel, its experts.
func (a *admin) policy(*http.Request) (any, error) {
	v := policyView{Policy: a.Policy}
	if p := a.Entries.Stats().Panel; p != nil {
		v.Bytes, v.Experts = p.Bytes, expertViews(p.Experts)
	}
	return v, nil
}

// expertViews gives weights as shares of the vote, which add up to 1.
func expertViews(experts []policy.ExpertStats) (views []expertView) {
	sum := 0.0
	for _, x := range experts {
		sum += x.Weight
	}
	for _, x := range experts {
		views = append(views, expertView{x.Name, x.Weight / sum, x.HitRatio, x.Entries})
	}
	return views
}

func collectPanel(p *policy.PanelStats, ch chan<- prometheus.Metric) {
	if p == nil {
		return
	}
	for _, x := range expertViews(p.Experts) {
		gauge(ch, descWeight, x.Weight, x.Name)
		gauge(ch, descRatio, x.HitRatio, x.Name)
	}
	gauge(ch, descMemory, float64(p.Bytes))
}
