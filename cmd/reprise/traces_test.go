package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"

	"reprise/cmd/internal/cli"
	"reprise/proxy/tracing/tracetest"
)

// TestTraces: the program sends what its environment asks for, the last spans when it ends, and warns of what it cannot use.
func TestTraces(t *testing.T) {
	collector := tracetest.New(t)
	p := start(t, "REPRISE_UPSTREAM="+engineURL(t), "REPRISE_STORE=memory", "OTEL_EXPORTER_OTLP_ENDPOINT="+collector.URL, "OTEL_SERVICE_NAME=cache-eu",
		"OTEL_EXPORTER_OTLP_HEADERS=api-key=sesame", "OTEL_BSP_SCHEDULE_DELAY=3600000x", "OTEL_TRACES_SAMPLER_ARG=1")
	log := p.Logs()
	for _, want := range []string{"OTEL_BSP_SCHEDULE_DELAY=3600000x (environment): allowed is a number", "OTEL_TRACES_SAMPLER_ARG=1 (environment): only the samplers",
		`"msg":"traces are sent","to":"` + collector.URL + `"`} {
		if !strings.Contains(log, want) {
			t.Errorf("the log has no %q:\n%s", want, log)
		}
	}
	p.ask(question)
	p.ask(question)
	p.Signal(syscall.SIGTERM)
	if code := p.end(); code != cli.ExitOK {
		t.Errorf("exit %d\n%s", code, p.Logs())
	}
	got := map[string]int{}
	for _, s := range collector.Spans() {
		got[s.Kind+" "+s.Attributes["reprise.cache.result"]]++
	}
	if got["server miss"] != 1 || got["server exact"] != 1 || got["client "] != 1 {
		t.Errorf("%v", got)
	}
	if r, h := collector.Resource(), collector.Headers(); r["service.name"] != "cache-eu" || h[0].Get("Api-Key") != "sesame" || strings.Contains(p.Logs(), "sesame") {
		t.Errorf("%v, %v", r, h[0])
	}
}

// TestCollectorAway: requests are answered and the program ends while its collector refuses connections, answers with errors or never.
func TestCollectorAway(t *testing.T) {
	release := make(chan struct{})
	stuck := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	defer stuck.Close()
	defer close(release)
	full := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }))
	defer full.Close()
	for name, at := range map[string]string{"gone": "http://127.0.0.1:1", "stuck": stuck.URL, "full": full.URL} {
		t.Run(name, func(t *testing.T) {
			p := start(t, "REPRISE_UPSTREAM="+engineURL(t), "REPRISE_STORE=memory", "OTEL_EXPORTER_OTLP_ENDPOINT="+at, "OTEL_BSP_SCHEDULE_DELAY=1",
				"OTEL_BSP_MAX_QUEUE_SIZE=16", "OTEL_BSP_MAX_EXPORT_BATCH_SIZE=8", "OTEL_BSP_EXPORT_TIMEOUT=20")
			for range 100 {
				if resp := p.ask(question); resp.StatusCode != http.StatusOK {
					t.Fatalf("status %d", resp.StatusCode)
				}
			}
			p.Signal(syscall.SIGTERM)
			if code := p.end(); code != cli.ExitOK {
				t.Errorf("exit %d\n%s", code, p.Logs())
			}
			log := p.Logs()
			if n := strings.Count(log, `"msg":"send traces"`); n > 2 {
				t.Errorf("%d lines about it:\n%s", n, log)
			}
		})
	}
}
