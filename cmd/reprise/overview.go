package main

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"reprise/cmd/internal/cli"
	"reprise/cmd/reprise/internal/config"
	"reprise/proxy"
	"reprise/proxy/admin"
	"reprise/proxy/cache"
	"reprise/proxy/upstream"
)

// overview adds what is in force and what is degraded to what GET /admin/overview shows.
func (s *service) overview(cfg *config.Config, o *admin.Overview) {
	o.Started, o.Prompts = s.proxy.Watch().Started().UTC(), cfg.LogPrompts
	if cfg.Prices != nil {
		o.Currency = cfg.Prices.Currency()
	}
	in := func(name, value, words, settings string) {
		o.Force = append(o.Force, admin.InForce{Name: name, Value: value, Words: words, Settings: settings})
	}
	in("mode", cfg.Mode, modeWords[proxy.Mode(cfg.Mode)], "REPRISE_MODE")
	in("error rate", percent(cfg.MaxErrorRate), "δ: the largest expected share of wrong answers among those found by meaning", "REPRISE_MAX_ERROR_RATE")
	if gates, err := cfg.Gates(s.own); err == nil {
		in("thresholds", fmt.Sprintf("hit %.3g, route %.3g, edge %.3g", gates.Hit, gates.Route, gates.Edge),
			"least similarity of a stored answer that is served, of a topic, and of a prompt that depends on another",
			"REPRISE_HIT_THRESHOLD, REPRISE_ROUTE_THRESHOLD, REPRISE_EDGE_THRESHOLD")
	}
	st := s.store.Stats()
	in("policy", cfg.Policy, "chooses what goes when the capacity is reached", "REPRISE_POLICY")
	in("capacity", fmt.Sprintf("%s of %s entries", cli.Thousands(int64(st.Entries)), cli.Thousands(int64(cfg.CapacityEntries))),
		fmt.Sprintf("%s of %s; whichever is reached first evicts", cli.Bytes(st.Bytes), cli.Bytes(cfg.CapacityBytes)), "REPRISE_CAPACITY_ENTRIES, REPRISE_CAPACITY_BYTES")
	in("life of an answer", shortly(cfg.TTL), "counted from its write", "REPRISE_TTL")
	in("store", storeName(s), storeWords(s), "REPRISE_STORE")
	in("index", indexWords(s), "chosen for each scope by its own requests", "")
	in("embedder", cfg.Embedder, embedderWords(cfg.Embedder == "builtin"), "REPRISE_EMBEDDER")
	in("judge", cmp.Or(cfg.JudgeModel, "none"), "the model that compares two answers where their texts do not decide", "REPRISE_JUDGE_MODEL")
	in("rules", strconv.Itoa(len(cfg.Rules)), "for some models, paths, tenants or namespaces", "REPRISE_CONFIG")
	in("upstream", inWords(cfg.Upstreams), "", "REPRISE_UPSTREAM")
	s.degraded(cfg, o)
}

var modeWords = map[proxy.Mode]string{
	proxy.ModeSemantic: "equal requests and those of the same meaning get stored answers",
	proxy.ModeExact:    "only equal requests get stored answers",
	proxy.ModeShadow:   "only equal requests get stored answers; those of the same meaning are measured",
	proxy.ModeOff:      "no request gets a stored answer",
}

// degraded adds what does not work as it should, the most urgent first.
func (s *service) degraded(cfg *config.Config, o *admin.Overview) {
	urgent := func(part, words, repair string) {
		o.Degraded = append(o.Degraded, admin.Degraded{Part: part, Words: words, Repair: repair, Urgent: true})
	}
	minor := func(part, words, repair string) {
		o.Degraded = append(o.Degraded, admin.Degraded{Part: part, Words: words, Repair: repair})
	}
	if s.proxy.Draining() {
		urgent("process", "It is about to stop, and gets no new traffic.", "")
	}
	s.degradedParts(urgent)
	s.degradedStore(cfg, urgent, minor)
	if s.reloads != nil && s.reloads.last().Refused {
		minor("settings", "They were read again and could not be used: those from before stay in force.", "The log names the bad value.")
	}
	if proxy.Mode(cfg.Mode) == proxy.ModeOff && len(cfg.Rules) == 0 {
		minor("mode", "The cache takes no part: every request passes through.", "REPRISE_MODE=semantic, exact or shadow.")
	}
	if s.lines != nil && s.lines.Lost() > 0 {
		minor("log", fmt.Sprintf("%s lines are missing: what takes it was slow, full or closed.", cli.Thousands(s.lines.Lost())), "")
	}
	if s.recorder != nil && s.recorder.lost.Load() > 0 {
		minor("request log", fmt.Sprintf("%s requests are missing: its disk did not take them.", cli.Thousands(s.recorder.lost.Load())), "REPRISE_RECORD names the file.")
	}
	if n := s.store.Stats().Lacking; n > 0 {
		minor("vectors", fmt.Sprintf("%s entries are not found by meaning yet: their vectors are computed in the background.", cli.Thousands(int64(n))), "")
	}
}

// degradedParts looks at the embedder and the upstreams.
func (s *service) degradedParts(add func(part, words, repair string)) {
	c := s.proxy.Cache()
	state, fault := c.Embedder()
	switch {
	case state != "" && state != cache.EmbedderWorks && fault != nil:
		add("embedder", "Only exact hits and those by the form of a prompt are served: "+fault.Error()+".", "REPRISE_EMBEDDER and REPRISE_EMBEDDER_MODEL.")
	case c.Degraded():
		add("embedder", "It failed several times and is left alone for a while: only exact hits are served.", "The log has the error.")
	}
	for _, u := range s.proxy.Upstreams().Upstreams() {
		switch h := u.Health; {
		case h.Condition == upstream.Failing:
			add("upstream "+u.Name, failing(h.Failures, u.Fault), "GET /admin/upstreams has its state, and reprise doctor examines it.")
		case h.Condition != upstream.Up && h.Condition != upstream.Starting:
			words := "It gets no requests, or fewer: " + string(h.Condition) + "."
			if !h.Until.IsZero() {
				words = fmt.Sprintf("It gets no requests, or fewer, until %s: %s.", h.Until.UTC().Format(time.TimeOnly), h.Condition)
			}
			add("upstream "+u.Name, words, "GET /admin/upstreams has its state.")
		}
	}
	if n := s.proxy.Upstreams().Load().Queued; n > 0 {
		add("upstream", fmt.Sprintf("%d requests wait for a call, because as many as allowed are under way.", n), "REPRISE_MAX_CONCURRENT.")
	}
}

// failing says that an upstream fails which gets requests still.
func failing(requests int, fault string) string {
	words := "Its last request failed"
	if requests > 1 {
		words = fmt.Sprintf("Its last %s requests failed", cli.Thousands(int64(requests)))
	}
	if fault != "" {
		words += ": " + fault
	}
	return words + "."
}

// degradedStore looks at the store and its file, or the server that it is shared by.
func (s *service) degradedStore(cfg *config.Config, urgent, minor func(part, words, repair string)) {
	st := s.store.Stats()
	if st.Report.ReadOnly != nil {
		urgent("store", "Its file could not be written when it was opened, and nothing is written to it until a restart: "+st.Report.ReadOnly.Error()+".", "REPRISE_STORE names the file.")
	}
	if st.Unwritten > config.MaxUnwritten {
		urgent("store", fmt.Sprintf("New answers are not kept: the file lacks changes of the last %s.", st.Unwritten.Round(time.Second)), "Free space on the disk.")
	}
	if st.Report.Aside != "" {
		minor("store", "Its file was damaged and moved aside; the cache started empty.", "The damaged file is "+st.Report.Aside+".")
	}
	if st.Report.Skipped > 0 {
		minor("store", fmt.Sprintf("%d damaged records were skipped when the file was opened.", st.Report.Skipped), "")
	}
	if s.sharing == nil {
		return
	}
	shared := s.sharing.state()
	switch shared.State() {
	case "away":
		urgent("Redis", "It does not answer: answers of the other proxies are not served, and what changes here waits.", "REPRISE_STORE has its address.")
	case "loading":
		minor("Redis", "The entries of the others are being loaded.", "")
	case "behind":
		urgent("Redis", fmt.Sprintf("This proxy is behind the others by %s, and serves no answers of theirs: a purge could have been missed.", shared.Behind.Round(time.Second)), "")
	}
}

func embedderWords(builtin bool) string {
	if builtin {
		return "compares the words and letters of prompts, not their meaning: only listed edits are served"
	}
	return "compares prompts by meaning"
}

func storeName(s *service) string {
	if s.sharing != nil {
		return s.sharing.state().Store
	}
	return cmp.Or(s.store.Stats().Report.Name, "memory")
}

func storeWords(s *service) string {
	switch {
	case s.sharing != nil:
		return "shared through Redis; members: " + strconv.Itoa(len(s.sharing.state().Members))
	case s.store.Stats().Report.Name == "":
		return "answers are lost at a restart"
	}
	return "answers are kept over a restart"
}

// indexWords is what serves the anchors of the scopes.
func indexWords(s *service) string {
	backends := map[string]int{}
	st := s.topics.Stats()
	for _, scope := range st.Scopes {
		backends[scope.Index.Backend]++
	}
	var parts []string
	for _, name := range []string{"flat", "graph"} {
		if backends[name] > 0 {
			parts = append(parts, fmt.Sprintf("%s scopes by %s", cli.Thousands(int64(backends[name])), name))
		}
	}
	return strings.Join(append([]string{cli.Thousands(int64(st.Topics)) + " topics"}, parts...), ", ")
}

// shortly writes a duration without the units that are 0.
func shortly(d time.Duration) string {
	text := strings.TrimSuffix(d.String(), "m0s")
	if whole, cut := strings.CutSuffix(text, "h0"); cut {
		return whole + "h"
	}
	if len(text) < len(d.String()) {
		text += "m"
	}
	return text
}

func percent(share float64) string { return strconv.FormatFloat(100*share, 'g', 3, 64) + " %" }
