package admin

import (
	"strconv"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"reprise/store"
)

// values reads the samples of a metric from a page.
func values(t *testing.T, page, name string) (all []float64) {
	t.Helper()
	for line := range strings.Lines(page) {
		rest, ok := strings.CutPrefix(line, name)
		if !ok || rest[0] != '{' && rest[0] != ' ' {
			continue
		}
		v, err := strconv.ParseFloat(strings.TrimSpace(rest[strings.LastIndexByte(rest, ' '):]), 64)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		all = append(all, v)
	}
	return all
}

// TestPanel: metrics and the admin API show the experts of a panel, and none for another policy.
func TestPanel(t *testing.T) {
	for _, spec := range []string{"rac+", "rac+:sample=10"} {
		r := newRig(t, spec)
		for i := range 200 {
			r.ask(store.Key{byte(i * i % 30), 1})
		}
		page := r.get("/metrics").Body.String()
		leads, ratios, sum, hits := values(t, page, "reprise_policy_expert_leads"), values(t, page, "reprise_policy_expert_hit_ratio"), 0.0, 0.0
		for i, w := range leads {
			sum += w
			hits = max(hits, ratios[i])
		}
		if len(leads) < 2 || len(ratios) != len(leads) || sum != 1 || hits < 0.2 || hits >= 1 {
			t.Errorf("%s: leads %v, hit ratios %v", spec, leads, ratios)
		}
		if !strings.Contains(page, `reprise_policy_expert_leads{expert="haz"} 1`) || strings.Contains(page, "NaN") {
			t.Errorf("%s: %s", spec, page)
		}
		if b := values(t, page, "reprise_policy_memory_bytes"); len(b) != 1 || b[0] < 1000 {
			t.Errorf("%s: memory %v", spec, b)
		}
		view := r.get("/admin/policy").Body.String()
		if gjson.Get(view, "policy").String() != spec || len(gjson.Get(view, "experts.#.name").Array()) != len(leads) || gjson.Get(view, "memory_bytes").Int() < 1000 || gjson.Get(view, "leader").String() != "haz" {
			t.Errorf("%s: %s", spec, view)
		}
	}
	r := newRig(t, "rac")
	if page := r.get("/metrics").Body.String(); strings.Contains(page, "reprise_policy_") {
		t.Error("rac has experts")
	}
	if view := r.get("/admin/policy").Body.String(); gjson.Get(view, "policy").String() != "rac" || gjson.Get(view, "experts").Exists() {
		t.Error(view)
	}
}

// ask looks key up and stores an entry under it where there is none. It returns whether the policy has seen the request.
func (r *rig) ask(key store.Key) (seen bool) {
	tick := r.store.Tick()
	if e, _, ok := r.store.Lookup(key); ok {
		_, seen = r.store.Hit(e.ID, 0, tick)
		return seen
	}
	r.store.Put(&store.Entry{Key: key, Answer: []byte("{}")}, tick)
	return true
}
