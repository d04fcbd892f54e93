package proxy

import (
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"reprise/policy"
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

// TestPanel: of a policy made of experts, metrics and the admin API tell how each does; of another one, they tell nothing.
func TestPanel(t *testing.T) {
	for _, spec := range []string{"rac+", "rac+:sample=10"} {
		r := newRig(t, func(o *Options) { o.PolicyName, o.Store = spec, newStoreOf(t, spec, 20, nil) })
		for i := range 200 {
			r.ask(t, "/v1/chat/completions", chat("Explain the word "+nouns[i*i%30]))
		}
		page := r.get(t, "/metrics").body
		weights, ratios, sum, hits := values(t, page, "reprise_policy_expert_weight"), values(t, page, "reprise_policy_expert_hit_ratio"), 0.0, 0.0
		for i, w := range weights {
			sum += w
			hits = max(hits, ratios[i])
		}
		if len(weights) < 2 || len(ratios) != len(weights) || math.Abs(sum-1) > 1e-9 || hits < 0.2 || hits >= 1 {
			t.Errorf("%s: weights %v, hit ratios %v", spec, weights, ratios)
		}
		if !strings.Contains(page, `reprise_policy_expert_weight{expert="haz"} `) || strings.Contains(page, "NaN") {
			t.Errorf("%s: %s", spec, page)
		}
		if b := values(t, page, "reprise_policy_memory_bytes"); len(b) != 1 || b[0] < 1000 {
			t.Errorf("%s: memory %v", spec, b)
		}
		view := r.get(t, "/admin/policy").body
		if gjson.Get(view, "policy").String() != spec || len(gjson.Get(view, "experts.#.name").Array()) != len(weights) || gjson.Get(view, "memory_bytes").Int() < 1000 {
			t.Errorf("%s: %s", spec, view)
		}
	}
	r := newRig(t, func(o *Options) { o.PolicyName, o.Store = "rac", newStoreOf(t, "rac", 20, nil) })
	if page := r.get(t, "/metrics").body; strings.Contains(page, "reprise_policy_") {
		t.Error("rac has experts")
	}
	if view := r.get(t, "/admin/policy").body; gjson.Get(view, "policy").String() != "rac" || gjson.Get(view, "experts").Exists() {
		t.Error(view)
	}
}

// TestPanelFollowsConversations: each later turn depends on the entry of the turn before, and a panel counts that for the
// first one, before a restart and after.
func TestPanelFollowsConversations(t *testing.T) {
	path := filepath.Join(t.TempDir(), "reprise.db")
	life := func() *rig {
		return newRig(t, func(o *Options) { o.Store = fileStoreOf(t, "rac+", path, 100) })
	}
	r := life()
	alone := entryOf(t, r.ask(t, "/v1/chat/completions", chat("What is a compiler?")))
	talk := []string{"Tell me about the city of Paris, please"}
	var ids []policy.ID
	for _, next := range []string{"How many people live there?", "And in the year 1900?", ""} {
		got := r.ask(t, "/v1/chat/completions", turns(talk...))
		ids = append(ids, entryOf(t, got))
		talk = append(talk, got.content(t), next)
	}
	for i, id := range ids {
		if e, ok := r.store.Get(id); !ok || e.Turn != i || i > 0 && e.Parent != ids[i-1] {
			t.Errorf("turn %d is entry %+v, %v", i, e, ok)
		}
	}
	first, other := r.store.Importance(ids[0]), r.store.Importance(alone)
	if first <= other {
		t.Errorf("the first turn has an importance of %v, another first request %v", first, other)
	}
	if err := r.store.Close(); err != nil {
		t.Fatal(err)
	}
	r = life()
	defer r.store.Close()
	if e, ok := r.store.Get(ids[2]); !ok || e.Turn != 2 {
		t.Errorf("after a restart: %+v, %v", e, ok)
	}
	if again := r.store.Importance(ids[0]); again <= r.store.Importance(alone) {
		t.Errorf("importance of the first turn: %v became %v", first, again)
	}
}
