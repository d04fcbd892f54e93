package admin

import (
	"encoding/json"
	"net/http"
	"time"

	"reprise/proxy/internal/apierror"
	"reprise/proxy/observe"
	"reprise/store"
)

// Shared is the state of a store that several processes share, as this process, one of its members, sees it.
type Shared struct {
	Process uint16 // number of this member
	Store   string // where it is, without credentials
	Away    bool   // the server does not answer, or this member could not join yet
	Loading bool   // the entries of the others are being loaded
	Live    bool   // the log is followed: otherwise a purge of another process could have been missed, and its answers are not served
	Keeper  bool   // this member decides evictions
	Keeping uint16 // the member that does, at the last beat; 0: none
	Members []store.Member

	Behind  time.Duration // for how long this member may have missed something
	Applied uint64        // the last batch of the log that is applied
	Lag     uint64        // batches of the log that are not

	Queue SharedQueue
	Near  SharedNear

	Counts SharedCounts
}

// SharedQueue is what waits to be appended to the log.
type SharedQueue struct {
	Events int   `json:"events"`
	Bytes  int64 `json:"bytes"`
	Purges int   `json:"purges"`
}

// SharedNear is the near-cache.
type SharedNear struct {
	Entries int   `json:"entries"`
	Bytes   int64 `json:"bytes"`
}

// SharedCounts only increase.
type SharedCounts struct {
	Near     int64 `json:"near"`     // answers that were at hand
	Fetches  int64 `json:"fetches"`  // calls for an answer, those that the breaker refused included
	Timeouts int64 `json:"timeouts"` // of these
	Skipped  int64 `json:"skipped"`  // of these, refused by the breaker
	Mark     int64 `json:"mark"`     // answers that were not served because a purge may have named them
	Silence  int64 `json:"silence"`  // answers that were not served because the log is not followed
	Foreign  int64 `json:"foreign"`  // values under our keys that are not ours
	Faults   int64 `json:"faults"`   // calls that failed, of any kind
	Gaps     int64 `json:"gaps"`     // in the log
	Loads    int64 `json:"loads"`    // of all entries

	DroppedInserts int64 `json:"dropped_inserts"` // answers that the queue had no room for; they left this process too
	DroppedHints   int64 `json:"dropped_hints"`   // uses, arrivals and anchors that it had no room for
	DroppedOther   int64 `json:"dropped_other"`   // aliases and removals that it had no room for
	Appended       int64 `json:"appended"`        // batches of this member in the log
	Refused        int64 `json:"refused"`         // batches that were refused because a purge came between
	Repeated       int64 `json:"repeated"`        // purges that the store had lost, or not finished
	Followed       int64 `json:"followed"`        // requests that waited for another member
}

func collectShared(s Shared, p observe.Page) {
	p.Flag("shared_up", "1 while the server of the shared store answers.", !s.Away)
	p.Flag("shared_loading", "1 while the entries of the others are loaded from the shared store.", s.Loading)
	p.Flag("shared_live", "1 while the log of the shared store is followed; otherwise answers of others are not served, because a purge could have been missed.", s.Live)
	p.Gauge("shared_behind_seconds", "For how long this process may have missed something in the log.", s.Behind.Seconds())
	p.Gauge("shared_lag_batches", "Batches of the log that are not applied yet.", float64(s.Lag))
	p.Gauge("shared_members", "Processes that share the store; one that was killed counts for five minutes.", float64(len(s.Members)))
	p.Flag("shared_keeper", "1 if this process decides evictions.", s.Keeper)
	p.Gauge("shared_queue_events", "Events that wait to be appended to the log.", float64(s.Queue.Events))
	p.Gauge("shared_queue_bytes", "Bytes of the events that wait to be appended to the log.", float64(s.Queue.Bytes))
	p.Gauge("shared_queue_purges", "Purges that wait to be appended to the log.", float64(s.Queue.Purges))
	p.Gauge("shared_near_entries", "Answers in the near-cache.", float64(s.Near.Entries))
	p.Gauge("shared_near_bytes", "Bytes of the answers in the near-cache.", float64(s.Near.Bytes))
	n := s.Counts
	p.Count("shared_faults_total", "Calls of the shared store that failed.", float64(n.Faults))
	p.Count("shared_near_hits_total", "Answers that were at hand and needed no call.", float64(n.Near))
	p.Count("shared_fetches_total", "Calls of the shared store for an answer.", float64(n.Fetches))
	p.Count("shared_gaps_total", "Gaps in the log, each followed by a load.", float64(n.Gaps))
	p.Count("shared_loads_total", "Loads of all entries.", float64(n.Loads))
	p.Count("shared_purges_repeated_total", "Purges that the shared store had lost, or that another process had not finished, and that this process has sent again.", float64(n.Repeated))
	p.Count("shared_flights_followed_total", "Requests that waited for the flight of another process.", float64(n.Followed))
	for reason, times := range map[string]int64{"timeout": n.Timeouts, "breaker": n.Skipped, "mark": n.Mark, "silence": n.Silence, "foreign": n.Foreign} {
		p.Count("shared_unserved_total", "Answers that were not served or not fetched: timeout, breaker (open), mark (a purge may have named them), silence (the log is not followed), foreign (not ours).", float64(times), "reason", reason)
	}
	for kind, times := range map[string]int64{"insert": n.DroppedInserts, "hint": n.DroppedHints, "other": n.DroppedOther} {
		p.Count("shared_queue_dropped_total", "Events that were dropped because too many waited; a dropped insert left this process too.", float64(times), "kind", kind)
	}
	for result, times := range map[string]int64{"appended": n.Appended, "refused": n.Refused} {
		p.Count("shared_batches_total", "Batches of this process: appended, or refused because a purge came between.", float64(times), "result", result)
	}
}

// State is one word for readyz, the admin API and the log: shared, away, loading or behind.
func (s *Shared) State() string {
	switch {
	case s.Away:
		return "away"
	case s.Loading:
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
		"applied": s.Applied, "lag_batches": s.Lag, "members": members, "queue": s.Queue, "near": s.Near, "counts": s.Counts,
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
