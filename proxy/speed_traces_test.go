package proxy_test

import (
	"io"
	"net/http"
	"path/filepath"
)

// serveCollector takes spans, and does nothing with them.
func serveCollector(string) error {
	return serveHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/x-protobuf")
	}))
}

// tracesSpeed is what traces cost: where they are off, against another build (that of a version before there were any), and with one request in a
// hundred, against off. Each process has the same requests.
func tracesSpeed(r *rig) {
	const entries, n = 1000, 4000
	collector := startRole(r.b, "collector", "")
	r.start()
	settings := []string{"REPRISE_UPSTREAM=http://" + r.up.addr + "/v1", "REPRISE_STORE=file:" + filepath.Join(r.b.TempDir(), "reprise.db"),
		"OTEL_EXPORTER_OTLP_ENDPOINT=http://" + collector.addr, "OTEL_TRACES_SAMPLER=parentbased_traceidratio", "OTEL_TRACES_SAMPLER_ARG="}
	share := func(of string) *process {
		path, last := r.builds[0].path, len(settings)-1
		return startProgram(r.b, path, append(settings[:last:last], settings[last]+of)...)
	}
	one := share("0.01")
	settings[1] = "REPRISE_STORE=file:" + filepath.Join(r.b.TempDir(), "all.db")
	all := share("1")
	r.fill(entries, 15, 1, append(r.programs, one, all)...)
	for _, load := range []struct {
		title, want, key string
		jobs             func() job
	}{
		{"exact hits among 1,000", "exact", "exact", again(job{Kind: "chat", Conns: 16, N: n, Words: 15}, entries)},
		{"misses, the first 1,000 of a scope", "miss", "miss", r.freshScope(job{Kind: "chat", Conns: 16, N: 1000, Words: 15})},
	} {
		jobs := once(load.jobs)
		var lanes []lane
		off := len(r.programs) - 1
		if off > 0 {
			lanes = []lane{{name: r.builds[1].name, p: r.programs[1]}}
		}
		lanes = append(lanes, lane{name: "off", p: r.programs[0]}, lane{name: "1 %", p: one, base: off}, lane{name: "100 %", p: all, base: off})
		for i := range lanes {
			lanes[i].want, lanes[i].jobs = load.want, jobs
		}
		measured := r.compare(load.title, lanes...)
		if off > 0 {
			r.report.set("traces-off-"+load.key, 0, measured[off].cpus)
		}
		r.report.set("traces-"+load.key, 0, measured[off+1].cpus)
		r.report.note("%s: %s: a request that is traced costs %.1f µs of CPU more", r.part, load.title, measured[off+2].cpu-measured[off].cpu)
	}
}
