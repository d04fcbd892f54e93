package main

import (
	"fmt"

	"reprise/cmd/reprise/internal/config"
	"reprise/policy"
	"reprise/proxy"
	"reprise/proxy/observe/misses"
	"reprise/store"
)

// mostEntries is the largest allowed value of REPRISE_CAPACITY_ENTRIES.
const mostEntries = 100_000_000

// repairs are the settings in force from which the report of misses makes those that repair a reason.
func (s *service) repairs(cfg *config.Config) misses.Settings {
	most := proxy.MostEntries(cfg.MemoryLimit)
	if cfg.Store.Shared() != "" {
		most = 0 // answers are in Redis
	}
	return misses.Settings{TTL: cfg.TTL, MaxTTL: config.MaxTTL, Capacity: doubled(capacity(cfg), s.store.Stats(), most),
		MaxEntryBytes: cfg.MaxEntryBytes, IgnoreFields: cfg.IgnoreFields, IgnoreHeaders: cfg.IgnoreHeaders, IgnorePatterns: cfg.IgnorePatterns}
}

// doubled is the variable of the capacity of which st has used the larger share, with twice its value. most is how many bytes it may be, 0: any
// number; "" where the value cannot be larger.
func doubled(now policy.Limit, st store.Stats, most int64) string {
	entries, bytes := float64(st.Entries)/float64(max(now.Entries, 1)), float64(st.Bytes)/float64(max(now.Bytes, 1))
	if bytes <= entries {
		if now.Entries >= mostEntries {
			return ""
		}
		return fmt.Sprintf("REPRISE_CAPACITY_ENTRIES=%d", min(2*now.Entries, mostEntries))
	}
	larger := 2 * now.Bytes
	if most > 0 {
		larger = min(larger, most)
	}
	if larger <= now.Bytes {
		return ""
	}
	return fmt.Sprintf("REPRISE_CAPACITY_BYTES=%d", larger)
}
