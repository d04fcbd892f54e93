package admin

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"

	"reprise/policy"
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
	Experts []expertView `json:"experts,omitempty"`
}

// policy shows which policy chooses the victims and, where it is a panel, its experts.
func (a *admin) policy(*http.Request) (any, error) {
	v := policyView{Policy: a.Policy}
	if p := a.Entries.Stats().Panel; p != nil {
		v.Bytes, v.Leader = p.Bytes, p.Experts[p.Leader].Name
		for _, x := range p.Experts {
			v.Experts = append(v.Experts, expertView{x.Name, x.HitRatio, x.Entries})
		}
	}
	return v, nil
}

func collectPanel(p *policy.PanelStats, ch chan<- prometheus.Metric) {
	if p == nil {
		return
	}
	for i, x := range p.Experts {
		leads := 0.0
		if i == p.Leader {
			leads = 1
		}
		gauge(ch, descLeads, leads, x.Name)
		gauge(ch, descRatio, x.HitRatio, x.Name)
	}
	gauge(ch, descMemory, float64(p.Bytes))
}
