package main

import (
	"reprise/cmd/reprise/internal/config"
	"reprise/proxy"
	"reprise/proxy/observe/whatif"
	"reprise/topics/reuse/evidence"
)

// whatIfShare is the part of the memory limit that the last requests may take.
const whatIfShare = 64

// beginStudy makes the study of what other settings would have made of the last requests, and has o pass them to it.
func (s *service) beginStudy(cfg *config.Config, o *proxy.Options) {
	window := whatif.Options{Capacity: capacity(cfg), Empty: s.store.Stats().Entries == 0}
	if cfg.MemoryLimit > 0 {
		window.Rows = int(min(cfg.MemoryLimit/whatIfShare/whatif.RowBytes, whatif.DefaultRows))
	}
	w, pairs := whatif.New(window), whatif.NewPairs()
	o.Observers = append(o.Observers, w, pairs)
	s.study = whatif.NewStudy(w, pairs, whatif.Cache{Policy: cfg.Policy, Capacity: capacity(cfg)})
}

// judging is what decides whether an answer serves another prompt, nil where nothing is compared by meaning.
func (s *service) judging(cfg *config.Config) *whatif.Judging {
	gates, err := cfg.Gates(s.own)
	if mode := proxy.Mode(cfg.Mode); err != nil || !mode.Compares() {
		return nil
	}
	return &whatif.Judging{Words: cfg.Embedder == "builtin", MaxError: cfg.MaxErrorRate, Threshold: gates.Hit, Lowest: gates.Route,
		Rates: func() *evidence.Rates { return s.proxy.Cache().Rates() }}
}
