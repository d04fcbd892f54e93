package main

import (
	"reprise/cmd/reprise/internal/config"
	"reprise/policy/registry"
	"reprise/proxy/cache"
	"reprise/proxy/whatif"
)

// whatIfShare is the part of the memory limit that the last requests may take.
const whatIfShare = 64

// beginStudy makes the study of what other settings would have made of the last requests, and returns what passes them to it.
func (s *service) beginStudy(cfg *config.Config) func(*cache.Passed) {
	o := whatif.Options{Capacity: capacity(cfg), Empty: s.store.Stats().Entries == 0}
	if cfg.MemoryLimit > 0 {
		o.Rows = int(min(cfg.MemoryLimit/whatIfShare/whatif.RowBytes, whatif.DefaultRows))
	}
	w := whatif.New(o)
	s.study = whatif.NewStudy(w, whatif.Cache{Policy: withShortcuts(cfg), Capacity: capacity(cfg)})
	return w.Pass
}

// withShortcuts is the policy with the parameters that have settings of their own.
func withShortcuts(cfg *config.Config) string {
	name := cfg.Policy
	given := cfg.PolicyOptions().Params
	for _, info := range registry.List() {
		if info.Name != cfg.PolicyName() {
			continue
		}
		for _, p := range info.Params {
			if v, ok := given[p.Name]; ok {
				name = whatif.With(name, p.Name, v)
			}
		}
	}
	return name
}
