package admin

import (
	"math"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"reprise/proxy/observe"
	"reprise/topics"
)

// newRegistry collects the metrics of the server, of the store and the topics, and of the process. No label ever holds a
// tenant, key, topic or prompt.
func newRegistry(o Options) *prometheus.Registry {
	r := prometheus.NewRegistry()
	r.MustRegister(o.Proxy.Metrics(), &gauges{o}, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return r
}

// gauges collects what store and topics count, at the moment of a scrape.
type gauges struct{ Options }

// Describe names no metric: which there are depends on what is in force.
func (g *gauges) Describe(chan<- *prometheus.Desc) {}

// Collect reads the metrics.
func (g *gauges) Collect(ch chan<- prometheus.Metric) {
	p := observe.Page(ch)
	p.Gauge("build_info", "1; the labels have what the program was built from, empty where that is not known.", 1, "version", g.Release.Version, "commit", g.Release.Commit, "go", g.Release.Go)
	kept := g.Entries.Stats()
	p.Gauge("entries", "Entries in the store.", float64(kept.Entries))
	p.Gauge("bytes", "Bytes that the entries take of the capacity.", float64(kept.Bytes))
	p.Gauge("aliases", "Requests remembered to mean the same as a stored one.", float64(kept.Aliases))
	p.Gauge("entries_without_vector", "Entries that are not found by meaning yet: their vectors of the present embedder are computed in the background.", float64(kept.Lacking))
	p.Count("evictions_total", "Entries evicted for want of room, by the policy that chose them.", float64(kept.Evictions), "policy", g.Policy)
	p.Gauge("store_dirty", "Changes that are not yet written to the file.", float64(kept.Dirty))
	p.Gauge("store_unwritten_seconds", "Age of the oldest change that is not yet written to the file; 0 where there is none.", kept.Unwritten.Seconds())
	p.Flag("store_read_only", "1 if the file could not be written when it was opened: nothing is written to it until a restart.", kept.Report.ReadOnly != nil)
	p.Gauge("store_file_bytes", "Bytes of the store's file, 0 in memory.", float64(kept.FileBytes))
	p.Gauge("store_dead_bytes", "Bytes of the store's file that hold no record. A purge overwrites them within a minute; when they are more than half of the file it becomes shorter.", float64(kept.DeadBytes))
	p.Count("store_faults_total", "Faults of the store: writes to its file that failed, and mistakes of the policy.", float64(kept.Faults))
	p.Gauge("store_skipped_records", "Damaged records that were skipped when the file was opened.", float64(kept.Report.Skipped))
	p.Flag("store_set_aside", "1 if the file was damaged when it was opened: it was moved aside, and the cache started empty.", kept.Report.Aside != "")
	if g.Reloads != nil {
		last := g.Reloads()
		p.Flag("config_refused", "1 if the settings were read again and could not be used: those from before stay in force.", last.Refused)
		p.Gauge("config_loaded_timestamp_seconds", "When the settings in force were read.", float64(last.At.UnixMilli())/1000)
	}
	if g.Lost != nil {
		p.Count("record_lost_total", "Requests that the request log lacks for want of a disk that takes them.", float64(g.Lost()))
	}
	if g.LogLost != nil {
		p.Count("log_lost_total", "Lines that the log lacks because what takes it was slow, full or closed: those of requests first.", float64(g.LogLost()))
	}
	if g.Shared != nil {
		collectShared(g.Shared(), p)
	}
	collectPanel(kept.Panel, p)
	collectTopics(g.Topics.Stats(), p)
}

func collectTopics(st topics.Stats, p observe.Page) {
	p.Gauge("topics", "Topics.", float64(st.Topics))
	backends := map[string]int64{}
	var rebuilds, panics, nodes, pending, tombstones int
	var built time.Duration
	recall := math.Inf(1)
	for _, scope := range st.Scopes {
		backends[scope.Index.Backend]++
		rebuilds += scope.Index.Rebuilds
		panics += scope.Index.Faults
		nodes, pending, tombstones = nodes+scope.Index.Nodes, pending+scope.Index.Pending, tombstones+scope.Index.Tombstones
		built += scope.Index.Built
		if scope.Index.Recall > 0 {
			recall = min(recall, scope.Index.Recall)
		}
	}
	p.Count("index_rebuilds_total", "Graphs built, whether they were good enough to serve or not.", float64(int64(rebuilds)))
	const limits = "Searches of which a bound left out rows that could have been found: for hits where the vectors of a scope are crowded, for anchors also where there are many."
	p.Count("index_limited_total", limits, float64(st.LimitedHits), "search", "hit")
	p.Count("index_limited_total", limits, float64(st.LimitedAnchors), "search", "anchor")
	p.Count("index_faults_total", "Panics of a graph, each answered by a scan.", float64(int64(panics)))
	p.Gauge("index_graph_nodes", "Anchors in graphs, whether these serve or not.", float64(nodes))
	p.Gauge("index_graph_pending", "Anchors of scopes with a graph that wait to be inserted; searches scan them beside the graph.", float64(pending))
	p.Gauge("index_graph_tombstones", "Nodes of anchors that have left; searches pass through them until a sweep removes them.", float64(tombstones))
	p.Gauge("index_graph_build_seconds", "Time that one core took to insert the anchors of the present graphs.", built.Seconds())
	if !math.IsInf(recall, 1) {
		p.Gauge("index_recall", "Lowest recall that a graph has shown in its last self-check; absent before the first.", recall)
	}
	for backend, n := range backends {
		p.Gauge("index_scopes", "Scopes, by the index that serves their anchors; GET /admin/topics says why.", float64(n), "backend", backend)
	}
}
