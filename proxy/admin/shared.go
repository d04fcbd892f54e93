package admin

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"reprise/proxy/internal/apierror"
	"reprise/store"
)

// Shared is the state of a store that several processes share, as this process, one of its members, sees it.
type Shared struct {
	Process uint16        // number of this member
	Name    string        // of this member
	Away    bool          // the server does not answer
	Loading bool          // entries are being loaded
	Deaf    bool          // nothing was learned of the log for longer than the grace: answers of others are not served
	Silent  time.Duration // since the log was known to be applied to its end
	Applied uint64        // the last batch of the log that is applied
	End     uint64        // the last batch of the log
	Keeper  uint16        // the member that decides evictions; 0: none
	Members []store.Member

	QueueEvents int   // events that wait to be appended to the log
	QueueBytes  int64 // that they take
	NearEntries int
	NearBytes   int64

	Counts SharedCounts
}

// SharedCounts only increase.
type SharedCounts struct {
	Near, Fetched, Absent, Refused, Skipped, Faults int64 // fetches of answers, by their result
	Dropped                                         int64 // events that the queue had no room for
	Failures                                        int64 // calls that failed, fetches included
	Loads                                           int64 // loads of all entries, the first one included
	Foreign                                         int64 // values under our keys that are not ours
	Led, Followed, Impatient                        int64 // flights across processes, by their result
}

var (
	descUp          = describe("shared_up", "1 while the server of the shared store answers.")
	descLoading     = describe("shared_loading", "1 while all entries are loaded from the shared store.")
	descDeaf        = describe("shared_deaf", "1 while a purge of another process could have been missed: answers of others are not served.")
	descSilent      = describe("shared_silent_seconds", "Time since the log of the shared store was known to be applied to its end.")
	descLag         = describe("shared_lag_batches", "Batches of the log that are not applied yet.")
	descMembers     = describe("shared_members", "Processes that share the store.")
	descKeeper      = describe("shared_keeper", "1 if this process decides evictions.")
	descQueued      = describe("shared_queue_events", "Events that wait to be appended to the log.")
	descQueuedBytes = describe("shared_queue_bytes", "Bytes of the events that wait to be appended to the log.")
	descDropped     = describe("shared_queue_dropped_total", "Events that were dropped because too many waited; their entries left this process too.")
	descFailures    = describe("shared_faults_total", "Calls of the shared store that failed.")
	descFetches     = describe("shared_fetches_total", "Answers looked for: near (no call), fetched, absent, refused (a purge could have been missed), skipped (the breaker is open), fault.", "result")
	descLoads       = describe("shared_loads_total", "Loads of all entries: at the start, and where the log has a gap.")
	descForeign     = describe("shared_foreign_total", "Values under the keys of this cache that are not its own; they are ignored.")
	descLeads       = describe("shared_flights_total", "Flights across processes: led, followed (another process had the answer), impatient (waited in vain).", "result")
	descNear        = describe("shared_near_entries", "Answers in the near-cache.")
	descNearBytes   = describe("shared_near_bytes", "Bytes of the answers in the near-cache.")
)

// describeShared lists the metrics of a shared store.
func describeShared(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{descUp, descLoading, descDeaf, descSilent, descLag, descMembers, descKeeper, descQueued, descQueuedBytes, descDropped, descFailures,
		descFetches, descLoads, descForeign, descLeads, descNear, descNearBytes} {
		ch <- d
	}
}

func collectShared(s Shared, ch chan<- prometheus.Metric) {
	gauge(ch, descUp, one(!s.Away))
	gauge(ch, descLoading, one(s.Loading))
	gauge(ch, descDeaf, one(s.Deaf))
	gauge(ch, descSilent, s.Silent.Seconds())
	gauge(ch, descLag, float64(s.lag()))
	gauge(ch, descMembers, float64(len(s.Members)))
	gauge(ch, descKeeper, one(s.Keeper != 0 && s.Keeper == s.Process))
	gauge(ch, descQueued, float64(s.QueueEvents))
	gauge(ch, descQueuedBytes, float64(s.QueueBytes))
	gauge(ch, descNear, float64(s.NearEntries))
	gauge(ch, descNearBytes, float64(s.NearBytes))
	n := s.Counts
	count(ch, descDropped, n.Dropped)
	count(ch, descFailures, n.Failures)
	count(ch, descLoads, n.Loads)
	count(ch, descForeign, n.Foreign)
	for result, times := range map[string]int64{"near": n.Near, "fetched": n.Fetched, "absent": n.Absent, "refused": n.Refused, "skipped": n.Skipped, "fault": n.Faults} {
		count(ch, descFetches, times, result)
	}
	for result, times := range map[string]int64{"led": n.Led, "followed": n.Followed, "impatient": n.Impatient} {
		count(ch, descLeads, times, result)
	}
}

// lag is how many batches are not applied.
func (s *Shared) lag() uint64 { return max(s.End, s.Applied) - s.Applied }

// state is one word for readyz and the admin API.
func (s *Shared) state() string {
	switch {
	case s.Away:
		return "away"
	case s.Loading:
		return "loading"
	case s.Deaf:
		return "silent"
	}
	return "shared"
}

// MarshalJSON spells the state as the metrics do, times in seconds.
func (s Shared) MarshalJSON() ([]byte, error) {
	members := make([]map[string]any, 0, len(s.Members))
	for _, m := range s.Members {
		members = append(members, map[string]any{"process": m.Process, "name": m.Name, "applied": m.Applied, "silent_seconds": m.Silent.Seconds(),
			"keeper": m.Process == s.Keeper, "self": m.Process == s.Process})
	}
	n := s.Counts
	return json.Marshal(map[string]any{
		"process": s.Process, "name": s.Name, "state": s.state(), "silent_seconds": s.Silent.Seconds(),
		"applied": s.Applied, "end": s.End, "lag_batches": s.lag(), "keeper": s.Keeper, "members": members,
		"queue":   map[string]any{"events": s.QueueEvents, "bytes": s.QueueBytes, "dropped": n.Dropped},
		"near":    map[string]any{"entries": s.NearEntries, "bytes": s.NearBytes},
		"fetches": map[string]any{"near": n.Near, "fetched": n.Fetched, "absent": n.Absent, "refused": n.Refused, "skipped": n.Skipped, "fault": n.Faults},
		"flights": map[string]any{"led": n.Led, "followed": n.Followed, "impatient": n.Impatient},
		"faults":  n.Failures, "loads": n.Loads, "foreign": n.Foreign,
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

// readyShared is readyz of a process that shares its store. It is ready without the server: it answers from the upstream, and one server
// that is gone, or back with all entries to be loaded, must not take every process out at once.
func (a *admin) readyShared(w http.ResponseWriter) {
	s := a.Shared()
	fmt.Fprintf(w, "ready\nredis: %s\n", s.state())
}
