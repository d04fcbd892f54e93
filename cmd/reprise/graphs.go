package main

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"reprise/proxy"
	"reprise/store"
	"reprise/topics"
)

// graphs keeps the graphs of the topics beside the store, so that a restart does not build them again. A fault costs no more than that.
type graphs struct {
	topics *topics.Topics
	beside store.Sidecar
	fault  func(error)
	stop   context.CancelFunc
	ended  chan struct{}
}

// Graphs are saved when a purge has removed what was saved, or when at least a part of their nodes changed since: while the proxy runs, and
// at its end. Later changes are inserted again after the restart.
const (
	saveEvery   = 10 * time.Minute
	savePart    = 4
	endSavePart = 50
)

// keepGraphs reads the graphs that were saved, after the topics were filled, and begins to save them. Without a place beside the store
// it returns nil.
func keepGraphs(t *topics.Topics, beside store.Sidecar, log *slog.Logger) *graphs {
	if beside == nil {
		return nil
	}
	faults := proxy.NewFaultLog(log)
	g := &graphs{topics: t, beside: beside, ended: make(chan struct{})}
	g.fault = func(err error) { faults.Report(context.Background(), "graphs", err) }
	g.load()
	ctx, cancel := context.WithCancel(context.Background())
	g.stop = cancel
	go g.run(ctx)
	return g
}

func (g *graphs) load() {
	saved, err := g.beside.ReadSidecar()
	if err == nil && saved != nil {
		err = topics.ReadGraphs(g.topics, saved)
	}
	if err != nil {
		g.fault(err)
	}
}

func (g *graphs) run(ctx context.Context) {
	defer close(g.ended)
	tick := time.NewTicker(saveEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			g.save(endSavePart)
			return
		case <-tick.C:
			g.save(savePart)
		}
	}
}

// save writes the graphs if at least 1/part of their nodes changed since, or if they are not saved.
func (g *graphs) save(part int) {
	nodes, changed := topics.UnsavedGraphs(g.topics)
	if saved := g.beside.HasSidecar(); nodes == 0 || saved && (changed == 0 || changed*part < nodes) {
		return
	}
	if err := topics.SaveGraphs(g.topics, g.beside.WriteSidecar); err != nil && !errors.Is(err, store.ErrPurged) {
		g.fault(err)
	}
}

// close saves a last time and waits for it, before the store is closed.
func (g *graphs) close() {
	if g != nil {
		g.stop()
		<-g.ended
	}
}
