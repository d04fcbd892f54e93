package main

import (
	"context"
	"log/slog"
	"time"

	"reprise/cmd/internal/cli"
	"reprise/cmd/reprise/internal/config"
	"reprise/proxy"
	"reprise/proxy/tracing/otlp"
)

// tracesTimeout is how long the end of the process waits for a collector that takes the last spans.
const tracesTimeout = 2 * time.Second

// startTraces begins to send the spans of requests, where the environment names a collector; else nil.
func startTraces(cfg *config.Config, log *slog.Logger) *otlp.Exporter {
	for _, sentence := range cfg.TracesIgnored {
		log.Warn(sentence)
	}
	faults := proxy.NewFaultLog(log)
	e := otlp.Start(cfg.Traces, cli.ReadRelease().Version, func(err error) { faults.Report(context.Background(), "send traces", err) })
	if e != nil {
		log.Info("traces are sent", "to", cfg.Traces.Endpoint)
	}
	return e
}
