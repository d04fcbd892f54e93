package admin

import (
	"math"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

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

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("reprise_"+name, help, labels, nil)
}

var (
	descEntries  = describe("entries", "Entries in the store.")
	descBytes    = describe("bytes", "Bytes that the entries take of the capacity.")
	descAliases  = describe("aliases", "Requests remembered to mean the same as a stored one.")
	descLacking  = describe("entries_without_vector", "Entries that are not found by meaning yet: their vectors of the present embedder are computed in the background.")
	descEvicted  = describe("evictions_total", "Entries evicted for want of room, by the policy that chose them.", "policy")
	descDirty    = describe("store_dirty", "Changes that are not yet written to the file.")
	descAge      = describe("store_unwritten_seconds", "Age of the oldest change that is not yet written to the file; 0 where there is none.")
	descReadOnly = describe("store_read_only", "1 if the file could not be written when it was opened: nothing is written to it until a restart.")
	descFile     = describe("store_file_bytes", "Bytes of the store's file, 0 in memory.")
	descDead     = describe("store_dead_bytes", "Bytes of the store's file that hold no record. A purge overwrites them within a minute; when they are more than half of the file it becomes shorter.")
	descFaults   = describe("store_faults_total", "Faults of the store: writes to its file that failed, and mistakes of the policy.")
	descSkipped  = describe("store_skipped_records", "Damaged records that were skipped when the file was opened.")
	descAside    = describe("store_set_aside", "1 if the file was damaged when it was opened: it was moved aside, and the cache started empty.")
	descUnlogged = describe("record_lost_total", "Requests that the request log lacks for want of a disk that takes them.")
	descLogLost  = describe("log_lost_total", "Lines that the log lacks because what takes it was slow, full or closed: those of requests first.")
	descRefused  = describe("config_refused", "1 if the settings were read again and could not be used: those from before stay in force.")
	descReloaded = describe("config_loaded_timestamp_seconds", "When the settings in force were read.")
	descTopics   = describe("topics", "Topics.")
	descBackend  = describe("index_scopes", "Scopes, by the index that serves their anchors; GET /admin/topics says why.", "backend")
	descRecall   = describe("index_recall", "Lowest recall that a graph has shown in its last self-check; absent before the first.")
	descRebuilds = describe("index_rebuilds_total", "Graphs built, whether they were good enough to serve or not.")
	descPanics   = describe("index_faults_total", "Panics of a graph, each answered by a scan.")
	descNodes    = describe("index_graph_nodes", "Anchors in graphs, whether these serve or not.")
	descPending  = describe("index_graph_pending", "Anchors of scopes with a graph that wait to be inserted; searches scan them beside the graph.")
	descDeadNode = describe("index_graph_tombstones", "Nodes of anchors that have left; searches pass through them until a sweep removes them.")
	descBuild    = describe("index_graph_build_seconds", "Time that one core took to insert the anchors of the present graphs.")
	descLeads    = describe("policy_expert_leads", "1 for the expert that the cache follows, else 0, of a policy made of experts.", "expert")
	descRatio    = describe("policy_expert_hit_ratio", "Share of the requests of which an expert alone would have had the answer, or of their tokens where these are the objective; where entries are sampled, of those in the sample.", "expert")
	descChanges  = describe("policy_leader_changes_total", "How often another expert began to lead, of a policy made of experts; GET /admin/policy says when and why.")
	descRelease  = describe("build_info", "1; the labels have what the program was built from, empty where that is not known.", "version", "commit", "go")
	descMemory   = describe("policy_memory_bytes", "Estimate of the memory that the policy takes.")
)

// Describe lists the metrics.
func (g *gauges) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{descEntries, descBytes, descAliases, descLacking, descEvicted, descDirty, descFile, descDead, descAge, descReadOnly, descFaults, descSkipped, descAside, descUnlogged, descLogLost, descRefused, descReloaded,
		descTopics, descBackend, descRecall, descRebuilds, descPanics, descNodes, descPending, descDeadNode, descBuild, descLeads, descRatio, descChanges, descMemory, descRelease} {
		ch <- d
	}
	describeShared(ch)
}

// Collect reads the metrics.
func (g *gauges) Collect(ch chan<- prometheus.Metric) {
	ch <- prometheus.MustNewConstMetric(descRelease, prometheus.GaugeValue, 1, g.Release.Version, g.Release.Commit, g.Release.Go)
	kept := g.Entries.Stats()
	gauge(ch, descEntries, float64(kept.Entries))
	gauge(ch, descBytes, float64(kept.Bytes))
	gauge(ch, descAliases, float64(kept.Aliases))
	gauge(ch, descLacking, float64(kept.Lacking))
	count(ch, descEvicted, kept.Evictions, g.Policy)
	gauge(ch, descDirty, float64(kept.Dirty))
	gauge(ch, descAge, kept.Unwritten.Seconds())
	gauge(ch, descReadOnly, one(kept.Report.ReadOnly != nil))
	gauge(ch, descFile, float64(kept.FileBytes))
	gauge(ch, descDead, float64(kept.DeadBytes))
	count(ch, descFaults, kept.Faults)
	gauge(ch, descSkipped, float64(kept.Report.Skipped))
	gauge(ch, descAside, one(kept.Report.Aside != ""))
	if g.Reloads != nil {
		last := g.Reloads()
		gauge(ch, descRefused, one(last.Refused))
		gauge(ch, descReloaded, float64(last.At.UnixMilli())/1000)
	}
	if g.Lost != nil {
		count(ch, descUnlogged, g.Lost())
	}
	if g.LogLost != nil {
		count(ch, descLogLost, g.LogLost())
	}
	if g.Shared != nil {
		collectShared(g.Shared(), ch)
	}
	collectPanel(kept.Panel, ch)
	collectTopics(g.Topics.Stats(), ch)
}

func collectTopics(st topics.Stats, ch chan<- prometheus.Metric) {
	gauge(ch, descTopics, float64(st.Topics))
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
	count(ch, descRebuilds, int64(rebuilds))
	count(ch, descPanics, int64(panics))
	gauge(ch, descNodes, float64(nodes))
	gauge(ch, descPending, float64(pending))
	gauge(ch, descDeadNode, float64(tombstones))
	gauge(ch, descBuild, built.Seconds())
	if !math.IsInf(recall, 1) {
		gauge(ch, descRecall, recall)
	}
	for backend, n := range backends {
		gauge(ch, descBackend, float64(n), backend)
	}
}

func count(ch chan<- prometheus.Metric, d *prometheus.Desc, n int64, labels ...string) {
	ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(n), labels...)
}

func gauge(ch chan<- prometheus.Metric, d *prometheus.Desc, v float64, labels ...string) {
	ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
}

// one is 1 for true.
func one(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
