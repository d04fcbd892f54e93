package proxy

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

// showPolicy tells which policy is in force, and where it is made of experts, how each of them does.
func (s *Server) showPolicy(*http.Request) (any, error) {
	v := policyView{Policy: s.opts.PolicyName}
	if p := s.store.Stats().Panel; p != nil {
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

var (
	descWeight = describe("policy_expert_weight", "Share of an expert's weight in the choice of what goes, of a policy made of experts.", "expert")
	descRatio  = describe("policy_expert_hit_ratio", "Share of the requests of which an expert alone would have had the answer; where entries are sampled, of those in the sample.", "expert")
	descBooks  = describe("policy_memory_bytes", "Estimate of the memory that the policy's books take.")
)

func collectPanel(p *policy.PanelStats, ch chan<- prometheus.Metric) {
	if p == nil {
		return
	}
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	for _, x := range expertViews(p.Experts) {
		gauge(descWeight, x.Weight, x.Name)
		gauge(descRatio, x.HitRatio, x.Name)
	}
	gauge(descBooks, float64(p.Bytes))
}
