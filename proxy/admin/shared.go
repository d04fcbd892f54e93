package admin

import (
	"encoding/json"
	"net/http"

	"reprise/proxy/cache/shared"
	"reprise/proxy/internal/apierror"
	"reprise/proxy/observe"
)

// Shared is the state of a store that several processes share, as this process, one of its members, sees it.
type Shared struct {
	Process uint16 // number of this member
	Store   string // where it is, without credentials
	Foreign int64  // values under our keys that are not ours
	shared.Stats
}

func collectShared(s Shared, p observe.Page) {
	p.Flag("shared_up", "1 while the server of the shared store answers.", s.State() != "away")
	p.Flag("shared_loading", "1 while the entries of the others are loaded from the shared store.", !s.Loaded)
	p.Flag("shared_live", "1 while the log of the shared store is followed; otherwise answers of others are not served, because a purge could have been missed.", s.Live)
	p.Gauge("shared_behind_seconds", "For how long this process may have missed something in the log.", s.Behind.Seconds())
	p.Gauge("shared_lag_batches", "Batches of the log that are not applied yet.", float64(s.Lag))
	p.Gauge("shared_members", "Processes that share the store; one that was killed counts for five minutes.", float64(len(s.Members)))
	p.Flag("shared_keeper", "1 if this process decides evictions.", s.Keeper)
	p.Gauge("shared_queue_events", "Events that wait to be appended to the log.", float64(s.Queued))
	p.Gauge("shared_queue_bytes", "Bytes of the events that wait to be appended to the log.", float64(s.QueuedBytes))
	p.Gauge("shared_queue_purges", "Purges that wait to be appended to the log.", float64(s.PendingPurges))
	p.Gauge("shared_near_entries", "Answers in the near-cache.", float64(s.NearEntries))
	p.Gauge("shared_near_bytes", "Bytes of the answers in the near-cache.", float64(s.NearBytes))
	p.Count("shared_faults_total", "Calls of the shared store that failed.", float64(s.Faults))
	p.Count("shared_near_hits_total", "Answers that were at hand and needed no call.", float64(s.NearHits))
	p.Count("shared_fetches_total", "Calls of the shared store for an answer.", float64(s.Fetches))
	p.Count("shared_gaps_total", "Gaps in the log, each followed by a load.", float64(s.Gaps))
	p.Count("shared_loads_total", "Loads of all entries.", float64(s.Loads))
	p.Count("shared_purges_repeated_total", "Purges that the shared store had lost, or that another process had not finished, and that this process has sent again.", float64(s.RepeatedPurges))
	p.Count("shared_flights_followed_total", "Requests that waited for the flight of another process.", float64(s.Followed))
	for reason, times := range map[string]int64{"timeout": s.Timeouts, "breaker": s.Broken, "mark": s.RefusedByMark, "silence": s.RefusedDeaf, "foreign": s.Foreign} {
		p.Count("shared_unserved_total", "Answers that were not served or not fetched: timeout, breaker (open), mark (a purge may have named them), silence (the log is not followed), foreign (not ours).", float64(times), "reason", reason)
	}
	for kind, times := range map[string]int64{"insert": s.DroppedInserts, "hint": s.DroppedHints, "other": s.DroppedOther} {
		p.Count("shared_queue_dropped_total", "Events that were dropped because too many waited; a dropped insert left this process too.", float64(times), "kind", kind)
	}
	for result, times := range map[string]int64{"appended": s.Batches, "refused": s.RefusedBatches} {
		p.Count("shared_batches_total", "Batches of this process: appended, or refused because a purge came between.", float64(times), "result", result)
	}
}

// State is one word for readyz, the admin API and the log: shared, away, loading or behind.
func (s *Shared) State() string {
	switch {
	case !s.Joined, s.Failing, s.Breaker == "open": // the server does not answer, or this member could not join yet
		return "away"
	case !s.Loaded:
		return "loading"
	case !s.Live:
		return "behind"
	}
	return "shared"
}

// MarshalJSON spells the state as the metrics do, times in seconds.
func (s Shared) MarshalJSON() ([]byte, error) {
	members := make([]map[string]any, 0, len(s.Members))
	for _, m := range s.Members {
		members = append(members, map[string]any{"process": m.Process, "name": m.Name, "applied": m.Applied, "silent_seconds": m.Silent.Seconds(),
			"self": m.Process == s.Process, "keeper": m.Process == s.Keeping})
	}
	return json.Marshal(map[string]any{
		"process": s.Process, "store": s.Store, "state": s.State(), "keeper": s.Keeper, "behind_seconds": s.Behind.Seconds(),
		"applied": s.Applied.N, "lag_batches": s.Lag, "members": members,
		"queue": map[string]any{"events": s.Queued, "bytes": s.QueuedBytes, "purges": s.PendingPurges},
		"near":  map[string]any{"entries": s.NearEntries, "bytes": s.NearBytes},
		"counts": map[string]int64{"near": s.NearHits, "fetches": s.Fetches, "timeouts": s.Timeouts, "skipped": s.Broken, "mark": s.RefusedByMark, "silence": s.RefusedDeaf,
			"foreign": s.Foreign, "faults": s.Faults, "gaps": s.Gaps, "loads": s.Loads, "dropped_inserts": s.DroppedInserts, "dropped_hints": s.DroppedHints,
			"dropped_other": s.DroppedOther, "appended": s.Batches, "refused": s.RefusedBatches, "repeated": s.RepeatedPurges, "followed": s.Followed},
	})
}

// shared shows the state of the shared store.
func (a *admin) shared(*http.Request) (any, error) {
	if a.Shared == nil {
		return nil, &apierror.Error{Status: http.StatusNotFound, Type: apierror.TypeInvalidRequest, Code: "not_shared",
			Message: "The store belongs to this process alone; REPRISE_STORE with the URL of a Redis server shares it."}
	}
	return a.Shared(), nil
}
